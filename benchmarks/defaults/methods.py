"""The settings that are compared: for each table the default, which the others are held against, and all of them."""

from __future__ import annotations

from typing import Any

from benchmarks.defaults.halves import Choose, by_columns, by_rows, by_rows_its_own_number
from streamsift import ABFS, EFS, FIRES, FSDS, OFS, OFSA3M, OSFS, SAOLA, FastOSFS, OFSDensity, Screener

Table = tuple[str, dict[str, Choose]]


def _fires() -> Table:
    methods: dict[str, Choose] = {
        "glm": by_rows(FIRES),
        "glm (paper: minmax)": by_rows(FIRES.paper),
        "glm, unscaled": by_rows(FIRES, scale=None),
        "glm, learning rates 0.1": by_rows(FIRES, learning_rate_mu=0.1, learning_rate_sigma=0.1),
        "glm, as net and tree": by_rows(FIRES, initial_sigma=0.1, learning_rate_mu=1.0),
    }
    for model in ("ann", "sdt"):
        settings: dict[str, Any] = {"model": model, "random_state": 0}
        methods |= {
            model: by_rows(FIRES, **settings),
            f"{model}, three epochs": by_rows(FIRES, epochs=3, **settings),
            f"{model}, mean": by_rows(FIRES, aggregation="mean", **settings),
            f"{model}, minmax": by_rows(FIRES, scale="minmax", **settings),
            f"{model} (paper)": by_rows(FIRES.paper, **settings),
            f"{model}, squares, else paper": by_rows(FIRES.paper, aggregation="squares", **settings),
            f"{model}, standardised, else paper": by_rows(FIRES.paper, scale="standard", **settings),
        }
    return "glm", methods


ROW_TABLES: dict[str, Table] = {
    "fires": _fires(),
    "abfs": (
        "abfs",
        {"abfs": by_rows_its_own_number(ABFS), "abfs, threshold=0.05": by_rows_its_own_number(ABFS, threshold=0.05)}
        | {
            f"grace_period={grace}, threshold={threshold}": by_rows_its_own_number(
                ABFS, grace_period=grace, threshold=threshold
            )
            for grace in (50, 100, 200, 500)
            for threshold in (0.01, 0.05)
        },
    ),
    "rivals": (
        "fires",
        {
            "fires": by_rows(FIRES),
            "ofs": by_rows(OFS),
            "efs": by_rows(EFS),
            "fsds": by_rows(FSDS),
            "abfs": by_rows_its_own_number(ABFS),
            "fires:ann": by_rows(FIRES, model="ann", random_state=0),
            "fires:sdt": by_rows(FIRES, model="sdt", random_state=0),
        }
        | {f"screen:{name}": by_rows(Screener, criterion=name) for name in ("t_score", "chi2", "gini")},
    ),
}
COLUMN_TABLES: dict[str, Table] = {
    "columns": (
        "osfs",
        {
            "osfs": by_columns(OSFS),
            "osfs, alpha=0.05": by_columns(OSFS, alpha=0.05),
            "osfs, alpha=0.001": by_columns(OSFS, alpha=0.001),
            "fast_osfs": by_columns(FastOSFS),
            "fast_osfs, alpha=0.05": by_columns(FastOSFS, alpha=0.05),
            "fast_osfs, alpha=0.001": by_columns(FastOSFS, alpha=0.001),
            "saola": by_columns(SAOLA),
            "saola, alpha=0.05": by_columns(SAOLA, alpha=0.05),
            "saola, alpha=0.001": by_columns(SAOLA, alpha=0.001),
            "saola, threshold=0.01": by_columns(SAOLA, threshold=0.01),
            "ofs_density": by_columns(OFSDensity),
            "ofs_a3m": by_columns(OFSA3M),
        },
    ),
}
