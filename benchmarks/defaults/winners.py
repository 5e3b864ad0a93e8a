"""Which method is the default of `select`, and where each wins: every set there is, in three groups.

    named       sets that the proposal to make joint:forward the default was argued with: they confirm nothing
    others      the other sets that the tables of this folder use
    new         sets that no table of this folder has used before

The confirmation rests on the last two. Where two sets are the same measurements in another form, the second says so
in `TWICE`, and is left out of the means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.defaults.halves import CLEAR, Choose, Line, by_rows, by_rows_its_own_number, measure, wins_and_losses
from benchmarks.defaults.sets import NAMES, Halves
from streamsift import ABFS, FIRES, Joint, Screener

NAMED = ("isolet", "har_binary", "gisette_valid", "covtype", "weather")
NEW = (
    "usenet",
    "w1a",
    "dorothea",
    "11_tumors",
    "chowdary",
    "cns_pomeroy",
    "dlbcl_shipp",
    "glioma",
    "leukemia2",
    "lung_cancer_181",
    "lymphoma_62",
    "nakayama",
    "nci9_disc",
    "su_102",
    "allaml",
    "basehock_full",
    "colon_disc",
    "leukemia_disc",
    "lymphoma_disc",
    "pcmac_full",
    "prostate_singh",
)
TWICE = {
    "allaml": "leukemia_golub",
    "leukemia2": "mll",
    "leukemia_disc": "leukemia_golub",
    "basehock_full": "basehock",
    "pcmac_full": "pcmac",
    "colon_disc": "colon",
    "lymphoma_disc": "lymphoma_62",
    "prostate_singh": "prostate_ge",
}
SETS = (*NAMES, *NEW)
THE_ONE = "joint:forward"
MOST_TOLD = 4  # sets on which a method leads or trails most
METHODS: dict[str, Choose] = {
    "fires": by_rows(FIRES),
    "abfs": by_rows_its_own_number(ABFS),
    "joint:forward": by_rows(Joint),
    "joint:mrmr": by_rows(Joint, rule="mrmr"),
    "joint:lasso": by_rows(Joint, rule="lasso"),
    "joint:fsa": by_rows(Joint, rule="fsa"),
    "joint:forward, fdr:0.05": by_rows_its_own_number(Joint, n_features_to_select="fdr:0.05"),
    "joint:forward, BIC": by_rows_its_own_number(Joint, n_features_to_select=None),
    "screen:mutual_info, fdr:0.05": by_rows_its_own_number(Screener, n_features_to_select="fdr:0.05"),
}
Lines = dict[str, Line]


def run(sets: Iterator[Halves], say: Callable[[str], None]) -> Lines:
    """All methods on all sets."""
    return measure(sets, METHODS, say)


def groups(names: list[str]) -> dict[str, list[str]]:
    """The sets of each group; those that are there twice belong to none.

    >>> groups(["isolet", "mnist", "w1a", "allaml"])
    {'named': ['isolet'], 'others': ['mnist'], 'new': ['w1a'], 'others and new': ['mnist', 'w1a']}
    """
    found: dict[str, list[str]] = {"named": [], "others": [], "new": []}
    for name in names:
        if name not in TWICE:
            found["named" if name in NAMED else "new" if name in NEW else "others"].append(name)
    return found | {"others and new": found["others"] + found["new"]}


def table(lines: Mapping[str, Line]) -> str:
    """Means and wins by group, where each method wins, and the accuracies set by set."""
    return f"{means(lines)}\n\n{where(lines)}\n\n{set_by_set(lines)}"


def rivals_of(lines: Mapping[str, Line]) -> list[str]:
    """The methods that are told how many features to select."""
    return [name for name in lines if name not in ("random", "all", "abfs") and "," not in name]


def where(lines: Mapping[str, Line]) -> str:
    """On how many sets each method is best, or within .005 of it, and where it leads and trails the one by most."""
    names = [name for name in lines[THE_ONE].accuracy if name not in TWICE]
    best = {name: max(lines[rival].accuracy[name] for rival in rivals_of(lines)) for name in names}
    text = [
        f"| method | best of {len(names)} sets | leads {THE_ONE} most on | trails it most on |",
        "|---|---|---|---|",
    ]
    for rival in rivals_of(lines):
        line = lines[rival]
        count = sum(line.accuracy[name] > best[name] - CLEAR / 2 for name in names)
        lead = sorted(((line.accuracy[name] - lines[THE_ONE].accuracy[name], name) for name in names), reverse=True)
        told = [f"{name} {gap:+.3f}" for gap, name in lead[:MOST_TOLD] if gap > CLEAR]
        behind = [f"{name} {gap:+.3f}" for gap, name in lead[: -MOST_TOLD - 1 : -1] if gap < -CLEAR]
        text.append(f"| {rival} | {count} | {', '.join(told) or '–'} | {', '.join(behind) or '–'} |")
    return "\n".join(text)


def means(lines: Mapping[str, Line]) -> str:
    """Mean accuracy of each method in each group, the number of features, and what the one wins and loses to it."""
    parts = groups(list(lines[THE_ONE].accuracy))
    sizes = " | ".join(f"{name} ({len(names)})" for name, names in parts.items())
    text = [
        f"| features chosen by | {sizes} | number of features | {THE_ONE} against it, others and new |",
        "|---" * (len(parts) + 3) + "|",
    ]
    confirming = parts["others and new"]
    for name, line in lines.items():
        cells = [f"{np.mean([line.accuracy[one] for one in names]):.3f}" if names else "" for names in parts.values()]
        number = np.median([line.n_features[one] for one in confirming]) if confirming else np.nan
        won, lost = wins_and_losses(_only(lines[THE_ONE], confirming), _only(line, confirming))
        against = "–" if name == THE_ONE else f"{won} won, {lost} lost"
        text.append(f"| {name} | {' | '.join(cells)} | {number:g} | {against} |")
    return "\n".join(text)


def set_by_set(lines: Mapping[str, Line]) -> str:
    """A row per set: accuracies, the number of features where the method chooses it; the best of ten in bold."""
    text = [f"| set | {' | '.join(lines)} |", "|---" * (len(lines) + 1) + "|"]
    rivals = rivals_of(lines)
    for name in lines[THE_ONE].accuracy:
        best = max(lines[rival].accuracy[name] for rival in rivals)
        cells = []
        for method, line in lines.items():
            shown = f"{line.accuracy[name]:.3f}"
            if method not in (*rivals, "random"):
                shown += f" ({line.n_features[name]:g})"
            elif method in rivals and line.accuracy[name] > best - CLEAR / 2:
                shown = f"**{shown}**"
            cells.append(shown)
        text.append(f"| {name}{'*' if name in NAMED else '†' if name in TWICE else ''} | {' | '.join(cells)} |")
    return "\n".join(text)


def _only(line: Line, names: list[str]) -> Line:
    return Line({name: line.accuracy[name] for name in names}, {name: line.n_features[name] for name in names})
