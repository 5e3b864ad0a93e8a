"""Checks of inputs: every form of the same data gives the same answer, and none of it is changed or kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import (
    NAMES,
    Floats,
    Make,
    counts_sample,
    expect,
    pandas_for_checks,
    polars_for_checks,
    refused,
    same_answers,
    same_state,
)


def check_input_is_not_changed(make: Make) -> None:
    from scipy.sparse import csr_matrix

    driver = driver_of(make)
    X, y = counts_sample(n_classes=driver.n_classes)
    forms: list[Any] = [X, np.asfortranarray(X), X.astype(np.float32), pandas_for_checks().DataFrame(X, columns=NAMES)]
    if make().stream_tags().sparse:
        forms.append(csr_matrix(X))
    for form in forms:
        labels = y.copy()
        given = form.copy()
        method = driver.learn(make(), given, labels)
        driver.use(method, given)
        dense, before = (_dense(matrix) for matrix in (given, form))
        expect(bool(np.array_equal(dense, before)), f"a {type(form).__name__} given as X was changed")
        expect(bool(np.array_equal(labels, y)), "y was changed")


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def check_input_is_not_kept(make: Make) -> None:
    from scipy.sparse import csr_matrix

    driver = driver_of(make)
    X, y = counts_sample(n_classes=driver.n_classes)
    for sparse in (False, True) if make().stream_tags().sparse else (False,):
        given: Any = csr_matrix(X) if sparse else X.copy()
        labels = y.copy()
        method = driver.learn(make(), given, labels)
        before = method.state_arrays()
        values = given.data if sparse else given
        values[...] = 77.0
        labels[...] = 0
        same_state(method.state_arrays(), before, "the state changes with the caller's array: copy what is kept")


def check_answers_are_copies(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    method = driver.learn(make(), X, y)
    before, wanted = method.state_arrays(), {name: array.copy() for name, array in driver.answer(method, X).items()}
    for array in [*method.state_arrays().values(), *driver.exposed(method, X)]:
        if array.dtype.kind in "biuf" and array.flags.writeable:
            array[...] = array == 0 if array.dtype.kind == "b" else -5
    same_state(method.state_arrays(), before, "writing into an answer changed the state")
    same_answers(driver.answer(method, X), wanted, "writing into an answer changed the next one")


def check_every_kind_of_array_gives_the_same_answer(make: Make) -> None:
    driver = driver_of(make)
    X, y = counts_sample(n_classes=driver.n_classes)
    wanted = driver.answer(driver.learn(make(), X, y), X)
    wide = np.zeros((X.shape[0], 2 * X.shape[1]))
    wide[:, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    forms: dict[str, Any] = {
        "a Fortran array": np.asfortranarray(X),
        "a strided view": wide[:, ::2],
        "a read-only array": frozen,
        "a big-endian array": X.astype(">f8"),
        "a list of lists": X.tolist(),
        "an object array": X.astype(object),
    }
    kinds = ("float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint8")
    forms |= {f"an array of {kind}": X.astype(kind) for kind in kinds}
    for what, form in forms.items():
        found = driver.answer(driver.learn(make(), form, y), X)
        same_answers(found, wanted, f"{what} gives another answer than a C float64 array")
    bits = X > 0
    ones = bits.astype(float)
    wanted, found = (driver.answer(driver.learn(make(), form, y), ones) for form in (ones, bits))
    same_answers(found, wanted, "an array of bool gives another answer than one of 0 and 1")


def check_float32_gives_the_same_answer(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    found = driver.answer(driver.learn(make(), X.astype(np.float32), y), X)
    wanted = driver.answer(driver.learn(make(), X, y), X)
    same_answers(found, wanted, "float32 gives another answer than the same numbers in float64")


def _tables(X: Floats) -> dict[str, Any]:
    import pyarrow

    columns = {name: X[:, place] for place, name in enumerate(NAMES)}
    return {
        "a pandas frame": pandas_for_checks().DataFrame(columns),
        "a polars frame": polars_for_checks().DataFrame(columns),
        "a pyarrow table": pyarrow.table(columns),
        "a pyarrow record batch": pyarrow.record_batch(columns),
    }


def check_every_kind_of_table_gives_the_same_answer(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample()
    plain = driver.learn(make(), X, y)
    for what, table in _tables(X).items():
        method = driver.learn(make(), table, y)
        expect(method.feature_names_in_.tolist() == list(NAMES), f"{what}: the column names are lost")
        same_answers(driver.answer(method, X), driver.answer(plain, X), f"{what} gives another answer than an array")
        used, wanted = driver.use(method, table), driver.use(plain, X)
        expect(np.array_equal(used, wanted), f"{what}: what was learnt is applied differently")


def check_sparse_equals_dense(make: Make) -> None:
    from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix

    driver = driver_of(make)
    X, y = counts_sample(n_classes=driver.n_classes)
    if not make().stream_tags().sparse:
        with refused("sparse data, without the tag `sparse`,"):
            driver.learn(make(), csr_matrix(X), y)
        return
    first, second = driver.halves(X, y)
    wanted = driver.answer(driver.more(driver.learn(make(), *first), *second), X)
    forms: tuple[Any, ...] = (csr_matrix, csr_array, csc_matrix, coo_array)
    for form in forms:
        for kind in ("float64", "float32", "int64"):
            before, after = ((form(half[0].astype(kind)), half[1]) for half in (first, second))
            found = driver.answer(driver.more(driver.learn(make(), *before), *after), X)
            same_answers(found, wanted, f"{form.__name__} of {kind} gives another answer than a dense array")
    padded = csr_matrix(X)
    padded.data[::3] = 0.0
    dense = padded.toarray()
    wanted, found = (driver.answer(driver.learn(make(), form, y), dense) for form in (dense, padded))
    same_answers(found, wanted, "stored zeros count differently from absent ones")


def check_labels_of_every_kind(make: Make) -> None:
    driver = driver_of(make)
    X, y = driver.sample(n_rows=40, n_classes=2)
    y = y if y[0] == 0 else 1 - y  # labels that cannot be sorted are kept in the order in which they came
    first, second = driver.halves(X, y)
    wanted = driver.answer(driver.more(driver.learn(make(), *first), *second), X)
    pairs: dict[str, tuple[Hashable, Hashable]] = {
        "text": ("no", "yes"),
        "numpy text": (np.str_("no"), np.str_("yes")),
        "bool": (False, True),
        "whole floats": (1.0, 2.0),
        "numpy integers": (np.int8(-1), np.int8(1)),
        "large integers": (10**12, 10**12 + 1),
        "bytes": (b"no", b"yes"),
        "tuples": ((1, "a"), (1, "b")),
        "a number and its text": (1, "1"),
        "frozen sets": (frozenset({1}), frozenset({2})),
    }
    holders: tuple[Callable[[list[Any]], Any], ...] = (list, _object_array)
    for what, pair in pairs.items():
        for hold in holders:
            known = driver.known_labels(make, pair)
            if known is None and what == "large integers":
                continue  # taken for numbers, they differ by less than what rounding leaves of their squares
            first, second = driver.halves(X, hold([pair[code] for code in y]))
            method = driver.more(driver.learn(make(), *first), *second)
            right = known is None or set(method.classes_.tolist()) == known
            expect(right, f"labels that are {what}: classes_ is wrong")
            same_answers(driver.answer(method, X), wanted, f"labels that are {what} give another answer than 0 and 1")


def _object_array(labels: list[Any]) -> Any:
    array = np.empty(len(labels), object)
    for place, label in enumerate(labels):
        array[place] = label
    return array


def check_labels_in_every_container(make: Make) -> None:
    import pyarrow

    pandas, polars = pandas_for_checks(), polars_for_checks()
    driver = driver_of(make)
    X, y = driver.sample()
    words = np.array(["red", "green", "blue"][-driver.n_classes :])[y]
    wanted = driver.answer(driver.learn(make(), X, y), X)
    text = driver.answer(driver.learn(make(), X, words), X)
    forms: dict[str, Any] = {
        "a list": y.tolist(),
        "a tuple": tuple(y.tolist()),
        "a pandas series": pandas.Series(y),
    }
    forms_of_text: dict[str, Any] = {
        "a pandas series of text": pandas.Series(words),
        "a pandas categorical": pandas.Series(words, dtype="category"),
        "a polars series": polars.Series(words),
        "a pyarrow array": pyarrow.array(words),
        "a chunked pyarrow array": pyarrow.chunked_array([words[:50], words[50:]]),
    }
    for what, labels in forms.items():
        same_answers(driver.answer(driver.learn(make(), X, labels), X), wanted, f"labels in {what} give another answer")
    for what, labels in forms_of_text.items():
        same_answers(driver.answer(driver.learn(make(), X, labels), X), text, f"labels in {what} give another answer")
