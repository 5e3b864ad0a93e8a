"""Checks of inputs: every form of the same data gives the same scores, and none of it is changed or kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from streamsift.checks.samples import (
    NAMES,
    Floats,
    Make,
    counts_sample,
    expect,
    pandas_for_checks,
    polars_for_checks,
    refused,
    same_scores,
    same_state,
    sample,
    selecting,
)


def check_input_is_not_changed(make: Make) -> None:
    from scipy.sparse import csr_matrix

    X, y = counts_sample()
    forms: list[Any] = [X, np.asfortranarray(X), X.astype(np.float32), pandas_for_checks().DataFrame(X, columns=NAMES)]
    if make().stream_tags().sparse:
        forms.append(csr_matrix(X))
    for form in forms:
        labels = y.copy()
        given = form.copy()
        selector = make().partial_fit(given, labels)
        selector.transform(given)
        dense, before = (_dense(matrix) for matrix in (given, form))
        expect(bool(np.array_equal(dense, before)), f"a {type(form).__name__} given as X was changed")
        expect(bool(np.array_equal(labels, y)), "y was changed")


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def check_input_is_not_kept(make: Make) -> None:
    from scipy.sparse import csr_matrix

    X, y = counts_sample()
    for sparse in (False, True) if make().stream_tags().sparse else (False,):
        given: Any = csr_matrix(X) if sparse else X.copy()
        labels = y.copy()
        selector = make().partial_fit(given, labels)
        before = selector.state_arrays()
        values = given.data if sparse else given
        values[...] = 77.0
        labels[...] = 0
        same_state(selector.state_arrays(), before, "the state changes with the caller's array: copy what is kept")


def check_answers_are_copies(make: Make) -> None:
    selector = make().partial_fit(*sample())
    before, scores = selector.state_arrays(), selector.scores_.copy()
    for array in [*selector.state_arrays().values(), selector.scores_, selector.ranking_]:
        if array.dtype.kind in "iuf":
            array[...] = -5
    same_state(selector.state_arrays(), before, "writing into an answer changed the state")
    same_scores(selector.scores_, scores, "writing into an answer changed the scores")


def check_every_kind_of_array_gives_the_same_scores(make: Make) -> None:
    X, y = counts_sample()
    wanted = make().partial_fit(X, y).scores_
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
        same_scores(make().partial_fit(form, y).scores_, wanted, f"{what} gives other scores than a C float64 array")
    bits = X > 0
    wanted = make().partial_fit(bits.astype(float), y).scores_
    same_scores(make().partial_fit(bits, y).scores_, wanted, "an array of bool gives other scores than one of 0 and 1")


def check_float32_gives_the_same_scores(make: Make) -> None:
    X, y = sample()
    found = make().partial_fit(X.astype(np.float32), y).scores_
    same_scores(found, make().partial_fit(X, y).scores_, "float32 gives other scores than the same numbers in float64")


def _tables(X: Floats) -> dict[str, Any]:
    import pyarrow

    columns = {name: X[:, place] for place, name in enumerate(NAMES)}
    return {
        "a pandas frame": pandas_for_checks().DataFrame(columns),
        "a polars frame": polars_for_checks().DataFrame(columns),
        "a pyarrow table": pyarrow.table(columns),
        "a pyarrow record batch": pyarrow.record_batch(columns),
    }


def check_every_kind_of_table_gives_the_same_scores(make: Make) -> None:
    X, y = sample()
    wanted = selecting(make, 2).partial_fit(X, y)
    for what, table in _tables(X).items():
        selector = selecting(make, 2).partial_fit(table, y)
        same_scores(selector.scores_, wanted.scores_, f"{what} gives other scores than an array")
        expect(selector.feature_names_in_.tolist() == list(NAMES), f"{what}: the column names are lost")
        kept = [NAMES[place] for place in wanted.get_support(indices=True)]
        expect(selector.get_feature_names_out().tolist() == kept, f"{what}: get_feature_names_out is wrong")
        expect(np.array_equal(selector.transform(table), wanted.transform(X)), f"{what}: transform gives other columns")


def check_named_columns_may_come_in_another_order(make: Make) -> None:
    X, y = sample()
    frame = pandas_for_checks().DataFrame(X, columns=NAMES)
    turned = frame[list(NAMES[::-1])]
    wanted = make().partial_fit(frame, y).partial_fit(frame, y)
    found = make().partial_fit(frame, y).partial_fit(turned, y)
    same_scores(found.scores_, wanted.scores_, "columns in another order are not matched by name")
    expect(np.array_equal(found.transform(turned), wanted.transform(frame)), "transform does not match columns by name")


def check_sparse_equals_dense(make: Make) -> None:
    from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix

    X, y = counts_sample()
    if not make().stream_tags().sparse:
        with refused("sparse data, without the tag `sparse`,"):
            make().partial_fit(csr_matrix(X), y)
        return
    wanted = make().partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]).scores_
    forms: tuple[Any, ...] = (csr_matrix, csr_array, csc_matrix, coo_array)
    for form in forms:
        for kind in ("float64", "float32", "int64"):
            first, second = form(X[:50].astype(kind)), form(X[50:].astype(kind))
            found = make().partial_fit(first, y[:50]).partial_fit(second, y[50:]).scores_
            same_scores(found, wanted, f"{form.__name__} of {kind} gives other scores than a dense array")
    padded = csr_matrix(X)
    padded.data[::3] = 0.0
    wanted = make().partial_fit(padded.toarray(), y).scores_
    same_scores(make().partial_fit(padded, y).scores_, wanted, "stored zeros count differently from absent ones")


def check_permuted_columns_permute_scores(make: Make) -> None:
    X, y = sample()
    order = np.array([3, 0, 4, 2, 1])
    wanted = make().partial_fit(X, y).scores_[order]
    same_scores(make().partial_fit(X[:, order], y).scores_, wanted, "the place of a column changes its score")


def check_labels_of_every_kind(make: Make) -> None:
    X, y = sample(40, n_classes=2)
    wanted = make().partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:]).scores_
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
            labels = hold([pair[code] for code in y])
            selector = make().partial_fit(X[:25], labels[:25]).partial_fit(X[25:], labels[25:])
            same_scores(selector.scores_, wanted, f"labels that are {what} give other scores than 0 and 1")
            expect(set(selector.classes_.tolist()) == set(pair), f"labels that are {what}: classes_ is wrong")


def _object_array(labels: list[Any]) -> Any:
    array = np.empty(len(labels), object)
    for place, label in enumerate(labels):
        array[place] = label
    return array


def check_labels_in_every_container(make: Make) -> None:
    import pyarrow

    pandas, polars = pandas_for_checks(), polars_for_checks()
    X, y = sample()
    words = np.array(["red", "green", "blue"])[y]
    wanted = make().partial_fit(X, y).scores_
    forms: dict[str, Any] = {
        "a column vector": y.reshape(-1, 1),
        "a list": y.tolist(),
        "a tuple": tuple(y.tolist()),
        "a pandas series": pandas.Series(y),
        "a pandas series of text": pandas.Series(words),
        "a pandas categorical": pandas.Series(words, dtype="category"),
        "a polars series": polars.Series(words),
        "a pyarrow array": pyarrow.array(words),
        "a chunked pyarrow array": pyarrow.chunked_array([words[:50], words[50:]]),
    }
    for what, labels in forms.items():
        same_scores(make().partial_fit(X, labels).scores_, wanted, f"labels in {what} give other scores")
