"""StreamingSplit: cross-validation in the order of the stream, test first, then train."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, IsNone, Limits, check_parameters
from streamsift.core.exceptions import InputError

LIMITS: Limits = {
    "n_splits": (Integer(1),),
    "test_size": (Integer(1), IsNone()),
    "gap": (Integer(0),),
    "window": (Integer(1), IsNone()),
}
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class StreamingSplit:
    """Blocks of rows, each tested by a model that has learnt the rows before it: for `cross_val_score` and searches.

    The last `n_splits` blocks of `test_size` rows are the tests, in the order of the rows. What comes before a block is
    learnt; `gap` rows between the two are left out, as for labels that arrive late. No row is ever predicted from rows
    that come after it.

    Parameters
    ----------
    n_splits : int, default 5
        How many blocks are tested.
    test_size : int or None, default None
        Rows of a block; None cuts the stream into `n_splits + 1` blocks of equal size, the first of which is only
        learnt (together with what is left over).
    gap : int, default 0
        Rows between the rows that are learnt and the block.
    window : int or None, default None
        Rows that are learnt at most, the latest; None learns all of them.

    See Also
    --------
    streamsift.prequential : the same for one selector and one learner in a single pass, with a trace.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import StreamingSplit
    >>> for train, test in StreamingSplit(2, gap=1).split(np.zeros(9)):
    ...     print(train.tolist(), test.tolist())
    [0, 1] [3, 4, 5]
    [0, 1, 2, 3, 4] [6, 7, 8]
    """

    def __init__(
        self, n_splits: int = 5, *, test_size: int | None = None, gap: int = 0, window: int | None = None
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.gap = gap
        self.window = window

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many blocks are tested."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Row numbers to learn and to test, for each block.

        Parameters
        ----------
        X : anything with rows
        y, groups : ignored
        """
        settings = {"n_splits": self.n_splits, "test_size": self.test_size, "gap": self.gap, "window": self.window}
        check_parameters("StreamingSplit", settings, LIMITS)
        n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        size = n_rows // (self.n_splits + 1) if self.test_size is None else self.test_size
        first = n_rows - self.n_splits * size
        if size < 1 or first - self.gap < 1:
            raise InputError(
                f"{n_rows} rows are too few for {self.n_splits} blocks of {max(size, 1)} rows with {self.gap} rows and "
                "something to learn before them: ask for fewer or smaller blocks."
            )
        return self._blocks(n_rows, size, first)

    def _blocks(self, n_rows: int, size: int, first: int) -> Iterator[Split]:
        rows = np.arange(n_rows)
        for start in range(first, n_rows, size):
            end = start - self.gap
            begin = 0 if self.window is None else max(0, end - self.window)
            yield rows[begin:end], rows[start : start + size]

    def __repr__(self) -> str:
        return (
            f"StreamingSplit(n_splits={self.n_splits}, test_size={self.test_size}, gap={self.gap}, "
            f"window={self.window})"
        )
