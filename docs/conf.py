"""The site: `python -m pip install -e ".[docs]" && python -m sphinx -W docs site`.

The pages are the Markdown files of this folder, which read well without the site, too. What only the site needs is
added here: the contents, the pages that lie at the root of the repository, and the reference of the public names.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import bokeh

import streamsift

ROOT = Path(__file__).resolve().parents[1]

project = "streamsift"
author = "the streamsift authors"
copyright = f"2026 {author}"
version = release = streamsift.__version__

extensions = [
    *(
        "myst_parser",
        "sphinx.ext.autodoc",
        "sphinx.ext.autosummary",
        "sphinx.ext.napoleon",
        "sphinx_gallery.gen_gallery",
    ),
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["gallery/*", "sg_execution_times.rst", "auto_gallery/sg_execution_times.rst"]
html_theme = "furo"
html_title = f"streamsift {release}"
html_show_sphinx = False
html_static_path = [str(Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.min.js"), "site.css"]
html_css_files = ["site.css"]

myst_heading_anchors = 4
default_role = "code"  # docstrings write `name`
napoleon_google_docstring = False
napoleon_use_ivar = True
autosummary_generate = False  # write_reference makes the pages
autodoc_typehints = "none"  # the signatures are long enough, and the docstrings say it in words
autodoc_member_order = "bysource"
toc_object_entries = False

sys.path.insert(0, str(ROOT / "docs"))  # for charts.py
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": ".*",  # all are run
    "image_scrapers": ("charts",),
    "reset_modules": (),  # the default resets matplotlib, which is not needed here
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r".*\.rst",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "default_thumb_file": str(ROOT / "docs" / "images" / "report.png"),
}

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
    "Start": ["start", "which", "auto_gallery/index", "project/readme"],
    "User guide": [
        *("guide/rows", "guide/columns", "guide/instances", "command_line", "reading", "real_streams", "report"),
        *("numbers", "methods/compare", "datasets", "methods/generators", "threads"),
    ],
    "Recipes": [
        *(f"recipes/{name}" for name in ("drift", "late_labels", "missing_and_categories", "text", "million_columns")),
        *(f"recipes/{name}" for name in ("columns_without_end", "tsfresh", "rare_classes", "spark", "dask", "kafka")),
        *("river", "pipelines", "resume", "unbounded", "recipes/explain", "examples/etana_prices"),
    ],
    "Methods for rows": [
        f"methods/{name}" for name in ("screening", "joint", "fires", "abfs", "ofs", "efs", "fsds", "fsa")
    ],
    "Methods for columns": [f"methods/{name}" for name in ("investing", "osfs", "saola", "ofs_density", "ofs_a3m")],
    "Methods for instances": ["methods/etana"],
    "Measured": [
        "benchmarks",
        "reproduction/index",
        "reproduction/details",
        "methods/reproduction",
        "methods/defaults",
        "reliability",
        "scale",
    ],
    "Reference": ["api", "format", "glossary", "architecture"],
    "Project": [*AT_ROOT.values()][1:],
    "Decisions": sorted(f"adr/{path.stem}" for path in (ROOT / "docs" / "adr").glob("*.md")),
}
# What the contents call a page whose own title is a question, or says too little there.
CALLED = {
    "project/readme": "README",
    "guide/rows": "Rows",
    "guide/columns": "Columns",
    "guide/instances": "Instances: values at a price",
    "methods/reproduction": "Notes on the papers",
    "scale": "Scale",
    "format": "Format of saved files",
    "recipes/drift": "Drift",
    "recipes/late_labels": "Late labels",
    "recipes/missing_and_categories": "Missing values and categories",
    "recipes/text": "Text and sparse rows",
    "recipes/million_columns": "A million columns",
    "recipes/columns_without_end": "Columns without end",
    "recipes/tsfresh": "Time series: tsfresh",
    "recipes/rare_classes": "Rare classes",
    "recipes/spark": "Spark",
    "recipes/dask": "Dask",
    "recipes/kafka": "Kafka",
    "recipes/explain": "Explain a selection",
    "river": "river",
    "pipelines": "scikit-learn pipelines",
    "resume": "Stop and resume a run",
}
LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)")


def moved(text: str, place: str, docname: str) -> str:
    """The text of a file at `place` in the repository, with its links as they must be on the page `docname`."""
    here = PurePosixPath("docs", docname).parent

    def link(match: re.Match[str]) -> str:
        target = os.path.normpath(PurePosixPath(place).parent / match[2])
        if target in AT_ROOT:
            target = f"docs/{AT_ROOT[target]}.md"
        if target.startswith("docs/gallery"):  # an example, or the folder of all of them
            target = f"docs/auto_gallery/{PurePosixPath(target).stem.replace('gallery', 'index')}.rst"
        return match[1] + PurePosixPath(os.path.relpath(target, here)).as_posix()

    return LINK.sub(link, text)


def contents() -> str:
    """The contents as toctrees, hidden on the page itself."""
    trees = []
    for title, pages in CONTENTS.items():
        lines = [f"{CALLED[page]} <{page}>" if page in CALLED else page for page in pages]
        trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *lines, "```"]))
    return "\n\n".join(trees)


# The reference: the package a public name lives in, and the title of its page.
GROUPS = {
    "rows": "Methods for rows",
    "columns": "Methods for columns",
    "instances": "Methods for instances",
    "streams": "Where data comes from",
    "evaluate": "Judging a selection",
    "comparison": "Comparing methods",
    "runs": "Runs and what they leave",
    "interop": "Pipelines and other libraries",
    "persist": "Saving and loading",
    "core": "Selections, guarantees, errors",
    "checks": "Checks of a method",
    "catalog": "The table of methods",
    "datasets": "Data that ships",
    "drift": "Drift detectors",
    "metrics": "Measures",
}


def public_names() -> dict[str, list[str]]:
    """The public names by package, as one writes them after `streamsift.`; those of public modules included."""
    groups: dict[str, list[str]] = {}
    for name, home in sorted(streamsift._HOME.items()):
        value = getattr(streamsift, name)
        if isinstance(value, ModuleType):
            inside = getattr(value, "__all__", None) or [
                inner for inner, it in vars(value).items() if getattr(it, "__module__", "") == home and inner[0] != "_"
            ]
            groups.setdefault(name, []).extend(f"{name}.{inner}" for inner in sorted(inside))
        else:
            groups.setdefault(home.split(".")[1], []).append(name)
    return groups


def entry(name: str) -> list[str]:
    """The documentation of one name."""
    owner, _, inner = name.rpartition(".")
    value = getattr(getattr(streamsift, owner) if owner else streamsift, inner)
    if not callable(value):
        return []
    lines = ["", name, "-" * len(name), ""]
    if isinstance(value, type):
        return [
            *lines,
            f".. autoclass:: streamsift.{name}",
            "   :members:",
            "   :inherited-members: BaseEstimator, Exception, Warning, tuple",
        ]
    return [*lines, f".. autofunction:: streamsift.{name}"]


def write_reference(app: Any, config: Any) -> None:
    """Write a page for each package with public names, from the docstrings, into docs/reference."""
    del app, config
    folder = ROOT / "docs" / "reference"
    folder.mkdir(exist_ok=True)
    for group, names in public_names().items():
        title = GROUPS.get(group, group)
        table = [".. currentmodule:: streamsift", "", ".. autosummary::", "   :nosignatures:", ""]
        lines = [title, "=" * len(title), "", *table, *(f"   {name}" for name in names), ""]
        text = "\n".join([*lines, *(line for name in names for line in entry(name)), ""])
        path = folder / f"{group}.rst"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def read_source(app: Any, docname: str, source: list[str]) -> None:
    """Give a page what only the site needs."""
    del app
    place = ROOT_OF.get(docname)
    text = source[0] if place is None else (ROOT / place).read_text(encoding="utf-8")
    source[0] = moved(text, place or f"docs/{docname}.md", docname)
    if docname == "index":
        source[0] += "\n" + contents() + "\n"
    if docname == "api":
        pages = [f"reference/{group}" for group in sorted(public_names(), key=[*GROUPS].index)]
        source[0] += "\n".join(["\n```{toctree}", ":maxdepth: 1", "", *pages, "```", ""])


def add_charts(app: Any, pagename: str, templatename: str, context: Any, doctree: Any) -> None:
    """The script that draws charts, on the pages that have some."""
    del templatename, context, doctree
    if pagename.startswith("auto_gallery/"):
        app.add_js_file("bokeh.min.js", priority=100)


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


def keep_underscores(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """`scores_` is the name of an attribute; to reStructuredText it would be a link to "scores"."""
    del app, what, name, value, options
    lines[:] = [re.sub(r"^(:(?:ivar|vartype) \w+?)_:", r"\1\\_:", line) for line in lines]


def setup(app: Any) -> dict[str, bool]:
    from sphinx.domains.python import PyObject  # not at the top: tests read CONTENTS where Sphinx is not installed

    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("config-inited", write_reference)
    app.connect("source-read", read_source)
    app.connect("html-page-context", add_charts)
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("autodoc-process-docstring", escape_formulas, priority=400)  # before napoleon writes markup
    app.connect("autodoc-process-docstring", keep_underscores, priority=600)  # after it
    return {"parallel_read_safe": True}
