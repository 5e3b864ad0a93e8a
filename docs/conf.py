"""The site: `python -m pip install -e ".[docs]" && python -m sphinx -W docs site`.

The pages are the Markdown files of this folder, which read well without the site, too. What only the site needs is
added here: the contents, the pages that lie at the root of the repository, and the reference of the public names.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

import streamsift

ROOT = Path(__file__).resolve().parents[1]

project = "streamsift"
author = "the streamsift authors"
copyright = f"2026 {author}"
version = release = streamsift.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns: list[str] = []
html_theme = "furo"
html_title = f"streamsift {release}"
html_show_sphinx = False

myst_heading_anchors = 4
default_role = "code"  # docstrings write `name`
napoleon_google_docstring = False
napoleon_use_ivar = True
autosummary_generate = False  # one page, no files
autodoc_typehints = "none"  # the signatures are long enough, and the docstrings say it in words
autodoc_member_order = "bysource"
toc_object_entries = False

# Pages at the root of the repository, and the page of the site that shows each.
AT_ROOT = {
    "README.md": "project/readme",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
    "RELEASE.md": "project/release",
    "SECURITY.md": "project/security",
    "CODE_OF_CONDUCT.md": "project/code_of_conduct",
}
ROOT_OF = {page: name for name, page in AT_ROOT.items()}

# The contents: a title, and its pages in order.
CONTENTS = {
    "Start": ["project/readme", "which", "python", "command_line"],
    "User guide": [
        "reading",
        "real_streams",
        "pipelines",
        "report",
        "methods/compare",
        "datasets",
        "methods/generators",
    ],
    "Recipes": [
        *("resume", "unbounded", "recipes/columns_without_end", "river", "scale", "threads", "examples/etana_prices"),
    ],
    "Methods for rows": [
        f"methods/{name}" for name in ("screening", "joint", "fires", "abfs", "ofs", "efs", "fsds", "fsa")
    ],
    "Methods for columns": [f"methods/{name}" for name in ("investing", "osfs", "saola", "ofs_density", "ofs_a3m")],
    "Methods for instances": ["methods/etana"],
    "Reference": ["api", "format", "glossary"],
    "Measured": ["benchmarks", "methods/reproduction", "methods/defaults", "reliability"],
    "Project": [*AT_ROOT.values()][1:],
    "Decisions": sorted(f"adr/{path.stem}" for path in (ROOT / "docs" / "adr").glob("*.md")),
}
LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)")


def moved(text: str, place: str, docname: str) -> str:
    """The text of a file at `place` in the repository, with its links as they must be on the page `docname`."""
    here = PurePosixPath("docs", docname).parent

    def link(match: re.Match[str]) -> str:
        target = os.path.normpath(PurePosixPath(place).parent / match[2])
        if target in AT_ROOT:
            target = f"docs/{AT_ROOT[target]}.md"
        return match[1] + PurePosixPath(os.path.relpath(target, here)).as_posix()

    return LINK.sub(link, text)


def contents() -> str:
    """The contents as toctrees, hidden on the page itself."""
    trees = []
    for title, pages in CONTENTS.items():
        trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"]))
    return "\n\n".join(trees)


def names_by_kind() -> str:
    """The documentation of the public names, those of a package together, under a table of them."""
    groups: dict[str, list[str]] = {}
    for name, home in sorted(streamsift._HOME.items()):
        if home != f"streamsift.{name}":  # a module has no entry of its own
            groups.setdefault(home.split(".")[1], []).append(name)
    parts = []
    for group, names in sorted(groups.items()):
        table = ["```{eval-rst}", ".. currentmodule:: streamsift", "", ".. autosummary::", "   :nosignatures:", ""]
        parts += [f"## {group}", "", *table, *(f"   {name}" for name in names), "```", ""]
        for name in names:
            kind = "class" if isinstance(getattr(streamsift, name), type) else "function"
            options = ["   :members:", "   :inherited-members: BaseEstimator, Exception, Warning, tuple"] * (
                kind == "class"
            )
            parts += [f"### {name}", "", "```{eval-rst}", f".. auto{kind}:: streamsift.{name}", *options, "```", ""]
    return "\n".join(parts)


def read_source(app: Any, docname: str, source: list[str]) -> None:
    """Give a page what only the site needs."""
    del app
    place = ROOT_OF.get(docname)
    text = source[0] if place is None else (ROOT / place).read_text(encoding="utf-8")
    source[0] = moved(text, place or f"docs/{docname}.md", docname)
    if docname == "index":
        source[0] += "\n" + contents() + "\n"
    if docname == "api":
        source[0] += "\n" + names_by_kind() + "\n"


def skip_inherited(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn documents: its pages have it, with labels that are not here."""
    del app, what, name, skip, options
    home = getattr(value, "__module__", None) or getattr(getattr(value, "fget", None), "__module__", None) or ""
    return True if home.startswith("sklearn.") else None


def escape_formulas(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Docstrings write |x| and *shape as people do; to reStructuredText both would be the start of something."""
    del app, what, name, value, options
    for place, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(`[^`]*`)", line)  # code stays as it is
            parts[::2] = [re.sub(r"(\||(?<![*\w])\*(?=\w)(?![^*]*\w\*))", r"\\\1", part) for part in parts[::2]]
            lines[place] = "".join(parts)


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", read_source)
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("autodoc-process-docstring", escape_formulas, priority=400)  # before napoleon writes markup
    return {"parallel_read_safe": True}
