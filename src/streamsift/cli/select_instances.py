"""`streamsift select` with a method that buys the values of one instance at a time: accuracy against features used."""

from __future__ import annotations

import sys
import warnings
from typing import Any


def select_instances(data: str, model: Any, about: dict[str, Any], costs: str | None) -> dict[str, Any]:
    """Fit on a random 70 % of the rows and judge on the rest; prices may come from a CSV file."""
    import time

    from streamsift.core.exceptions import OneClassWarning
    from streamsift.instances.prices import read_prices
    from streamsift.instances.trial import try_out
    from streamsift.streams import open_stream

    start = time.perf_counter()
    rows = next(open_stream(data, target=about["target"]).batches(sys.maxsize))  # all of them: it is fitted at once
    if costs is not None:
        names = rows.feature_names or tuple(f"x{k}" for k in range(rows.X.shape[1]))
        model.set_params(feature_cost=read_prices(costs, names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)
        trial = try_out(model, rows)
    return {"complete": True, "seconds": round(time.perf_counter() - start, 3), **trial.as_dict()}


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
