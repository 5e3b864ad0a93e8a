"""`streamsift select` with a method that buys the values of one instance at a time: accuracy against features used."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamsift.cli.output import OutputFolder

N_EXAMPLES = 6  # rows that are followed from purchase to purchase in the report


def select_instances(
    data: str, model: Any, about: dict[str, Any], costs: str | None, folder: OutputFolder | None
) -> dict[str, Any]:
    """Fit on a random 70 % of the rows and judge on the rest; prices may come from a CSV file."""
    import time

    from streamsift.core.exceptions import OneClassWarning
    from streamsift.instances.prices import read_prices
    from streamsift.instances.trial import try_out
    from streamsift.streams import open_stream

    start = time.perf_counter()
    stream = open_stream(data, target=about["target"], categorical=about["categorical"], ignore=about["ignore"])
    rows = next(stream.batches(sys.maxsize))  # all of them: it is fitted at once
    if costs is not None:
        names = rows.feature_names or tuple(f"x{k}" for k in range(rows.X.shape[1]))
        model.set_params(feature_cost=read_prices(costs, names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)
        trial = try_out(model, rows)
    found = {"complete": True, "seconds": round(time.perf_counter() - start, 3), **trial.as_dict()}
    _add_prices(found["bought"], model, rows)
    if folder is not None:
        from streamsift.report.purchases import instances_report

        found["examples"] = _examples(model, rows)
        folder.write("report.html", instances_report({**about, "parameters": model.get_params(), **found}))
    return found


def _add_prices(bought: list[dict[str, Any]], model: Any, rows: Any) -> None:
    """The price of each bought feature, beside how often it was bought."""
    from streamsift.instances.settings import feature_costs

    n_features = rows.X.shape[1]
    names = rows.feature_names or tuple(f"x{k}" for k in range(n_features))
    prices = dict(zip(names, feature_costs(model, n_features).tolist(), strict=True))
    for one in bought:
        one["price"] = prices[one["name"]]


def _examples(model: Any, rows: Any) -> list[dict[str, Any]]:
    """Some rows of the file, from the one that needed the fewest features to the one that needed the most."""
    import numpy as np

    needed = model.classify(replace(rows, y=None)).n_evaluated
    order = np.argsort(needed, kind="stable")
    chosen = dict.fromkeys(int(order[k]) for k in np.linspace(0, len(order) - 1, N_EXAMPLES).round().astype(int))
    found = []
    for row in chosen:
        way = model.explain(replace(rows, X=rows.X[[row]], y=None))
        end = way.steps[-1].choice
        steps = [
            {"feature": name, "probability": float(step.posterior[end]), "cost": float(step.cost)}
            for name, step in zip(way.names, way.steps, strict=True)
        ]
        found.append({"row": row + 1, "answer": str(way.label), "reason": way.reason, "steps": steps})
    return found


def print_trial(found: dict[str, Any]) -> None:
    """Accuracy, cost and features used, then how often each feature was bought."""
    from streamsift.cli.table import print_table

    used = found["features_used"]
    print_table(
        ["held-out rows", "accuracy", "mean cost", "features used", "least", "median", "most"],
        [
            [
                f"{found['rows_held_out']:,}", f"{found['accuracy']:.4f}", f"{found['mean_cost']:.4g}",
                f"{used['mean']:.2f}", f"{used['min']:g}", f"{used['median']:g}", f"{used['max']:g}",
            ]
        ],
        numeric=["held-out rows", "accuracy", "mean cost", "features used", "least", "median", "most"],
    )  # fmt: skip
    rows = [[str(k + 1), row["name"], f"{row['share']:.1%}"] for k, row in enumerate(found["bought"][:20])]
    print_table(["rank", "feature", "bought by"], rows, numeric=["rank", "bought by"])
