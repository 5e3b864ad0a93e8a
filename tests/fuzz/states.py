"""Forged states: every method x every array x mutations, loaded and used in workers with limits.

A forged state must be refused in one sentence, or be harmless: no signal, no other exception, no endless loop, no NaN
among the answers. `python -m tests.fuzz states --seconds 60 --seed 1 --kinds abfs etana`.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from streamsift import catalog
from tests.fuzz.forked import Make, Use, outcome
from tests.fuzz.tally import ACCEPTED

Arrays = dict[str, NDArray[Any]]

N_ROWS, N_FEATURES = 120, 6


@dataclass(frozen=True)
class Original:
    """A method that has learnt something, what it was given, and its state."""

    name: str
    variant: str
    parameters: dict[str, Any]
    arrays: Arrays

    def make(self) -> Any:
        """The method, as yet without a state."""
        return catalog.class_at(catalog.entry(self.name).target)(**self.parameters)


@dataclass(frozen=True)
class Forged:
    """A state with some arrays replaced (None: taken out)."""

    original: Original
    what: str
    changes: dict[str, NDArray[Any] | None]

    def arrays(self) -> Arrays:
        """The state as a file would give it."""
        both = self.original.arrays | self.changes
        return {key: array for key, array in both.items() if array is not None}


# -- states to forge ----------------------------------------------------------------------------------------------


def data(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of which some features tell the class."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N_ROWS, N_FEATURES)), rng.integers(0, 2, N_ROWS)
    X[:, 0] += 2 * y
    X[:, 3] -= y
    return X, y


def variants(name: str) -> list[str]:
    """The kinds of data that give a method states of different kinds."""
    kind = catalog.entry(name).kind
    if kind == "instances":
        return ["dense", "three classes", "one class"]
    if kind == "columns":
        classes_only = catalog.make(name).stream_tags().target == "classes"
        return ["codes", "dense"] if classes_only else ["codes", "dense", "numbers"]
    options = ["dense", "three classes"]
    method = catalog.make(name)
    tags, fades = method.stream_tags(), "fading" in method.get_params()
    options += ["sparse"] if tags.sparse else []
    options += ["fading"] if fades else []
    options += ["faded sparse"] if fades and tags.sparse else []
    options += ["codes", "coded numbers", "hddm_a", "hddm_w"] if name == "abfs" else []
    options += ["numbers"] if tags.regression else []
    options += ["sparse numbers"] if tags.regression and tags.sparse else []
    options += ["wide", "gaps", "pairs"] if name.startswith("joint:") else []
    return options


def learnt(name: str, variant: str) -> Original:
    """A method that has learnt a little of one kind of data."""
    method, kind = catalog.make(name), catalog.entry(name).kind
    parameters = method.get_params()
    wanted: dict[str, Any] = {"fading": 0.98} if "fad" in variant else {}
    wanted |= {"max_iterations": 20} if "max_iterations" in parameters else {}
    wanted |= {"random_state": 0} if "random_state" in parameters else {}
    if name == "abfs":
        wanted |= {"grace_period": 20, "categorical": "all" if "code" in variant else None}
        wanted |= {"detector": variant} if variant.startswith("hddm") else {}
    if name.startswith("screen:") and variant == "dense" and "eps" in parameters:
        wanted |= {"eps": 0.05}
    if name.startswith("joint:"):
        wanted |= {"wide": {"max_pool": 3, "missing": "skip"}, "gaps": {"missing": "skip"}}.get(variant, {})
        wanted |= {"interactions": "pairs"} if variant == "pairs" else {}
    if kind == "rows" and "numbers" in variant:
        wanted |= {"task": "regression"}
    method.set_params(**wanted)
    X, y = data()
    if wanted.get("missing") == "skip":
        X[::7, 2] = np.nan
    y = np.arange(N_ROWS) % 3 if variant == "three classes" else y * (variant != "one class")
    target = X[:, 0] + 0.1 * X[:, 1]
    X = np.abs(np.round(X)) if "code" in variant or kind == "instances" else X
    if kind == "rows":
        X = csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0)) if "sparse" in variant else X
        y = target if "numbers" in variant else y
        for first in range(0, N_ROWS, 40):
            method.partial_fit(X[first : first + 40], y[first : first + 40])
    elif kind == "columns":
        method.fit(X, target if variant == "numbers" else np.array(["u", "v"])[y])
    else:
        method.fit(X, y)
    return Original(name, variant, method.get_params(), method.state_arrays())


# -- mutations ----------------------------------------------------------------------------------------------------


def mutations(array: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every simple lie about one array."""
    yield from _shapes(array) if array.ndim else [("1-d", array.reshape(1))]
    for value in _values(array):
        whole = np.full_like(array, value)
        yield f"all {value}", whole
        if array.size > 1:
            for place in (0, array.size // 2, array.size - 1):
                one = array.copy()
                one.reshape(-1)[place] = value
                yield f"{value} at {place}", one
    if array.size and array.dtype.kind in "if":
        yield "one more", array + np.ones((), array.dtype)
        yield "backwards", array.reshape(-1)[::-1].reshape(array.shape)
        yield "minus", -array
    for kind in ("float32", "int8", "uint64", "int32", "U3", ">i8", ">f8", "c16", "?"):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield f"as {kind}", array.astype(kind)
        except (TypeError, ValueError, OverflowError):
            continue


def _shapes(array: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    yield "empty", array[:0]
    yield "one less", array[:-1]
    yield "one", array[:1]
    yield "twice", np.concatenate([array, array])
    yield "0-d", array.reshape(-1)[0] if array.size else np.zeros((), array.dtype)
    yield "flat", array.reshape(-1)
    yield "deeper", array[..., None]
    yield "Fortran", np.asfortranarray(array)
    if array.ndim > 1:
        yield "turned", np.ascontiguousarray(array.T)
        yield "narrow", np.ascontiguousarray(array[..., :-1])
        yield "no width", np.ascontiguousarray(array[..., :0])
        yield "wide", np.concatenate([array, array], axis=-1)


def _values(array: NDArray[Any]) -> list[Any]:
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        values = [-2, -1, 0, 1, 2, 3, 7, 63, 64, 1000, 10**6, 2**31, 2**40, 2**53, info.max // 2, info.max, info.min]
        return [value for value in values if info.min <= value <= info.max]
    if array.dtype.kind == "f":
        return [-1.0, 0.0, 0.5, 1.0, 1e-320, 1e-9, 1e9, 1e100, 1e308, -1e308, np.nan, np.inf, -np.inf]
    if array.dtype.kind == "b":
        return [True, False]
    if array.dtype.kind == "U":
        return ["", "x", "\ud800", "../../x"]
    return []


def systematic(original: Original) -> Iterator[Forged]:
    """Each array by itself, in every simple way, left out, and in the place of each other one."""
    yield Forged(original, "as it was", {})
    for key in (*original.arrays, *_TEXTS):
        yield from about(original, key)


def about(original: Original, key: str) -> Iterator[Forged]:
    """Every simple lie about one array."""
    if key in _TEXTS:
        for texts in _TEXTS[key]:
            column = np.empty(len(texts), object)
            column[:] = texts
            name = key.removeprefix("other ")
            yield Forged(
                original, f"{name}: {str(texts)!a:.24}", {name: column if name == "labels" else _as_str(texts)}
            )
        return
    array = original.arrays[key]
    yield Forged(original, f"{key}: left out", {key: None})
    for what, lie in mutations(array):
        yield Forged(original, f"{key}: {what}", {key: lie})
    for other, stranger in original.arrays.items():
        if other != key and stranger.dtype == array.dtype:
            yield Forged(original, f"{key}: is {other}", {key: stranger})


_TEXTS: dict[str, tuple[list[Any], ...]] = {
    "other labels": (
        [], [0], [0, 1, 2], [0, 0], [0.5, float("nan")], list(range(300)), ["a", "b"], [None, 1]
    ),
    "other feature_names": (["a"], list("abcdef"), list("aabbcc"), ["\ud800"] * 6, []),
}  # fmt: skip


def _as_str(texts: list[str]) -> NDArray[np.str_]:
    return np.array(texts, np.str_)


def at_random(original: Original, rng: np.random.Generator) -> Forged:
    """One to three arrays with some numbers changed, moved or exchanged."""
    keys = [key for key, array in original.arrays.items() if array.dtype.kind in "iufb"]
    changes: dict[str, NDArray[Any] | None] = {}
    for key in rng.choice(keys, rng.integers(1, 4)):
        array = original.arrays[key].copy()
        flat, values = array.reshape(-1), _values(array)
        if flat.size:
            for _ in range(rng.integers(1, 4)):
                place, how = rng.integers(flat.size), rng.integers(5)
                with np.errstate(all="ignore"):
                    if how == 0:
                        flat[place] = values[rng.integers(len(values))]
                    elif how == 1 and array.dtype.kind in "if":
                        flat[place] += np.asarray(rng.integers(-3, 4), array.dtype)
                    elif how == 2:
                        flat[place] = flat[rng.integers(flat.size)]
                    elif how == 3:
                        rng.shuffle(flat)
                    elif array.ndim and len(array):
                        array = np.repeat(array, rng.integers(0, 3, len(array)), axis=0)
                        flat = array.reshape(-1)
                if not flat.size:
                    break
        changes[str(key)] = array
    return Forged(original, f"{'+'.join(changes)}: at random", changes)


# -- loading and using --------------------------------------------------------------------------------------------


def attempt(forged: Forged, _: Path | None = None) -> str:
    """Load a forged state and use it; how it ended, or an exception that should not be."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        method = forged.original.make().load_state_arrays(forged.arrays())
        answers = use(method, forged.original)
    bad = [what for what, answer in answers.items() if np.isnan(answer).any()]
    assert not bad, f"NaN in {', '.join(bad)} ({forged.what})"
    return ACCEPTED


def use(method: Any, original: Original) -> dict[str, NDArray[Any]]:
    """Ask for everything, learn more, ask again."""
    X, y = data(1)
    kind = catalog.entry(original.name).kind
    if kind == "instances":
        return _use_instances(method, np.abs(np.round(X)), y)
    if kind == "columns":
        return _use_columns(method, X, y)
    return _use_rows(method, np.abs(np.round(X)) if "code" in original.variant else X, y)


def _use_rows(method: Any, X: NDArray[Any], y: NDArray[Any]) -> dict[str, NDArray[Any]]:
    labels = method._labels.labels or (0, 1)
    y = np.array([labels[code % len(labels)] for code in y], object)
    answers = {"first scores": method.scores_}
    method.selection()
    method.partial_fit(X, y)
    answers["scores"] = method.scores_
    for row in range(3):
        method.partial_fit(X[row : row + 1], y[row : row + 1])
    if method.stream_tags().sparse:
        method.partial_fit(csr_matrix(X), y)
    new = np.array([*y[:20], *["new"] * 5, *["newer"] * 5], object)
    if method.get_params().get("task") == "regression":
        new = np.arange(30.0)
    method.partial_fit(X[:30], new)
    method.transform(X)
    answers["last scores"] = method.scores_
    if "rule" in method.get_params():  # as many features as are worth it
        wanted = method.n_features_to_select
        method.set_params(n_features_to_select=None).selection()
        method.set_params(n_features_to_select=wanted)
    if method.stream_tags().mergeable != "no":
        method.merge(copy.deepcopy(method))
        answers["merged scores"] = method.scores_
    for name in ("units_", "drifts_", "importance_", "uncertainty_", "criterion_values_", "pvalues_", "path_"):
        getattr(method, name, None)
    method.state_arrays()
    return answers


def _use_columns(method: Any, X: NDArray[Any], y: NDArray[Any]) -> dict[str, NDArray[Any]]:
    method.get_support()
    if type(method).__name__ != "Stepwise":
        decisions = [method.offer(X[:, j], f"new{j}") for j in range(2)]
        decisions += [method.offer(np.round(X[:, 2]), "codes", categorical=False), method.offer(y + 0.1 * X[:, 5], "y")]
        decisions += list(method.offer_many(X[:, 3:], ["a", "b", "c"]))
    else:
        decisions = []
    _ = method.selected_, method.history_, getattr(method, "wealth_", None), getattr(method, "level_", None)
    method.get_feature_names_out()
    method.state_arrays()
    return {"statistics": np.array([decision.statistic for decision in decisions])}


def _use_instances(method: Any, X: NDArray[Any], y: NDArray[Any]) -> dict[str, NDArray[Any]]:
    labels = method.classes_.tolist()
    found = method.classify(X)
    method.classify_one(lambda j: 1.0)
    method.partial_fit(X, [labels[code % len(labels)] for code in y])
    again = method.classify(X)
    method.state_arrays()
    return {"posteriors": found.posteriors, "cost": found.cost, "posteriors after learning": again.posteriors}


# -- many of them -------------------------------------------------------------------------------------------------


Place = tuple[Original, str, int]  # a state, the array that is forged, and in which way


def maker(kinds: Sequence[str] | None = None) -> Make:
    """Forged states of some methods; None: of all. First each array by itself, then at random."""
    states = originals(list(kinds) if kinds else None)
    places = [
        (state, key, place)
        for state in states
        for key in (*state.arrays, *_TEXTS)
        for place, _ in enumerate(about(state, key))
    ]
    order = np.random.default_rng(0).permutation(len(places)).tolist()  # so that a short run sees all methods
    return partial(_make, states, [places[number] for number in order])


def _make(states: list[Original], places: list[Place], number: int, seed: int) -> tuple[str, Use]:
    if number < len(places):
        original, key, place = places[number]
        forged = next(case for k, case in enumerate(about(original, key)) if k == place)
    else:
        rng = np.random.default_rng((seed, number))
        forged = at_random(states[rng.integers(len(states))], rng)
    return forged.original.name, partial(attempt, forged)


def originals(methods: list[str] | None = None) -> list[Original]:
    """A state of each kind of each method; each is loaded and used once, so that kernels are compiled here."""
    found = [learnt(name, variant) for name in methods or catalog.names() for variant in variants(name)]
    for original in found:
        how = outcome(partial(attempt, Forged(original, "as it was", {})), Path())
        if how != (ACCEPTED, ""):
            raise AssertionError(f"{original.name} ({original.variant}) as it was: {how}")
    return found
