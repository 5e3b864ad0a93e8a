"""Bad inputs for every kind of method, and the matrix of methods and inputs, state compared before and after.

As a program it runs a part of the matrix: `python -m tests.hardening.bad_inputs fires saola`. With NUMBA_BOUNDSCHECK=1
a kernel that would read or write outside an array raises IndexError, which ends it with exit code 1.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from streamsift import catalog
from streamsift.core.exceptions import StreamsiftError

N_ROWS, N_COLUMNS = 48, 5
NAMES = list("abcde")


def good() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(N_ROWS) % 2
    X = np.abs(rng.normal(size=(N_ROWS, N_COLUMNS))).round(2) + 0.01
    X[:, 0] += y
    return X, y


def _with(row: int, column: int, value: Any, dtype: Any = float) -> np.ndarray:
    X = good()[0].astype(dtype)
    X[row, column] = value
    return X


def _csr(part: str, change: Callable[[np.ndarray], np.ndarray], kind: str = "csr") -> Any:
    matrix = getattr(sparse, f"{kind}_matrix")(good()[0])
    setattr(matrix, part, change(getattr(matrix, part).copy()))
    return matrix


def _last(value: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: np.concatenate([array[:-1], [value]]).astype(array.dtype)


def tables() -> dict[str, Any]:
    """X that is wrong, or strange; y is right."""
    X, _ = good()
    last = N_ROWS - 1
    cases: dict[str, Any] = {}
    for value in (np.nan, np.inf, -np.inf):
        for row in (0, last):
            cases[f"{value} in row {row}"] = _with(row, 3, value)
            cases[f"float32 {value} in row {row}"] = _with(row, 3, value, np.float32)
        cases[f"sparse {value}"] = _csr("data", _last(value))
    for value in (1e151, 1e200, 1e308, -1.7e308):
        cases[f"one {value}"] = _with(last, 1, value)
        cases[f"all {value}"] = np.full(X.shape, value)
        cases[f"sparse {value}"] = _csr("data", _last(value))
    cases |= {
        "largest float32": _with(last, 1, 3.4e38, np.float32),
        "largest uint64": np.full(X.shape, 2**64 - 1, np.uint64),
        "longdouble": np.full(X.shape, np.longdouble("1e4000")),
        "float16 infinity": np.full(X.shape, np.inf, np.float16),
        "huge int": _with(last, 3, 10**400, object),
        "wide": np.hstack([X, X]),
        "narrow": X[:, :-1],
        "short": X[:-1],
        "no rows": X[:0],
        "no columns": X[:, :0],
        "one dimension": X[:, 0],
        "no dimension": np.float64(3),
        "three dimensions": X[:, :, None],
        "complex": X + 1j,
        "NaT": np.full(X.shape, np.datetime64("NaT", "ns")),
        "None": _with(3, 3, None, object),
        "text among numbers": _with(3, 3, "tall", object),
        "a list in a cell": _cell([1, 2]),
        "Decimal NaN": _with(3, 3, Decimal("NaN"), object),
        "void": np.zeros(X.shape, "V4"),
        "records": np.zeros(X.shape, [("a", "f4")]),
        "ragged": [[1, 2], [3]] * (N_ROWS // 2),
        "text": "hello",
        "nothing": None,
        "dict": {"a": [1, 2]},
        "set": {1, 2},
        "other names": pa.table({f"z{k}": X[:, k] for k in range(N_COLUMNS)}),
        "lists of Arrow": pa.table({"a": pa.array([[1.0]] * N_ROWS), "b": pa.array([{"q": 1}] * N_ROWS)}),
        "index too large": _csr("indices", _last(2**30)),
        "index negative": _csr("indices", _last(-1)),
        "index of reals": _csr("indices", lambda a: a + 0.5),
        "indptr falls": _csr("indptr", lambda a: a[::-1].copy()),
        "indptr far": _csr("indptr", _last(10**6)),
        "indptr short": _csr("indptr", lambda a: a[:-5]),
        "indptr long": _csr("indptr", lambda a: np.append(a, [a[-1]] * 5)),
        "indptr empty": _csr("indptr", lambda a: a[:0]),
        "data short": _csr("data", lambda a: a[:-3]),
        "data of objects": _csr("data", lambda a: a.astype(object)),
        "csc index": _csr("indices", _last(10**5), "csc"),
        "csc indptr": _csr("indptr", lambda a: a + 10**6 * (a > 0), "csc"),
        "coo row": _csr("row", _last(10**5), "coo"),
        "coo negative": _csr("row", _last(-1), "coo"),
        "bsr index": _csr("indices", _last(10**5), "bsr"),
    }
    return cases


def _cell(value: Any) -> np.ndarray:
    X = good()[0].astype(object)
    X[3, 3] = value
    return X


def targets() -> dict[str, Any]:
    """y that is wrong; X is right."""
    _, y = good()
    half = N_ROWS // 2
    return {
        "y short": y[:-1],
        "y long": np.append(y, 0),
        "y empty": [],
        "y NaN": np.where(np.arange(N_ROWS) == 3, np.nan, y.astype(float)),
        "y None": np.array(["q", None] * half, object),
        "y lists": [[1], [1, 2]] * half,
        "y two columns": np.zeros((N_ROWS, 2)),
        "y scalar": 3,
        "y signalling NaN": np.array([Decimal("sNaN"), 1] * half, object),
    }


def fresh(name: str) -> Any:
    """A method that has learnt the good data."""
    method = catalog.make(name)
    if "random_state" in method.get_params():
        method.set_params(random_state=0)
    return method.fit(*good()) if catalog.entry(name).kind == "columns" else method.partial_fit(*good())


def calls(name: str) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Everything bad that can be asked of a method: (what, call)."""
    X, y = good()
    kind = catalog.entry(name).kind
    for what, table in tables().items():
        if kind == "columns":
            yield f"offer_many {what}", lambda method, table=table: method.offer_many(table)
            yield f"fit {what}", lambda method, table=table: method.fit(table, y)
        else:
            yield f"partial_fit {what}", lambda method, table=table: method.partial_fit(table, y)
            yield (
                f"use {what}",
                lambda method, table=table: (method.transform if kind == "rows" else method.predict)(table),
            )
    for what, target in targets().items():
        yield what, lambda method, target=target: (method.fit if kind == "columns" else method.partial_fit)(X, target)


def attack(name: str) -> list[str]:
    """What went wrong: a raw exception, or a state that a refused call has changed, or NaN where it was accepted."""
    wrong = []
    method = fresh(name)
    before = method.state_arrays()
    for what, call in calls(name):
        try:
            call(method)
        except (StreamsiftError, TypeError) as error:  # scikit-learn wants a TypeError for cells that are no numbers
            if "\n" in str(error):
                wrong.append(f"{name}, {what}: refused in several lines")
            if not same(before, method.state_arrays()):
                wrong.append(f"{name}, {what}: was refused and changed the state")
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            wrong.append(f"{name}, {what}: {type(error).__name__}: {error}")
        else:
            if catalog.entry(name).kind == "rows" and np.isnan(method.scores_).any():
                wrong.append(f"{name}, {what}: was accepted and leads to NaN")
        if not same(before, method.state_arrays()):
            method = fresh(name)
    return wrong


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


def main(names: list[str]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [line for name in names or catalog.names() for line in attack(name)]
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
