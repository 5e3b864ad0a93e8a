"""Tables, matrices and labels as an enemy or bad luck would give them, chosen by a random generator."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

N_ROWS, N_COLUMNS = 24, 5

NUMBERS = (
    *(np.nan, np.inf, -np.inf, 1e308, -1.7e308, 1e200, 1e151, 1e150, -1e150, 3.4e38, 1e19, 2.0**63, 2.0**53, -1e9),
    *(0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-310, 1e-200, 255.0, 256.0, 1e6, 1e9),
)  # fmt: skip
OBJECTS = (
    *(None, "tall", "", "\x00", "\ud800", "1e999", b"\xff", 10**400, -(10**25), 1j, True, [1, 2], {"a": 1}, (1,)),
    *(decimal.Decimal("sNaN"), decimal.Decimal("1e999"), float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), 2**64),
    *(datetime.date(1, 1, 1), datetime.datetime(9999, 12, 31), datetime.timedelta(days=1), np.float32("inf")),
)  # fmt: skip
DTYPES = (
    *("f8", "f8", "f8", "f4", "f4", "f2", "longdouble", "i1", "i2", "i4", "i8", "u1", "u8", "?", ">f8", ">i4", "c16"),
    *("O", "U4", "S3", "M8[s]", "M8[ns]", "m8[D]", "V4"),
)  # fmt: skip
INDICES = (-1, -(2**31), 2**31 - 1, 2**40, 10**5, N_ROWS, N_COLUMNS, 0, 1, 3)


def good() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What methods have learnt before the hostile data comes: whole numbers from 0 to 4."""
    rng = np.random.default_rng(0)
    y = np.arange(2 * N_ROWS) % 2
    X = rng.integers(0, 4, (2 * N_ROWS, N_COLUMNS)).astype(float)
    X[:, 0] += y
    return X, y


def pick(rng: Generator, choices: Any) -> Any:
    """One of them; not rng.choice, which would make an array of them."""
    return choices[int(rng.integers(len(choices)))]


def table(rng: Generator) -> Any:
    """Something that is given as X."""
    return pick(rng, _TABLES)(rng)


def column(rng: Generator) -> Any:
    """Something that is given as one column."""
    how = rng.integers(6)
    if how == 0:
        return _sparse(rng, 1)
    if how == 1:
        values = _numbers(rng)[:, 0] * (rng.random(N_ROWS) < 0.5)
        return _damage(pick(rng, (sparse.coo_array, sparse.csr_array, sparse.dok_array))(values), rng)
    values = pick(rng, (_array, _array, _frame, _arrow))(rng)
    try:
        return values[:, 0] if rng.random() < 0.7 else values
    except Exception:  # noqa: BLE001 - not everything can be cut
        return values


def target(rng: Generator, n_rows: int = N_ROWS) -> Any:
    """Something that is given as y."""
    y: Any = rng.integers(0, 3, n_rows)
    how = rng.integers(12)
    if how < 4:
        return y
    if how == 4:
        return _dressed(y, rng)
    if how == 5:
        values = np.empty(n_rows, object)
        values[:] = ["a", "b", "c", "d"][rng.integers(1, 4)]
        values[rng.integers(n_rows)] = pick(rng, OBJECTS)
        return values if rng.random() < 0.5 else values.tolist()
    if how == 6:
        return pick(rng, (y[:-1], np.append(y, 0), y[:0], y[:, None], np.stack([y, y], 1), 3, None, "spam", {"a": y}))
    if how == 7:
        return pd.Series(y).astype(
            pick(rng, ("category", "string", "Int64", "float32", "boolean")) if y.max() < 2 else "category"
        )
    if how == 8:
        return pl.Series(["u", "v", "w"]).gather(y.tolist())
    if how == 9:
        return pa.array(["u", "v", None], pa.string()).take(pa.array(y))
    return y.astype(float) + pick(rng, (0.0, 0.5, 1e300, np.nan, np.inf)) * (rng.random(n_rows) < 0.1)


def weights(rng: Generator, n_rows: int = N_ROWS) -> Any:
    """Something that is given as sample_weight."""
    values: Any = rng.random(n_rows)
    for _ in range(rng.integers(3)):
        values[rng.integers(n_rows)] = pick(rng, NUMBERS)
    return pick(rng, (values, values, values[:-1], values.astype("f4"), -values, values * 0, "heavy", values[:, None]))


# -- arrays ---------------------------------------------------------------------------------------------------------


