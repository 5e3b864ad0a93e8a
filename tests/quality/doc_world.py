"""What the examples in the documents may take for granted: data in memory, and files in the current folder.

An example that defines everything itself needs nothing of this. The others read like the reader's own program, in which
`X`, `y` and `batches` are there already; `names(page)` gives them, and `write_files` writes the files they open.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from streamsift import datasets

N_ROWS = 400


def _table(target: str, labels: tuple[str, str], seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N_ROWS)
    names = ["age", "hours", "rooms", "height", "weight", "noise", *(f"sensor {k}" for k in range(18))]
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, len(names))), columns=names)
    frame["age"] += 2 * y
    frame["hours"] += y
    frame["town"] = rng.choice(["Oslo", "Rome", "Bern"], N_ROWS)
    frame[target] = np.array(labels)[y]
    return frame


def write_files(folder: Path) -> None:
    """The tables that examples and command lines name."""
    _table("income", ("low", "high")).to_csv(folder / "people.csv", index=False)
    _table("income", ("low", "high")).to_csv(folder / "data.csv", index=False)
    _table("spam", ("ham", "spam")).drop(columns="town").to_csv(folder / "mail.csv", index=False)
    _table("bought", ("no", "yes")).to_csv(folder / "clicks.csv", index=False)
    datasets.load_clicks(n_rows=1000).write_csv(folder / "shop.csv")
    _table("bought", ("no", "yes"), 1).to_csv(folder / "monday.csv", index=False)
    _table("bought", ("no", "yes"), 2).to_csv(folder / "tuesday.csv", index=False)
    patients = _table("disease", ("no", "yes")).drop(columns="town")
    patients.to_csv(folder / "patients.csv", index=False)
    prices = [f"{name},0.01" for name in patients.columns if name != "disease"]
    (folder / "prices.csv").write_text("\n".join(["feature,price", *prices]) + "\n", encoding="utf-8")
    table = _table("y", ("no", "yes")).drop(columns="town")
    table.to_parquet(folder / "table.parquet")
    table.assign(y=table["y"] == "yes").astype({"y": int}).to_csv(folder / "table.csv", index=False)
    houses = _table("price", ("0", "1")).drop(columns="town")
    houses.assign(price=3.0 * houses["rooms"] + houses["noise"]).to_csv(folder / "houses.csv", index=False)
    table["country"] = np.resize(["no", "se"], N_ROWS)
    table["time"] = np.arange(N_ROWS) % 4 * N_ROWS + np.arange(N_ROWS)  # each of four parts has its own
    (folder / "data").mkdir()
    for part in range(4):
        table[part::4].to_parquet(folder / "data" / f"{part}.parquet")
    (folder / "wide").mkdir()
    sparse = {"indices": [[k % 9, 9] for k in range(40)], "values": [[1.0, 1.0 + k % 2] for k in range(40)]}
    pd.DataFrame({**sparse, "y": np.resize(["no", "yes"], 40)}).to_parquet(folder / "wide" / "rows.parquet")


def names(page: str) -> dict[str, Any]:
    """Names that the examples of a page use and do not define; the same data for every page, and a few of its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_ROWS)
    X = rng.normal(size=(N_ROWS, 6))
    X[:, 0] += 2 * y
    X[:, 1] += y
    cuts = range(0, N_ROWS, 100)
    known: dict[str, Any] = {
        "X": X,
        "y": y,
        "X_new": X[:50],
        "X_test": X[:50],
        "x": X[0],
        "acquire": lambda j: X[0, j],
        "batches": [(X[k : k + 100], y[k : k + 100]) for k in cuts],
        "column": X[:, 0],
        "block": X[:, 1:],
    }
    return known | _OWN.get(page, dict)()


def _abfs() -> dict[str, Any]:
    from sklearn.linear_model import SGDClassifier

    frame = _table("label", ("no", "yes"))
    rng = np.random.default_rng(1)
    X = frame[["age", "hours", "noise"]].assign(colour=rng.integers(0, 3, N_ROWS), country=rng.integers(0, 5, N_ROWS))
    y = frame["label"].to_numpy()

    class Model:  # takes any number of features, as a learner that is made anew after a drift does
        def __init__(self) -> None:
            self.learner = SGDClassifier()

        def partial_fit(self, X: pd.DataFrame, y: Any) -> None:
            self.learner.fit(X.to_numpy(), y)

    return {
        "batches": [(X[k : k + 100], y[k : k + 100]) for k in range(0, N_ROWS, 100)],
        "make_model": Model,
        "model": Model(),
        "errors": rng.random((20, 300)) < 0.2,
    }


def _compare() -> dict[str, Any]:
    from tests.contract.mean_gap import MeanGap

    from streamsift import Screener

    return {"Screener": Screener, "MySelector": MeanGap}


def _contributing() -> dict[str, Any]:
    from tests.contract.mean_gap import MeanGap

    return {"MyMethod": MeanGap}


def _fsds() -> dict[str, Any]:
    return {"batches": [X for X, _ in names("")["batches"]]}


def _osfs() -> dict[str, Any]:
    X = names("")["X"]
    return {"source": [(f"column {k}", X[:, k]) for k in range(X.shape[1])]}


def _real_streams() -> dict[str, Any]:
    frame = pd.DataFrame({"price": [1.0, 2.0], "shop": ["south", "north"]})
    return {"frame": frame, "seconds": time.time() + np.arange(float(N_ROWS))}


def _threads() -> dict[str, Any]:
    from streamsift import Screener

    return {"parts": [Screener("fisher").fit(X, y) for X, y in names("")["batches"]]}


def _columns_without_end() -> dict[str, Any]:
    class Query:
        def __init__(self, place: int) -> None:
            self.name, self.place = f"query {place}", place

        def run(self) -> Any:
            return names("")["X"][:, self.place]

    from streamsift import Investing

    return {"endless_queries": [Query(place) for place in range(6)], "Investing": Investing}


def _unbounded() -> dict[str, Any]:
    from streamsift import Screener

    return {"selector": Screener("fisher")}


_OWN = {
    "CONTRIBUTING.md": _contributing,
    "docs/methods/abfs.md": _abfs,
    "docs/methods/compare.md": _compare,
    "docs/methods/fsds.md": _fsds,
    "docs/methods/osfs.md": _osfs,
    "docs/real_streams.md": _real_streams,
    "docs/recipes/columns_without_end.md": _columns_without_end,
    "docs/threads.md": _threads,
    "docs/unbounded.md": _unbounded,
}
