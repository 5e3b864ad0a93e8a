"""One-vs-rest for binary online models: which class belongs to which model, and what happens when a class arrives.

Up to two classes share one model, that of class 1 against class 0 (codes of the label vocabulary; where other classes
come first, the first of them that is not class 0). When a third class arrives, the other of the first two gets the
mirror image of that model, and from then on every class has its own, which starts with the first row of its class.
A class that is announced but has no rows changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from streamsift.core.state import Distinct, Shape, Sizes, Within

FRESH, MIRROR = -1, -2  # where a model comes from, beside the number of an old one
NOT_YET = -1  # the positive class while only class 0 has been seen

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass
class OneVsRest:
    """`seen` are the class codes in the order of their first rows, `positive` the class of each model."""

    seen: Annotated[Ints, Shape("n_seen"), Within(0, "n_classes - 1"), Distinct()]
    positive: Annotated[Ints, Shape("n_models"), Within(NOT_YET, "n_classes - 1"), Distinct()]

    def problem(self, sizes: Sizes) -> str | None:
        n_seen, positive = len(self.seen), self.positive.tolist()
        if len(positive) != (n_seen if n_seen > 2 else min(n_seen, 1)):
            return f"positive holds {len(positive)} models for {n_seen} classes"
        if n_seen == 1:
            fine = positive == [self.seen[0] if self.seen[0] > 0 else NOT_YET]
        else:
            fine = set(positive) <= set(self.seen.tolist())
        return None if fine else "positive names classes that were never seen"

    @classmethod
    def empty(cls) -> OneVsRest:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    def pieces(self, codes: Ints, rebuild: Callable[[list[int]], None]) -> Iterator[slice]:
        """Cut a batch where a class has its first row, so that the cut into batches cannot matter.

        Before a piece that needs other models, `rebuild` is called with the origin of each: the number of the model
        it was, MIRROR (of model 0) or FRESH.
        """
        counts = np.bincount(codes)
        counts[self.seen[self.seen < len(counts)]] = 0
        arrivals = sorted((int(np.argmax(codes == code)), int(code)) for code in np.flatnonzero(counts))
        start = 0
        for row, code in arrivals:
            if row > start:
                yield slice(start, row)
            start = row
            rebuild(self._admit(code))
        yield slice(start, len(codes))

    def _admit(self, code: int) -> list[int]:
        positive, origins = self.positive.tolist(), list(range(len(self.positive)))
        if not positive:
            positive, origins = [code if code > 0 else NOT_YET], [FRESH]
        elif positive == [NOT_YET]:
            positive = [code]
        elif len(self.seen) == 2:
            other = next(c for c in self.seen.tolist() if c != positive[0])
            positive, origins = [positive[0], other, code], [0, MIRROR, FRESH]
        elif len(self.seen) > 2:
            positive, origins = [*positive, code], [*origins, FRESH]
        self.seen = np.append(self.seen, code)
        self.positive = np.array(positive, np.int64)
        return origins

    def signs(self, codes: Ints) -> Floats:
        """+1 where a row is of a model's class, else -1; one row per model."""
        return np.where(codes[None] == self.positive[:, None], 1.0, -1.0)
