"""One thread at a time: a selector notices a second thread that comes in while the first is still inside.

Whatever learns or answers is marked with `one_thread`. The thread that comes in writes its number into the object and
takes it out when it leaves, however it leaves; calls within calls of the same thread are free. A second thread is
refused before anything changes. This costs a fraction of a microsecond and is no lock: nobody waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import get_ident
from typing import Any, NoReturn, TypeVar, cast

from streamsift.core.exceptions import ConcurrentUseError

Method = TypeVar("Method", bound=Callable[..., Any])

_USER = "_thread_inside"


def one_thread(method: Method) -> Method:
    """Mark a method as one that needs the object for itself."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        inside, thread = self.__dict__, get_ident()
        if inside.get(_USER) == thread:
            return method(self, *args, **kwargs)
        if inside.setdefault(_USER, thread) != thread:  # a single step: of two threads only one gets in
            _refuse(self)
        try:
            return method(self, *args, **kwargs)
        finally:
            del inside[_USER]

    return cast(Method, guarded)


@contextmanager
def held(selector: Any) -> Iterator[None]:
    """Keep other threads out of another object, too, for as long as it is read."""
    inside, thread = selector.__dict__, get_ident()
    if inside.get(_USER) == thread:
        yield
        return
    if inside.setdefault(_USER, thread) != thread:
        _refuse(selector)
    try:
        yield
    finally:
        del inside[_USER]


class OneThreadAtATime:
    """What a guarded class inherits first: copies and pickles leave out who is inside, and are refused to others."""

    def __getstate__(self) -> Any:
        if self.__dict__.get(_USER, get_ident()) != get_ident():
            _refuse(self)
        state = super().__getstate__()
        if isinstance(state, dict) and _USER in state:
            state = {name: value for name, value in state.items() if name != _USER}
        return state


def _refuse(selector: Any) -> NoReturn:
    raise ConcurrentUseError(
        f"Another thread is using this {type(selector).__name__}: use it from one thread at a time, with a lock around "
        "it, or give each thread its own (merge adds up what they have learnt, where a method can)."
    )
