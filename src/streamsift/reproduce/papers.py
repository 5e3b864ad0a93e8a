"""The table of papers: a name and the module that reproduces its figures; importing it imports none of them."""

from __future__ import annotations

from importlib import import_module

from streamsift.core.exceptions import UnknownNameError
from streamsift.reproduce.result import Exhibit

PAPERS = {
    "abfs": "streamsift.reproduce.abfs",
    "etana": "streamsift.reproduce.etana",
    "fires": "streamsift.reproduce.fires",
    "investing": "streamsift.reproduce.investing",
    "screening": "streamsift.reproduce.screening",
}


def exhibits(paper: str) -> dict[str, Exhibit]:
    """The figures and tables of a paper that can be reproduced, by name.

    >>> sorted(exhibits("screening"))
    ['figure 3']
    """
    if paper not in PAPERS:
        raise UnknownNameError("paper", paper, PAPERS)
    found: dict[str, Exhibit] = import_module(PAPERS[paper]).EXHIBITS
    return found
