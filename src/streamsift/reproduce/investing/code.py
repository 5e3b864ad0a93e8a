"""Figure 2 of the investing paper: the density of the t statistic that the optimal code of section 2.2 implies.

A bid lets the code be wrong about a share a of the useless columns, those whose t lies beyond t_a. There the density is
twice that of the null model, which saves one bit; inside it is (1 - 2a) / (1 - a) times the null density, which is what
the code costs where a column is not added. Integrated numerically, and compared with the threshold that
`Investing(coding="tail")` has for a bid of a.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from streamsift.columns.investing import Investing
from streamsift.reproduce.result import FigureCurve, Options, Panel, Progress, Result, Series

TAILS = (0.01, 0.02, 0.05, 0.1, 0.2)  # a
DRAWN = 0.1
N_ROWS = 10_000
MEASURED = (
    "mass", "mass beyond the threshold", "ratio beyond", "ratio inside", "bits gained, added", "bits lost, skipped",
    "threshold", "threshold of Investing",
)  # fmt: skip


def code_density(t: float, tail: float) -> float:
    """The density of the code at a t statistic.

    >>> round(code_density(5.0, 0.1) / float(norm.pdf(5.0)), 6), round(code_density(0.0, 0.1) / float(norm.pdf(0.0)), 6)
    (2.0, 0.888889)
    """
    ratio = 2.0 if abs(t) > norm.isf(tail / 2) else (1 - 2 * tail) / (1 - tail)
    return float(ratio * norm.pdf(t))


def figure_2(options: Options, progress: Progress) -> Result:
    """The density, and what it comes to for bids of different size."""
    rows, series = [], []
    for done, tail in enumerate(TAILS, start=1):
        found = measured(tail)
        rows.append([f"{tail:g}", *(f"{value:.4f}" for value in found)])
        series.append(Series("code", f"a = {tail:g}", list(MEASURED), found))
        progress(done, len(TAILS))
    places = [k / 20 for k in range(-80, 81)]
    null, code = norm.pdf(places).tolist(), [code_density(t, DRAWN) for t in places]
    words = f"a = {DRAWN:g}: beyond {norm.isf(DRAWN / 2):.2f} the code's density is twice that of the null model."
    return Result(
        title="Figure 2: the density of the optimal code",
        lead="Ungar, Zhou, Foster, Stine, Streaming Feature Selection using IIC. A payoff of one bit; a is the share "
        "of useless columns that would be added.",
        note="The paper draws the density without numbers, and says that a skipped column costs about a bits. "
        "log((1 - a) / (1 - 2a)) is about a in nats, which are 1.44 bits each. The last column is the threshold of "
        f"Investing(coding='tail') for a bid of a with {N_ROWS:,} rows, as a t statistic.",
        columns=["a", *MEASURED],
        rows=rows,
        x_label="t statistic",
        dashed_means="",
        panels=[
            Panel(
                "Density of the t statistic",
                words,
                f"Density of the code and of the null model over the t statistic. {words}",
                [
                    FigureCurve("code", "code", False, places, code),
                    FigureCurve("null model", "null model", False, places, null),
                ],
            )
        ],
        series=series,
    )


def measured(tail: float) -> list[float]:
    """The values called MEASURED for a share a."""
    threshold = float(norm.isf(tail / 2))

    def mass(first: float, last: float) -> float:
        return float(quad(code_density, first, last, args=(tail,))[0])

    inside, beyond = mass(-threshold, threshold), mass(-np.inf, -threshold) + mass(threshold, np.inf)
    within, out = (code_density(t, tail) / float(norm.pdf(t)) for t in (0.5 * threshold, 1.5 * threshold))
    gained, lost = float(np.log2(out)), float(-np.log2(within))
    return [inside + beyond, beyond, out, within, gained, lost, threshold, investing_threshold(tail)]


def investing_threshold(bid: float) -> float:
    """The t statistic a first column must exceed where so much is bid on it; the bid is half of the wealth."""
    rng = np.random.default_rng(0)
    selector = Investing(coding="tail", wealth=2.0 * bid).begin(rng.normal(size=N_ROWS))
    gain = float(selector.offer(rng.normal(size=N_ROWS)).threshold)
    return float(np.sqrt((N_ROWS - 2) * np.expm1(gain / N_ROWS)))  # of n log(RSS before / RSS after)
