"""From how many values on categories are better screened: generated tables, by values per column and rows.

Six columns of categories and two of numbers; two of the former (a random effect for each value) and one of the latter
decide the class. How many of the three are found, and how many others, by joint:forward (each value is a column) and by
screen:mutual_info (a table of counts), both at a false discovery rate of 5 %.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streamsift import Joint, Screener

ROWS, VALUES, REPEATS = (1000, 3000, 10_000), (10, 20, 50, 100, 200), 10
TRUE = {"c0", "c1", "a"}
METHODS: dict[str, Callable[[], Any]] = {
    "joint:forward": lambda: Joint(n_features_to_select="fdr:0.05"),
    "screen:mutual_info": lambda: Screener(n_features_to_select="fdr:0.05"),
}
Found = dict[str, list[float]]  # method -> true and false features, on average


def made(n_values: int, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """A table, and its classes."""
    import pandas as pd

    codes = {f"c{k}": rng.integers(0, n_values, n_rows) for k in range(6)}
    numbers = rng.normal(size=(n_rows, 2))
    worth = 0.5 * numbers[:, 0] + sum(rng.normal(size=n_values)[codes[name]] for name in ("c0", "c1"))
    columns = {name: [f"v{code}" for code in column] for name, column in codes.items()}
    table = pd.DataFrame(columns | {"a": numbers[:, 0], "b": numbers[:, 1]})
    return table, (worth + rng.logistic(size=n_rows) > 0).astype(int)


def measure(n_values: int, n_rows: int, repeats: int = REPEATS) -> Found:
    """True and false features of each method, on average."""
    counts: dict[str, list[tuple[int, int]]] = {name: [] for name in METHODS}
    for repeat in range(repeats):
        table, y = made(n_values, n_rows, np.random.default_rng([n_rows, n_values, repeat]))
        for name, make in METHODS.items():
            chosen = set(make().fit(table, y).selected_)
            counts[name].append((len(chosen & TRUE), len(chosen - TRUE)))
    return {name: np.mean(pairs, axis=0).tolist() for name, pairs in counts.items()}


def table(found: dict[tuple[int, int], Found]) -> str:
    """A row for each number of rows and of values."""
    text = [
        "| rows | values per column | joint:forward: true, false | screen:mutual_info: true, false |",
        "|---|---|---|---|",
    ]
    for (rows, values), its in found.items():
        cells = " | ".join(f"{true:.1f}, {false:.1f}" for true, false in its.values())
        text.append(f"| {rows:,} | {values} | {cells} |")
    return "\n".join(text)
