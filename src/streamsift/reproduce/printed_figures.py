"""What the five papers draw: every figure, the exhibits that measure it, and a check of each thing said of it.

No coordinates are published, so the verdict on a figure is how many of its claims hold. The sentences are those of
`published/`; `taken_as` says what was taken where their words leave open how much is meant, and `not_judged` why a
claim has no check. Figures that show nothing measured (diagrams, an algorithm) are listed as such.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamsift.reproduce import figure_checks as checks
from streamsift.reproduce.abfs import checks as abfs
from streamsift.reproduce.figure_checks import FigureCheck

FIGURE_WORDS = (
    "holds", "holds in part", "does not hold", "not judged", "nothing measured", "failed", "not run"
)  # fmt: skip
FIGURE_RULE = (
    "Of figures no coordinates are published, so their claims are judged: a figure holds when all of its claims that "
    "could be judged hold here, in part when some do."
)


@dataclass(frozen=True)
class FigureClaim:
    """A sentence about a figure, what its words were taken as, and the check; or why there is none."""

    sentence: str
    taken_as: str = ""
    check: FigureCheck | None = None
    not_judged: str = ""


@dataclass(frozen=True)
class PrintedFigure:
    """A figure: paper, name in `published/`, what it shows, the exhibits that measure it, and what is said of it.

    `schematic` says what is drawn where nothing is measured.
    """

    paper: str
    name: str
    what: str
    exhibits: tuple[str, ...] = ()
    claims: tuple[FigureClaim, ...] = ()
    schematic: str = ""


SELECTED_MEANS = {
    f"{measure}, all widths": name for measure, name in (("SA", "HDDM-A"), ("RRF", "ADWIN"), ("CCP", "HDDM-W"))
}

FIGURES = (
    PrintedFigure("fires", "figure1", "the graphical model", schematic="a diagram"),
    PrintedFigure("fires", "figure2", "the framework", schematic="a diagram"),
    PrintedFigure(
        "fires", "figure3", "weights and selected pixels on MNIST", ("figure 3",),
        (
            FigureClaim(
                "FIRES weights show the shape of the positive digit after 1000 instances",
                "FIRES-ANN selects at least twice as many pixels of the digit as chance, for 3, 8 and 9",
                checks.shows_the_digit(("FIRES-ANN",), shows=True),
            ),
            FigureClaim(
                "OFS, FSDS and EFS do not show a meaningful pattern", "none of them does so for all three digits",
                checks.shows_the_digit(("OFS", "FSDS", "EFS"), shows=False),
            ),
        ),
    ),
    PrintedFigure(
        "fires", "figure4", "accuracy and stability over time", ("figure 4",),
        (
            FigureClaim(
                "all selectors reach similar accuracy", "mean accuracies on Gisette at most 0.1 apart",
                checks.alike("mean accuracy", "Gisette", 0.1),
            ),
            FigureClaim(
                "the FIRES variants raise stability over time; the same is said of the other sets",
                "the last window is at least as stable as the first, with every variant on every set",
                checks.stability_rises,
            ),
        ),
    ),
    PrintedFigure(
        "fires", "figure5", "accuracy against stability", ("figure 5", "table 3"),
        (
            FigureClaim(
                "FIRES-GLM and FIRES-ANN lie in the top region",
                "the sum of accuracy and stability is at most 0.1 below the best", checks.in_top_region,
            ),
            FigureClaim("on every data set at least one FIRES variant does", "the same", checks.some_variant_on_top),
        ),
    ),
    PrintedFigure(
        "fires", "figure6", "the uncertainty penalty", ("figure 6",),
        (
            FigureClaim(
                "stability first rises with lambda_s and falls for lambda_s > 1",
                "the most stable penalty is above the least one and at most 1, and those above 1 are less stable",
                checks.penalty_helps_up_to_one,
            ),
            FigureClaim(
                "0.01 gave the best balance on all sets",
                "the sum of accuracy and stability is at most 0.01 below the best on every set",
                checks.penalty_balances,
            ),
            FigureClaim("other sets behave alike", "the first claim holds on each", checks.penalty_alike),
        ),
    ),
    PrintedFigure(
        "investing", "figure1", "the algorithm",
        claims=(
            FigureClaim(
                "wealth never becomes negative",
                not_judged="true by construction: a bid is at most half of the wealth",
            ),
            FigureClaim(
                "the bid w/(2i) is the slowest decrease that still uses all wealth in the limit",
                not_judged="a limit that section 2.1 derives, nothing to measure",
            ),
        ),
        schematic="the steps of the algorithm",
    ),
    PrintedFigure(
        "investing", "figure2", "density of the optimal code", ("figure 2",),
        (
            FigureClaim(
                "beyond the threshold the density is twice the null density, inside it is (1-2a)/(1-a) times the null "
                "density, a being the null tail area",
                "such a density has mass 1, and Investing has that threshold", checks.density_is_a_code,
            ),
            FigureClaim(
                "a skipped feature costs about a bits, an added one gains 1 bit",
                "within a tenth, for a up to 0.05", checks.bits_of_the_code,
            ),
        ),
    ),
    PrintedFigure("etana", "figure1", "features common to all instances, or chosen for each", schematic="a diagram"),
    PrintedFigure(
        "etana", "figure2", "cost of the best decision", ("figure 2",),
        (
            FigureClaim(
                "concave, continuous, piecewise linear, at most as many pieces as classes",
                check=checks.concave_in_three_pieces,
            ),
        ),
    ),
    PrintedFigure(
        "etana", "figure3", "where to stop, MLL", ("figure 3",),
        (
            FigureClaim(
                "three threshold curves, the most there can be", "after 4 and after 5 features",
                checks.of_every_stage("curves", 3, "curves"),
            ),
            FigureClaim(
                "every corner of the simplex lies in a stopping region",
                check=checks.of_every_stage("corners that stop", 3, "corners stop"),
            ),
        ),
    ),
    PrintedFigure(
        "etana", "figure4", "the number of bins", ("figure 4",),
        (
            FigureClaim(
                "accuracy and number of features hardly depend on V",
                "on every set accuracy varies by at most 0.1, features by at most half of their mean",
                checks.bins_hardly_matter,
            ),
            FigureClaim("MLL accuracy drops from V = 50 to V = 100", check=checks.mll_drops),
            FigureClaim(
                "training time grows linearly in V", "correlation of at least 0.95 on every set",
                checks.time_linear_in_bins,
            ),
        ),
    ),
    PrintedFigure(
        "etana", "figure5", "F-ETANA against ETANA by classes", ("figure 5",),
        (
            FigureClaim(
                "F-ETANA trains far faster than ETANA as classes grow (Car 36.743 s against 1167.5 s, Lung2 7.713 "
                "against 715.03)",
                "faster with more than two classes, and the more so with the most", checks.planes_train_faster,
            ),
            FigureClaim(
                "accuracies are about equal", "at most 0.05 apart on every set", checks.planes_as_accurate
            ),
        ),
    ),
    PrintedFigure(
        "etana", "section5.3", "prices swept (section 5.3, not drawn in the paper)", ("figure 6",),
        (
            FigureClaim(
                "accuracy rises with the number of features",
                "ETANA is more accurate without a price than with the largest, on every set",
                checks.more_features_more_accurate,
            ),
        ),
    ),
    PrintedFigure(
        "abfs", "figure1", "ABFS by grace period", ("figure 1",),
        (
            FigureClaim(
                "accuracy hardly differs, best with gp 500 or 1000", "means at most 2 points apart",
                checks.alike("accuracy, all widths", "mean", 2.0, best=("500", "1000")),
            ),
            FigureClaim(
                "gp 500 is steadiest in SA and RRF", "the smallest deviation over all runs", abfs.steadiest
            ),
            FigureClaim(
                "spread of 50 % to over 90 % comes mostly from BG3 and RTG",
                "without the two the variances of accuracy and SA are less than half", abfs.hard_streams_spread,
            ),
        ),
    ),
    PrintedFigure(
        "abfs", "figure2", "ABFS by threshold", ("figure 2",),
        (
            FigureClaim("0.01 and 0.05 give higher accuracy than 0.1", "in the mean", abfs.small_thresholds_better),
            FigureClaim("larger theta: CCP rises, RRF falls", "in the mean", abfs.threshold_trades),
        ),
    ),
    PrintedFigure(
        "abfs", "figure3", "ABFS by drift detector", ("figure 3",),
        (
            FigureClaim(
                "accuracy hardly differs", "means at most 2 points apart",
                checks.alike("accuracy, all widths", "mean", 2.0),
            ),
            FigureClaim(
                "HDDM-A slightly best in SA, ADWIN in RRF, HDDM-W in CCP", "in the mean",
                checks.largest_of(SELECTED_MEANS, "mean"),
            ),
        ),
    ),
    PrintedFigure(
        "abfs", "figure4", "random selection", ("figure 4", "figure 5"),
        (
            FigureClaim(
                "random SA varies widely through RRF",
                "SA deviates by 0.05 or more, RRF at least five times as much as CCP, at every share below all",
                abfs.random_varies,
            ),
            FigureClaim(
                "ABFS is better than random in all components",
                "the means over the streams, against those over all shares drawn", abfs.better_than_random,
            ),
        ),
    ),
    PrintedFigure(
        "abfs", "figure5", "accuracy and selection by stream", ("figure 5",),
        (
            FigureClaim(
                "BG3 and RTG far below the rest", "by 5 points of accuracy and 0.05 of SA", abfs.hard_streams_below
            ),
            FigureClaim(
                "SA of BG3 and RTG is below 0.7, the value of selecting everything",
                check=abfs.hard_streams_below_everything,
            ),
        ),
    ),
    PrintedFigure(
        "abfs", "figure6", "the ten best configurations", ("figure 6",),
        (FigureClaim("best on average: gp 500, theta 0.01, ADWIN", check=abfs.chosen_is_best),),
    ),
    PrintedFigure(
        "abfs", "figure7", "accuracy against selection accuracy", ("figure 7",),
        (
            FigureClaim(
                "higher SA goes with higher accuracy", "a positive rank correlation with every learner",
                abfs.selection_goes_with_accuracy,
            ),
            FigureClaim(
                "most ABFS points lie where both are high", "an SA above 0.7 and an accuracy above 70 percent",
                abfs.most_points_high,
            ),
            FigureClaim(
                "learners profit differently from the same set", "mean accuracies at least 2 points apart",
                abfs.learners_profit_differently,
            ),
        ),
    ),
    PrintedFigure(
        "abfs", "figure8", "stability", ("figure 8",),
        (
            FigureClaim(
                "cross-validation highest, bootstrap between, split-validation lowest", "on average over the streams",
                abfs.stability_order,
            ),
        ),
    ),
    PrintedFigure(
        "abfs", "figure9", "features in use over time", ("figure 9",),
        (
            FigureClaim(
                "BG1 (3 relevant): HT keeps growing, HAT drops features at drifts, ABFS keeps at most 4",
                check=abfs.trees_on_bg1,
            ),
            FigureClaim(
                "SEA: HAT grows like HT, ABFS stays small",
                "HAT ends with nine tenths of its most features or more; ABFS keeps at most 5", abfs.trees_on_sea,
            ),
            FigureClaim("drift flags of ABFS are the same for HT and HAT", check=abfs.same_drifts),
        ),
    ),
    PrintedFigure(
        "abfs", "figure10", "the ten best configurations, real data", ("figure 10",),
        (
            FigureClaim(
                "small grace periods with ADWIN lead; chosen: gp 100, theta 0.05, ADWIN",
                "the best, and three of the five best, have ADWIN and a grace period of 100 or 200",
                abfs.small_periods_lead,
            ),
        ),
    ),
    PrintedFigure(
        "abfs", "figure11", "features in use on SPAM", ("figure 11",),
        (
            FigureClaim(
                "HAT alone 16, with ABFS at most 5", "alone within a tenth", abfs.spam_features("HAT", 16, exact=False)
            ),
            FigureClaim(
                "HT alone 10, with ABFS 5", "alone within a tenth", abfs.spam_features("HT", 10, exact=True)
            ),
        ),
    ),
    PrintedFigure("screening", "figure1", "the multi-level summary", schematic="a diagram"),
    PrintedFigure(
        "screening", "figure2", "true features found over time", ("figure 2",),
        (
            FigureClaim(
                "the five methods are much alike; Gini needs more samples at the start",
                "at most 0.05 apart in the second half; Gini least in the first tenth", checks.scores_alike,
            ),
            FigureClaim(
                "faster shifts lower the detection rate", "in the second half, from l to l", checks.fast_shifts_cost
            ),
            FigureClaim(
                "a suitable fading factor restores it for faster shifts", "raises it at every l below 2,000",
                checks.fading_restores,
            ),
        ),
    ),
    PrintedFigure(
        "screening", "figure3", "true features found by number selected", ("figure 3",),
        (
            FigureClaim(
                "adaptive methods beat non-adaptive ones for all four shift periods",
                "every score finds more with fading, averaged over the numbers selected", checks.fading_beats_none,
            ),
            FigureClaim(
                "the slower the shift the fewer features are needed for full detection",
                "for a rate of 0.99, the mean over the scores", checks.slow_shifts_need_fewer,
            ),
            FigureClaim(
                "even at 250 adaptive methods detect all true features with fewer selected",
                "for a rate of 0.99, every score", checks.fewer_at_the_fastest,
            ),
        ),
    ),
)  # fmt: skip
