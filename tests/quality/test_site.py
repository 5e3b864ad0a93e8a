"""The site of the documentation is built without a warning, and its contents name every page."""

from __future__ import annotations

import html
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import streamsift

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_every_page_is_in_the_contents_once() -> None:
    settings = runpy.run_path(str(DOCS / "conf.py"))
    listed = [page for pages in settings["CONTENTS"].values() for page in pages]
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    made = {"auto_gallery/index"}  # by sphinx-gallery
    assert sorted(listed) == sorted(pages - {"index"} | made), "CONTENTS of docs/conf.py"


def test_every_page_of_the_root_is_on_the_site() -> None:
    settings = runpy.run_path(str(DOCS / "conf.py"))
    assert set(settings["AT_ROOT"]) == {path.name for path in ROOT.glob("*.md")}


@pytest.mark.parametrize(
    ("text", "place", "page", "moved"),
    [
        ("[a](docs/which.md#rows)", "README.md", "project/readme", "[a](../which.md#rows)"),
        ("![b](docs/images/report.png)", "README.md", "project/readme", "![b](../images/report.png)"),
        ("[c](../README.md)", "docs/index.md", "index", "[c](project/readme.md)"),
        ("[d](../CHANGELOG.md)", "docs/which.md", "which", "[d](project/changelog.md)"),
        ("[g](../gallery/one_patient.py)", "docs/recipes/x.md", "recipes/x", "[g](../auto_gallery/one_patient.rst)"),
        ("[e](#here) [f](https://example.com)", "README.md", "project/readme", "[e](#here) [f](https://example.com)"),
    ],
)
def test_links_move_with_their_page(text: str, place: str, page: str, moved: str) -> None:
    assert runpy.run_path(str(DOCS / "conf.py"))["moved"](text, place, page) == moved


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    for package in ("sphinx", "furo", "myst_parser", "sphinx_gallery"):
        pytest.importorskip(package, reason=f"skipped: no {package} (pip install 'streamsift[docs]')")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "-q",
        "-d",
        str(tmp_path / "doctrees"),
        "docs",
        str(tmp_path / "site"),
    ]
    environment = {**os.environ, "PYTHONWARNINGS": "default"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    reference = "".join(path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html"))
    shown = set(re.findall(r'id="streamsift\.([\w.]+)"', reference))
    modules = {name for name, home in streamsift._HOME.items() if home == f"streamsift.{name}"}
    assert set(streamsift._HOME) - modules <= shown
    assert {"datasets.load_clicks", "drift.ADWIN", "metrics.jaccard", "catalog.make"} <= shown
    assert "<strong>n_rows_seen_</strong>" in reference  # with its underscore
    assert "bokeh.min.js" in (site / "auto_gallery" / "one_patient.html").read_text(encoding="utf-8")
    assert dead_links(site) == []


def dead_links(site: Path) -> list[str]:
    """Links and pictures within the site that lead nowhere, each with the page it is on."""
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    places = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in pages.items()}
    dead = []
    for path, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            target, _, place = html.unescape(link).partition("#")
            if re.match(r"[a-z]+:|//", target):
                continue  # another site: not ours to look at
            found = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            if not found.exists() or (place and found in places and unquote(place) not in places[found]):
                dead.append(f"{path.relative_to(site)}: {link}")
    return sorted(set(dead))


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="top"><a href="b.html#in">b</a><a href="c.html">c</a><a href="#top">t</a><img src="d.png?x">'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#nowhere">n</a><a href="https://example.com/none">e</a>')
    (tmp_path / "d.png").touch()
    assert dead_links(tmp_path) == ["a.html: b.html#in", "a.html: c.html", "b.html: a.html#nowhere"]
