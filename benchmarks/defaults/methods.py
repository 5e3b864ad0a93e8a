"""The settings that are compared, by table; "name, setting" is held against "name", the default."""

from __future__ import annotations

from typing import Any

from benchmarks.defaults.halves import Choose, by_columns, by_rows, by_rows_its_own_number
from streamsift import ABFS, EFS, FIRES, FSDS, OFS, OFSA3M, OSFS, SAOLA, FastOSFS, Joint, OFSDensity, Screener

Table = dict[str, Choose]

JOINT_RULES = ("forward", "mrmr", "ols", "lasso", "elastic_net", "mcp", "fsa")


def _fires() -> Table:
    methods: Table = {
        "glm": by_rows(FIRES),
        "glm (paper)": by_rows(FIRES.paper),
        "glm, unscaled": by_rows(FIRES, scale=None),
        "glm, learning rates 0.1": by_rows(FIRES, learning_rate_mu=0.1, learning_rate_sigma=0.1),
        "glm, as net and tree": by_rows(FIRES, initial_sigma=0.1, learning_rate_mu=1.0, epochs=3),
    }
    for model in ("ann", "sdt"):
        settings: dict[str, Any] = {"model": model, "random_state": 0}
        methods |= {
            model: by_rows(FIRES, **settings),
            f"{model}, one epoch": by_rows(FIRES, epochs=1, **settings),
            f"{model}, ten epochs": by_rows(FIRES, epochs=10, **settings),
            f"{model}, mean": by_rows(FIRES, aggregation="mean", **settings),
            f"{model}, minmax": by_rows(FIRES, scale="minmax", **settings),
            f"{model} (paper)": by_rows(FIRES.paper, **settings),
            f"{model}, squares, else paper": by_rows(FIRES.paper, aggregation="squares", **settings),
            f"{model}, standardised, else paper": by_rows(FIRES.paper, scale="standard", **settings),
        }
    return methods


ROW_TABLES: dict[str, Table] = {
    "fires": _fires(),
    "abfs": {
        "abfs": by_rows_its_own_number(ABFS),
        "abfs (paper)": by_rows_its_own_number(ABFS.paper),
        "abfs, threshold=0.05": by_rows_its_own_number(ABFS, threshold=0.05),
    }
    | {
        f"abfs, grace_period={grace}, threshold={threshold}": by_rows_its_own_number(
            ABFS, grace_period=grace, threshold=threshold
        )
        for grace in (50, 100, 200, 500)
        for threshold in (0.01, 0.05)
    },
    "rivals": {
        **{f"screen:{name}": by_rows(Screener, criterion=name) for name in ("t_score", "chi2", "gini")},
        "fires": by_rows(FIRES),
        "fires:ann": by_rows(FIRES, model="ann", random_state=0),
        "fires:sdt": by_rows(FIRES, model="sdt", random_state=0),
        "abfs": by_rows_its_own_number(ABFS),
        "ofs": by_rows(OFS),
        "efs": by_rows(EFS),
        "fsds": by_rows(FSDS),
    },
    "joint": {f"joint:{rule}": by_rows(Joint, rule=rule) for rule in JOINT_RULES} | {"fires": by_rows(FIRES)},
}


def _levels(name: str, make: Any) -> Table:
    levels = {0.05: f"{name}, alpha=0.05", 0.01: f"{name}, alpha=0.01", 0.001: f"{name}, alpha=0.001"}
    return {name: by_columns(make)} | {label: by_columns(make, alpha=alpha) for alpha, label in levels.items()}


COLUMN_TABLES: dict[str, Table] = {
    "columns": {
        **_levels("osfs", OSFS),
        **_levels("fast_osfs", FastOSFS),
        **_levels("saola", SAOLA),
        "saola, threshold=0.01": by_columns(SAOLA, threshold=0.01),
        "ofs_density": by_columns(OFSDensity),
        "ofs_density, tolerance=0": by_columns(OFSDensity, tolerance=0.0),
        "ofs_density, tolerance=0.1": by_columns(OFSDensity, tolerance=0.1),
        "ofs_a3m": by_columns(OFSA3M),
    },
}
