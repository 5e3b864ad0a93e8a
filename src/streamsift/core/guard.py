"""One thread at a time: a selector notices a second thread that comes in while the first is still inside.

Whatever learns or answers is marked with `one_thread`. The thread that comes in takes the object's lock and gives it
back when it leaves, however it leaves; calls within calls of the same thread are free. A second thread does not wait:
it is refused before anything changes. This costs a fraction of a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from typing import Any, NoReturn, TypeVar, cast

from streamsift.core.exceptions import ConcurrentUseError

Method = TypeVar("Method", bound=Callable[..., Any])


def one_thread(method: Method) -> Method:
    """Mark a method as one that needs the object for itself."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = enter(self)
        try:
            return method(self, *args, **kwargs)
        finally:
            lock.release()

    return cast(Method, guarded)


def enter(selector: Any) -> Any:
    """The same by hand, where every tenth of a microsecond counts: the lock, which the caller must release."""
    try:
        lock = selector._inside
    except AttributeError:
        lock = _new_lock(selector)
    if not lock.acquire(False):
        _refuse(selector)
    return lock


@contextmanager
def held(selector: Any) -> Iterator[None]:
    """Keep other threads out of an object for as long as it is read."""
    lock = enter(selector)
    try:
        yield
    finally:
        lock.release()


class OneThreadAtATime:
    """What a guarded class inherits first: copies and pickles are made without the lock, and refused to others."""

    def __getstate__(self) -> Any:
        with held(self):
            state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_inside"}


def _new_lock(selector: Any) -> Any:
    """The lock of an object, which it gets when it is first used."""
    return selector.__dict__.setdefault("_inside", RLock())  # in one step: two threads get the same


def _refuse(selector: Any) -> NoReturn:
    raise ConcurrentUseError(
        f"Another thread is using this {type(selector).__name__}: use it from one thread at a time, with a lock around "
        "it, or give each thread its own (merge adds up what they have learnt, where a method can)."
    )
