"""The site of the documentation is built without a warning, and its contents name every page."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_every_page_is_in_the_contents_once() -> None:
    settings = runpy.run_path(str(DOCS / "conf.py"))
    listed = [page for pages in settings["CONTENTS"].values() for page in pages]
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(pages - {"index"}), "CONTENTS of docs/conf.py"


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
        ("[e](#here) [f](https://example.com)", "README.md", "project/readme", "[e](#here) [f](https://example.com)"),
    ],
)
def test_links_move_with_their_page(text: str, place: str, page: str, moved: str) -> None:
    assert runpy.run_path(str(DOCS / "conf.py"))["moved"](text, place, page) == moved


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    for package in ("sphinx", "furo", "myst_parser"):
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
    api = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    assert {"streamsift.Screener", "streamsift.compare"} <= set(re.findall(r'id="(streamsift\.\w+)"', api))
    assert "decision" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8").lower()