def _numbers(rng: Generator) -> NDArray[np.float64]:
    shape = (N_ROWS, N_COLUMNS)
    how = rng.integers(6)
    if how == 0:
        X = rng.normal(size=shape)
    elif how == 1:
        X = np.full(shape, pick(rng, NUMBERS))
    elif how == 2:
        X = np.where(rng.random(shape) < 0.7, 0.0, rng.integers(0, 5, shape))
    else:
        X = rng.integers(0, 5, shape).astype(float)
    for _ in range(pick(rng, (0, 0, 1, 1, 3, 20))):
        X[rng.integers(shape[0]), rng.integers(shape[1])] = pick(rng, NUMBERS)
    if rng.random() < 0.1:
        X[:, rng.integers(shape[1])] = pick(rng, NUMBERS)
    return X


def _array(rng: Generator) -> Any:
    X = _numbers(rng)
    dtype = pick(rng, DTYPES)
    if dtype == "O":
        X = X.astype(object)
        X[rng.integers(N_ROWS), rng.integers(N_COLUMNS)] = pick(rng, OBJECTS)
    elif dtype[0] in "Mm":
        X = np.nan_to_num(X, posinf=0, neginf=0).clip(-1e9, 1e9).astype("i8").astype(dtype)
    elif dtype == "V4":
        X = np.zeros(X.shape, dtype)
    else:
        X = X.astype(dtype)
    return _shaped(X, rng)


def _shaped(X: Any, rng: Generator) -> Any:
    how = rng.integers(24)
    ways: dict[int, Callable[[], Any]] = {
        0: lambda: np.asfortranarray(X),
        1: lambda: np.repeat(X, 2, axis=0)[::2],
        2: lambda: X[::-1, ::-1],
        3: lambda: np.broadcast_to(X[:1], X.shape),
        4: lambda: X[:, : rng.integers(N_COLUMNS)],
        5: lambda: np.hstack([X, X]),
        6: lambda: X[: rng.integers(3)],
        7: lambda: X[0],
        8: lambda: X[:, :, None],
        9: lambda: X[0, 0],
        10: lambda: np.ma.masked_array(X, rng.random(X.shape) < 0.2),
        11: lambda: X.tolist(),
        12: lambda: [row[: 1 + k % N_COLUMNS] for k, row in enumerate(X.tolist())],
        13: lambda: tuple(map(tuple, X.tolist())),
        14: lambda: [dict(enumerate(row)) for row in X.tolist()],
        15: lambda: (row for row in X.tolist()),
        16: lambda: np.repeat(X, 40, axis=0),
    }
    return ways.get(int(how), lambda: X)()


def _dressed(values: Any, rng: Generator) -> Any:
    dtypes = (str, "S", bool, "O", "M8[s]", ">i8")
    others = (values.tolist(), tuple(values.tolist()), values[::-1], iter(values))
    return pick(rng, (*others, *(values.astype(dtype) for dtype in dtypes)))


def _strange(rng: Generator) -> Any:
    X = _numbers(rng)
    records = np.zeros(N_ROWS, [("a", "f4"), ("b", pick(rng, ("i8", "U3", "O", "V2", "M8[s]")))])
    return pick(rng, (object(), records, memoryview(X), X.tobytes(), "X", None, {}, {"a": X[:, 0]}, [], [[]], {1, 2}, 3,
                      [X, X], range(5), np.matrix(X)))  # fmt: skip


# -- tables ---------------------------------------------------------------------------------------------------------


def _columns(rng: Generator) -> dict[str, Any]:
    n = range(N_ROWS)
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: _numbers(rng)[:, 0],
        lambda: _numbers(rng)[:, 0].astype("f4"),
        lambda: pa.array([pick(rng, ("red", "green", "", "\x00", None)) for _ in n], pa.string()),
        lambda: pa.array([pick(rng, ("red", "green", None)) for _ in n]).dictionary_encode(),
        lambda: pa.array([pick(rng, (True, False, None)) for _ in n], pa.bool_()),
        lambda: pa.array(
            [int(v) for v in rng.integers(-(2**62), 2**62, N_ROWS)], pa.timestamp(pick(rng, ("s", "ms", "ns")))
        ),
        lambda: pa.array(rng.integers(-(2**31), 2**31, N_ROWS), pa.int32()).cast(pa.date32()),
        lambda: pa.array(rng.integers(0, 86_400, N_ROWS).astype("i4"), pa.time32("s")),
        lambda: pa.array([[1.0] * int(rng.integers(1, 3)) for _ in n]),
        lambda: pa.array([[1.0, np.inf]] * N_ROWS, pa.list_(pa.float64(), 2)),
        lambda: pa.array([{"q": 1}] * N_ROWS),
        lambda: pa.array([b"\xff\x00"] * N_ROWS),
        lambda: pa.nulls(N_ROWS),
        lambda: pa.array(rng.integers(0, 2**63, N_ROWS).astype("u8") * 2, pa.uint64()),
        lambda: pa.array([decimal.Decimal(int(v)) for v in rng.integers(0, 99, N_ROWS)], pa.decimal128(9)),
        lambda: pa.array(rng.random(N_ROWS).astype("f2"), pa.float16()),
    )
    return {f"x{k}": pick(rng, kinds)() for k in range(N_COLUMNS)}


