"""Every error and warning streamsift raises.

StreamsiftError
├── InputError (ValueError)          the data is wrong: what, in which row and column, what to do
│   ├── NumbersAsLabelsError         numbers where classes are expected
│   └── ReaderError                  the same for a file, with line numbers
├── ParameterError (ValueError)      an argument is outside its limits
├── UnknownNameError (ValueError)    a method, column or option that does not exist, with near misses
├── MergeError (ValueError)          two selectors that cannot be merged
├── SavedStateError (ValueError)     a saved file that cannot be read back
├── ConcurrentUseError (RuntimeError) a selector that another thread is using
├── TimeIsUpError (TimeoutError)     work that was given a limited time, and was stopped; inside a comparison only
├── NotEnoughMemoryError (MemoryError) data too wide for the memory there is
└── MissingExtraError (ImportError)  an optional package that is not installed, with the extra's name

StreamsiftWarning (UserWarning)
├── ReadingNotice                    how data was understood, where that is not obvious
├── RestartWarning                   a learner that starts again whenever the selection changes
├── OneClassWarning                  one class so far: nothing can be scored
└── EmptySelectionWarning            nothing is selected
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

LONGEST_QUOTE = 120  # characters of a name or a value in a message
LONGEST_TEXT = 1200  # characters of a message
_BREAKS = re.compile(r"\s*[\x00-\x1f\x7f\x85\u2028\u2029]+\s*")
_QUOTED = re.compile(rf"""(?<![^\s(\[=,:])(['"])((?:(?!\1).){{{LONGEST_QUOTE},}})\1(?![^\s)\],.:;?!])""")


def one_line(text: str) -> str:
    """A message on one line, with what it quotes cut to a length that can be read.

    >>> one_line("Column 'a\\nb' is empty.\\nGive it another name.")
    "Column 'a b' is empty. Give it another name."
    >>> len(one_line(f"There is no column {'x' * 9999!r}."))
    142
    """
    text = _BREAKS.sub(" ", text)
    if len(text) <= LONGEST_QUOTE:
        return text
    text = _QUOTED.sub(lambda found: f"{found[1]}{found[2][: LONGEST_QUOTE - 3]}...{found[1]}", text)
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 300]} ... {text[-295:]}"


class StreamsiftError(Exception):
    """Base of all errors of this package; its text is one sentence for the user.

    Examples
    --------
    >>> from streamsift import Screener, StreamsiftError
    >>> try:
    ...     Screener().fit([[1.0], [float("inf")]], [0, 1])
    ... except StreamsiftError as error:
    ...     print(type(error).__name__)
    InputError
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(one_line(arg) if isinstance(arg, str) else arg for arg in args))


class InputError(StreamsiftError, ValueError):
    """The data cannot be used as it is.

    Examples
    --------
    >>> from streamsift import Screener
    >>> Screener().fit([[1.0], [2.0]], ["yes"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.InputError: X has 2 rows but y has 1 labels: ...
    """


class NumbersAsLabelsError(InputError):
    """The labels are numbers of many different values, and the method selects features for classes.

    Examples
    --------
    >>> from streamsift import EFS
    >>> EFS().fit([[k / 7] for k in range(30)], [k / 7 for k in range(30)])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.NumbersAsLabelsError: Unknown label type: continuous, for y holds 30 different ...
    """

    def __init__(self, found: str, advice: str = "cut y into classes first, or choose a method for numbers") -> None:
        super().__init__(f"Unknown label type: continuous, for {found}: {advice}.")
        self.found = found


class ReaderError(InputError):
    """A file or stream of data cannot be read.

    Examples
    --------
    >>> from streamsift import open_stream
    >>> open_stream("no_such_file.csv", "label")
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.ReaderError: There is no file no_such_file.csv: check the path.
    """


class ParameterError(StreamsiftError, ValueError):
    """An argument is outside its limits.

    Examples
    --------
    >>> from streamsift import Screener
    >>> Screener(n_features_to_select=0).fit([[1.0], [2.0]], ["no", "yes"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.ParameterError: The 'n_features_to_select' parameter of Screener must be ... Got 0 ...
    """


class UnknownNameError(StreamsiftError, ValueError):
    """A name that does not exist; the message lists near misses or all that exist.

    Examples
    --------
    >>> from streamsift import catalog
    >>> catalog.make("fire")
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.UnknownNameError: There is no method 'fire'. Did you mean 'fires'?
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, list(known)
        super().__init__(f"There is no {kind} {name!r}. {near_misses(name, self.known)}")


class MergeError(StreamsiftError, ValueError):
    """Two selectors whose settings or features differ cannot be merged.

    Examples
    --------
    >>> from streamsift import Screener
    >>> Screener("fisher").merge(Screener("t_score"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.MergeError: Cannot merge selectors with different settings: criterion='fisher' here, ...
    """


class SavedStateError(StreamsiftError, ValueError):
    """A saved file is damaged, too large or of another kind.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamsift import SavedStateError, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "selector.streamsift"
    ...     _ = path.write_text("not a selector")
    ...     try:
    ...         load(path)
    ...     except SavedStateError:
    ...         print("This file cannot be loaded.")
    This file cannot be loaded.
    """


class NotEnoughMemoryError(StreamsiftError, MemoryError):
    """A selector would need more memory than there is, or has run out of it; it is as it was.

    Examples
    --------
    >>> from streamsift import NotEnoughMemoryError, StreamsiftError
    >>> issubclass(NotEnoughMemoryError, StreamsiftError), issubclass(NotEnoughMemoryError, MemoryError)
    (True, True)
    """


class ConcurrentUseError(StreamsiftError, RuntimeError):
    """Another thread is using the same selector at this moment; nothing was changed by the call that is refused.

    Examples
    --------
    >>> from threading import Lock
    >>> from streamsift import Screener
    >>> selector, lock = Screener(criterion="fisher"), Lock()
    >>> with lock:  # in each thread
    ...     _ = selector.partial_fit([[0.0], [1.0]], ["no", "yes"])
    """


class TimeIsUpError(StreamsiftError, TimeoutError):
    """The time that some work was given is up; a comparison stops a run by it, and says so in its result."""


class MissingExtraError(StreamsiftError, ImportError):
    """An optional package is needed for this and is not installed.

    Examples
    --------
    >>> from streamsift import MissingExtraError
    >>> raise MissingExtraError("A tree", "river", "river")
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.MissingExtraError: A tree needs river; install it with: pip install 'streamsift[river]'.
    """

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {package}; install it with: pip install 'streamsift[{extra}]'.")


class StreamsiftWarning(UserWarning):
    """Base of all warnings of this package.

    Examples
    --------
    >>> import warnings
    >>> from streamsift import Screener, StreamsiftWarning
    >>> selector = Screener().fit([[1.0], [2.0]], ["yes", "yes"])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", StreamsiftWarning)  # one class so far
    ...     selector.selected_
    ['x0']
    """


class ReadingNotice(StreamsiftWarning):
    """How data was understood where that is not obvious; nothing is wrong.

    Examples
    --------
    >>> import pathlib, tempfile, warnings
    >>> from streamsift import ReadingNotice, open_stream
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", ReadingNotice)
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_text("income;label\\n1.234,56;yes\\n99,5;no\\n")
    ...     _ = open_stream(path, "label")
    >>> print(caught[0].message)
    income: 1.234,56 read as numbers
    """


class OneClassWarning(StreamsiftWarning):
    """Only one class has been seen, so every score is 0.

    Examples
    --------
    >>> import warnings
    >>> from streamsift import OneClassWarning, Screener
    >>> selector = Screener().fit([[1.0], [2.0]], ["yes", "yes"])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = selector.selection()
    >>> issubclass(caught[0].category, OneClassWarning)
    True
    """


class EmptySelectionWarning(StreamsiftWarning):
    """No feature is selected at the moment.

    Examples
    --------
    >>> import warnings
    >>> from streamsift import ABFS, EmptySelectionWarning
    >>> selector = ABFS().fit([[1.0], [2.0]], ["no", "yes"])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     selector.transform([[1.0], [2.0]]).shape  # nothing is selected yet: all features are passed through
    (2, 1)
    >>> issubclass(caught[0].category, EmptySelectionWarning)
    True
    """


class RestartWarning(StreamsiftWarning):
    """A learner cannot keep what it knows when the selection or the classes change, and starts again.

    Examples
    --------
    >>> from streamsift import RestartWarning, StreamsiftWarning
    >>> issubclass(RestartWarning, StreamsiftWarning)
    True
    """


def pass_interrupt_on(error: BaseException) -> None:
    """Raise KeyboardInterrupt if an error came up while one was on its way, for whoever goes on after errors.

    Ctrl-C may come in the middle of anything; what then tidies up can meet half a step and fail in turn.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        cause = cause.__cause__ or cause.__context__


def near_misses(name: str, known: Iterable[str]) -> str:
    """Return 'Did you mean ...?' for a mistyped name, or the names that exist.

    >>> near_misses("lable", ["label", "price"])
    "Did you mean 'label'?"
    >>> near_misses("zzz", ["label", "price"])
    "Known: 'label', 'price'."
    """
    names = list(known)
    lowered = {candidate.lower(): candidate for candidate in reversed(names)}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.6)
    if close:
        likeness = [difflib.SequenceMatcher(None, match, name.lower()).ratio() for match in close]
        # Names that share a prefix are all alike; only those about as close as the closest are worth naming.
        meant = [lowered[match] for match, like in zip(close, likeness, strict=True) if like > likeness[0] - 0.1]
        return f"Did you mean {' or '.join(repr(match) for match in meant)}?"
    shown = ", ".join(repr(candidate) for candidate in names[:12])
    return f"Known: {shown}{f' and {len(names) - 12} more' if len(names) > 12 else ''}."
