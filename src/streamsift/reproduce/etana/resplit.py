"""How much of a difference on MLL is the fifteen rows it is judged on? ETANA and F-ETANA over many splits of it."""

from __future__ import annotations

from functools import partial

import numpy as np

from streamsift.reproduce.etana.data import DATA_SETS, folder_of, load, splits
from streamsift.reproduce.etana.tables import METHODS, PRICE, TITLE, EtanaMeasured, measure
from streamsift.reproduce.result import Options, Progress, Result

NAME, REPEATS = "MLL", 20


def resplit(options: Options, progress: Progress) -> Result:
    """The cost of a row on the given split and on as many stratified ones of the same size, method by method."""
    from sklearn.model_selection import StratifiedShuffleSplit

    folder = folder_of(options)
    data = next(one for one in DATA_SETS if one.name == NAME)
    X, y = load(folder, data)
    given = list(splits(data, y, options.seed))
    repeats = options.n_repeats(REPEATS)
    drawn = StratifiedShuffleSplit(repeats, train_size=len(given[0][0]), random_state=options.seed)
    parts = [*given, *drawn.split(np.zeros((len(y), 1)), y)]
    found: dict[str, list[EtanaMeasured]] = {}
    for number, (method, make) in enumerate(METHODS.items()):
        for place, part in enumerate(parts):
            found.setdefault(method, []).append(measure(X, y, [part], partial(make, options.seed)))
            progress(number * len(parts) + place + 1, len(METHODS) * len(parts))
    rows = []
    for method, every in found.items():
        costs = np.array([one.cost for one in every[1:]])
        rows.append(
            [
                method,
                f"{every[0].accuracy:.3f}",
                f"{every[0].features:.2f}",
                f"{every[0].cost:.4f}",
                f"{np.mean([one.accuracy for one in every[1:]]):.3f}",
                f"{np.mean([one.features for one in every[1:]]):.2f}",
                f"{costs.mean():.4f}",
                f"{costs.std(ddof=1) / np.sqrt(len(costs)):.4f}",
            ]
        )
    n_test = len(given[0][1])
    return Result(
        title=f"{NAME}: F-ETANA and ETANA over {repeats} splits",
        lead=f"{TITLE} The {len(y)} rows of {NAME} drawn anew into {len(given[0][0])} to train and {n_test} to judge, "
        f"{repeats} times; every feature costs {PRICE}, every mistake 1; seed {options.seed}.",
        note=f"One mistake on the {n_test} rows of the given split costs {1 / n_test:.3f} per row. " + _above(found),
        columns=["method", *(f"{name}, given split" for name in ("accuracy", "features", "cost")),
                 *(f"{name}, mean" for name in ("accuracy", "features", "cost")), "standard error of the cost"],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[],
    )  # fmt: skip


def _above(found: dict[str, list[EtanaMeasured]]) -> str:
    """How much dearer F-ETANA is, on the given split and over all drawn ones."""
    words = []
    for choices, suffix in (("the authors' choices", ""), ("our defaults", ", our defaults")):
        grid, planes = found[f"ETANA{suffix}"], found[f"F-ETANA{suffix}"]
        given = planes[0].cost / grid[0].cost - 1.0
        gaps = np.array([one.cost - other.cost for one, other in zip(planes[1:], grid[1:], strict=True)])
        share = np.mean([one.cost for one in planes[1:]]) / np.mean([one.cost for one in grid[1:]]) - 1.0
        error = gaps.std(ddof=1) / np.sqrt(len(gaps))
        words.append(
            f"With {choices} a row costs {given:+.0%} with F-ETANA on the given split, {share:+.0%} over all drawn "
            f"ones (difference {gaps.mean():+.4f}, standard error {error:.4f})."
        )
    return " ".join(words)
