"""The verdict on a figure: how many of its claims hold here, from the records of its exhibits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamsift.reproduce.everything import stem_of, weakest
from streamsift.reproduce.figure_checks import Drawn
from streamsift.reproduce.printed_figures import FIGURES, FigureClaim, PrintedFigure
from streamsift.reproduce.record import rests_on


def figures_summary(records: Mapping[str, dict[str, Any]], failures: Mapping[str, str]) -> list[dict[str, Any]]:
    """A plain dict for each figure: verdict, what it rests on, its claims one by one, and the pages that show it."""
    rows = []
    for figure in FIGURES:
        stems = [stem_of(figure.paper, exhibit) for exhibit in figure.exhibits]
        found = [records[stem] for stem in stems if stem in records]
        measured = bool(stems) and stems[0] in records
        claims = [_judged(claim, found if measured else []) for claim in figure.claims]
        rows.append(
            {
                "paper": figure.paper,
                "figure": figure.name,
                "what": figure.what,
                "verdict": _verdict(figure, stems, records, failures, claims),
                "rests_on": weakest([rests_on(record) for record in found]) if measured else "nothing",
                "repeats": min((record["repeats"] for record in found), default=0),
                "paper_repeats": max((record["paper_repeats"] for record in found), default=0),
                "claims": claims,
                "stems": [stem for stem in stems if stem in records],
            }
        )
    return rows


def _judged(claim: FigureClaim, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A claim with what its check says of the records."""
    answer = claim.check(Drawn(found)) if claim.check is not None and found else None
    words = claim.not_judged or "not enough is measured" if answer is None else answer[1]
    return {
        "claim": claim.sentence,
        "taken_as": claim.taken_as,
        "holds": None if answer is None else answer[0],
        "here": words,
    }


def _verdict(
    figure: PrintedFigure,
    stems: Sequence[str],
    records: Mapping[str, dict[str, Any]],
    failures: Mapping[str, str],
    claims: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    hold, judged = (sum(claim["holds"] is not None and claim["holds"] >= least for claim in claims) for least in (1, 0))
    if figure.schematic:
        word, sentence = "nothing measured", f"It shows {figure.schematic}."
    elif failed := [failures[stem] for stem in stems if stem in failures]:
        word, sentence = "failed", failed[0]
    elif stems[0] not in records:
        word, sentence = "not run", "The run ended before it."
    else:
        word = (
            "not judged" if not judged else "holds" if hold == judged else "holds in part" if hold else "does not hold"
        )
        sentence = f"{hold} of {judged} claims hold."
        if left := sum(records[stem]["n_left"] for stem in stems if stem in records):
            sentence = f"So far ({left:,} runs are left): {sentence}"
    return {"word": word, "sentence": sentence, "n_agreeing": hold, "n_judged": judged}
