"""The table of papers: a name and the module that reproduces its figures, and what the papers print.

Importing it imports none of the modules.
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.resources import files
from typing import Any

from streamsift.core.exceptions import UnknownNameError
from streamsift.reproduce.result import Exhibit

PAPERS = {
    "abfs": "streamsift.reproduce.abfs.tables",
    "etana": "streamsift.reproduce.etana.tables",
    "fires": "streamsift.reproduce.fires.tables",
    "investing": "streamsift.reproduce.investing.tables",
    "screening": "streamsift.reproduce.screening.figure",
}
SETTINGS = "streamsift.reproduce.settings"  # tables of sizes and settings, of all papers


def exhibits(paper: str) -> dict[str, Exhibit]:
    """The figures and tables of a paper that can be reproduced, by name.

    >>> sorted(exhibits("investing"))
    ['check stepwise', 'figure 2', 'table 1', 'table 2', 'table 3']
    """
    if paper not in PAPERS:
        raise UnknownNameError("paper", paper, PAPERS)
    found: dict[str, Exhibit] = import_module(PAPERS[paper]).EXHIBITS
    settings: dict[str, dict[str, Exhibit]] = import_module(SETTINGS).EXHIBITS
    return {**settings[paper], **found}


def published_table(paper: str, table: str) -> dict[str, dict[str, Any]]:
    """What a paper prints in a table: row -> column -> value.

    >>> published_table("screening", "table6.gini")["0.02"]["madelon"]
    0.68
    """
    text = (files("streamsift.reproduce") / "published" / f"{paper}.json").read_text("utf-8")
    found: dict[str, dict[str, Any]] = next(one["data"] for one in json.loads(text)["tables"] if one["id"] == table)
    return found
