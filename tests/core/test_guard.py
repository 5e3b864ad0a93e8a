"""One thread at a time: the second is refused before anything changes, whichever method and whatever it asks for."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from streamsift import ConcurrentUseError, Screener, catalog
from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import same_state
from streamsift.core.guard import OneThreadAtATime, held, one_thread

X = np.array([[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.9, 0.3]])
Y = np.array([0, 1, 0, 1])


class Counter(OneThreadAtATime):
    """Waits within a call until it is told to go on."""

    def __init__(self) -> None:
        self.inside, self.go_on, self.count = threading.Event(), threading.Event(), 0

    @one_thread
    def wait(self) -> None:
        """Stay inside."""
        self.inside.set()
        assert self.go_on.wait(60)
        self.count += 1

    @one_thread
    def twice(self) -> int:
        """A call within a call."""
        return self.once() + self.once()

    @one_thread
    def once(self) -> int:
        """One call."""
        return 1

    @one_thread
    def fail(self, error: type[BaseException]) -> None:
        """Leave by an error."""
        raise error("inside")


def while_another_is_inside(selector: Any, ask: Callable[[], Any]) -> None:
    """Call `ask` in this thread while another one is inside the selector."""
    inside, go_on = threading.Event(), threading.Event()

    def stay() -> None:
        with held(selector):
            inside.set()
            assert go_on.wait(60)

    other = threading.Thread(target=stay)
    other.start()
    try:
        assert inside.wait(60)
        ask()
    finally:
        go_on.set()
        other.join()


def test_a_second_thread_is_refused_and_the_first_goes_on() -> None:
    counter = Counter()
    first = threading.Thread(target=counter.wait)
    first.start()
    assert counter.inside.wait(60)
    with pytest.raises(ConcurrentUseError, match="from one thread at a time"):
        counter.once()
    counter.go_on.set()
    first.join()
    assert (counter.count, counter.once()) == (1, 1)


def test_calls_within_calls_are_free() -> None:
    assert Counter().twice() == 2


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_inside_leaves_the_object_free(error: type[BaseException]) -> None:
    counter = Counter()
    with pytest.raises(error, match="inside"):
        counter.fail(error)
    threads = [threading.Thread(target=counter.once)]
    for thread in threads:
        thread.start()
        thread.join()
    assert counter.once() == 1


def test_copies_and_pickles_do_not_know_who_was_inside() -> None:
    selector = Screener(criterion="fisher").partial_fit(X, Y)
    with held(selector):
        for twin in (copy.deepcopy(selector), copy.copy(selector), pickle.loads(pickle.dumps(selector))):
            assert vars(twin).get("_inside") is not vars(selector)["_inside"]
            same_state(twin.state_arrays(), selector.state_arrays(), "the copy")
    assert clone(selector).get_params() == selector.get_params()


def test_a_copy_is_refused_while_another_thread_is_inside() -> None:
    selector = Screener(criterion="fisher").partial_fit(X, Y)

    def ask() -> None:
        with pytest.raises(ConcurrentUseError):
            copy.deepcopy(selector)

    while_another_is_inside(selector, ask)


def test_merging_asks_both() -> None:
    one, other = (Screener(criterion="fisher").partial_fit(X, Y) for _ in range(2))

    def ask() -> None:
        with pytest.raises(ConcurrentUseError):
            one.merge(other)

    while_another_is_inside(other, ask)
    assert one.n_rows_seen_ == 4
    assert one.merge(other).n_rows_seen_ == 8


def _uses(method: Any, X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    """Everything that can be asked of a method of any kind."""
    arrays = method.state_arrays()
    uses: dict[str, Callable[[], Any]] = {
        "fit": lambda: method.fit(X, y),
        "partial_fit": lambda: method.partial_fit(X, y),
        "begin": lambda: method.begin(y),
        "offer": lambda: method.offer(X[:, 0], "again"),
        "offer_many": lambda: method.offer_many(X),
        "run": lambda: method.run([], y),
        "merge": lambda: method.merge(method),
        "transform": lambda: method.transform(X),
        "get_support": method.get_support if hasattr(method, "get_support") else lambda: None,
        "get_feature_names_out": lambda: method.get_feature_names_out(),
        "classify": lambda: method.classify(X),
        "classify_one": lambda: method.classify_one(lambda j: 0.0),
        "explain": lambda: method.explain(X[0]),
        "predict": lambda: method.predict(X),
        "predict_proba": lambda: method.predict_proba(X),
        "selection": lambda: method.selection(),
        "state_arrays": method.state_arrays,
        "load_state_arrays": lambda: method.load_state_arrays(arrays),
    }
    if not hasattr(type(method), "partial_fit") and type(method).__name__ == "Stepwise":
        uses = {name: use for name, use in uses.items() if name not in ("offer", "offer_many")}  # always refused
    kind = type(method)
    found = {name: use for name, use in uses.items() if hasattr(kind, name)}
    for name, _ in inspect.getmembers(kind, lambda member: isinstance(member, property)):
        if name.endswith("_") and not name.startswith("_"):
            found[name] = lambda name=name: getattr(method, name)  # type: ignore[misc]
    return found


@pytest.mark.parametrize("name", catalog.names())
def test_every_method_refuses_every_use_beside_another(name: str) -> None:
    def make() -> Any:
        return catalog.make(name)

    driver = driver_of(make)
    X, y = driver.sample()
    method = driver.learn(make(), X, y)
    before = method.state_arrays()
    uses, asked = _uses(method, X, y), list[str]()
    assert len(uses) > 5

    def ask() -> None:
        for what, use in uses.items():
            with pytest.raises(ConcurrentUseError):
                use()
            asked.append(what)

    while_another_is_inside(method, ask)
    assert asked == list(uses)
    same_state(method.state_arrays(), before, "a refused use changed the state")


@pytest.mark.parametrize("name", catalog.names("rows"))
def test_no_row_is_lost_in_silence(name: str) -> None:
    selector = catalog.make(name)
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 6)), rng.integers(0, 2, 40)
    selector.partial_fit(rows, labels)
    learnt, problems = [], []

    def work() -> None:
        for first in range(0, 40, 10):
            try:
                selector.partial_fit(rows[first : first + 10], labels[first : first + 10])
                learnt.append(10)
            except ConcurrentUseError:
                continue
            except BaseException as error:  # noqa: BLE001  told below, in the thread of the test
                problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert selector.n_rows_seen_ == 40 + sum(learnt)