def _arrow(rng: Generator) -> Any:
    made = pa.table(_columns(rng))
    how = rng.integers(6)
    if how == 0:
        return made.rename_columns(["same"] * N_COLUMNS)
    if how == 1:
        return made.rename_columns(
            [pick(rng, ("", "\x00", "a\nb", "=1", "x" * 20_000)) + str(k) for k in range(N_COLUMNS)]
        )
    if how == 2:
        return pa.concat_tables([made.slice(0, 7), made.slice(3, 0), made.slice(7)])
    return made


def _frame(rng: Generator) -> Any:
    made = _arrow(rng)
    try:
        return made.to_pandas() if rng.random() < 0.5 else pl.from_arrow(made)
    except Exception:  # noqa: BLE001 - not every table is a frame
        return made


# -- matrices of scipy --------------------------------------------------------------------------------------------


_STARTS = ("data", "indices", "indptr")
_PARTS = {"csr": _STARTS, "csc": _STARTS, "bsr": _STARTS, "coo": ("data", "row", "col"), "dia": ("data", "offsets")}


def _sparse(rng: Generator, n_columns: int = N_COLUMNS) -> Any:
    kind = pick(rng, ("csr", "csr", "csr", "csc", "coo", "bsr", "dia", "lil", "dok"))
    form = getattr(sparse, f"{kind}_{pick(rng, ('matrix', 'array'))}")
    values = _numbers(rng)[:, :n_columns]
    return _damage(form(values * (rng.random(values.shape) < 0.5)), rng)


def _damage(made: Any, rng: Generator) -> Any:
    """The matrix with other arrays in it; from here on nothing of scipy may touch it."""
    if made.format in ("lil", "dok"):
        return _damage_python(made, made.format, rng)
    for _ in range(rng.integers(3)):
        part = pick(rng, _PARTS[made.format])
        if part in ("row", "col") and made.ndim == 1:
            part = "coords"
        values = np.array(made.coords[0] if part == "coords" else getattr(made, part))
        try:
            damaged = _damaged(values, part == "data", rng)
            setattr(made, part, (damaged,) if part == "coords" else damaged)
        except Exception:  # noqa: BLE001 - scipy itself refuses it
            continue
    return made


def _damaged(values: Any, is_data: bool, rng: Generator) -> Any:
    flat = values.reshape(-1)
    how = rng.integers(9)
    if how < 4 and flat.size:
        flat[rng.integers(flat.size)] = (
            pick(rng, NUMBERS) if is_data else np.array(pick(rng, INDICES)).astype(values.dtype)
        )
    elif how == 4:
        return values[:-1]
    elif how == 5:
        return np.concatenate([values, values[-1:]])
    elif how == 6:
        return values[::-1].copy()
    elif how == 7:
        return values.astype(
            pick(rng, ("f4", "f2", "longdouble", "i1", "u1", "i8", "u8", "O", "c16", "U3", ">i4", "?"))
        )
    else:
        return values[..., None] if rng.random() < 0.5 else values[:0]
    return values


def _damage_python(made: Any, kind: str, rng: Generator) -> Any:
    if rng.random() < 0.3:
        return made
    if kind == "lil":
        made.rows[0] = pick(rng, ([10**6], [-1], [1, 0], [0, 0], ["a"], [0.5], None, [2**70]))
        made.data[0] = pick(rng, ([1.0], [1.0, 2.0], ["a"], [None], [np.nan]))
    else:
        made._dict[pick(rng, ((0, 10**6), (-1, 0), (10**30, 0), (0.5, 1), "a", (0,), (1, 1)))] = pick(
            rng, (1.0, "a", None)
        )
    return made


_TABLES: tuple[Callable[[Generator], Any], ...] = (_array, _array, _array, _arrow, _frame, _sparse, _sparse, _strange)
