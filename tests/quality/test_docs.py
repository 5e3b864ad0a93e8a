"""The documents: what they link to and the files they name exist. Their examples are run in test_doc_examples.py."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from streamsift import catalog

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_rows_of_a_table_have_as_many_cells_as_its_heading(document: Path) -> None:
    text = re.sub(r"^ *```.*?^ *```$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]  # a bar in code counts, too
        assert set(rows) == {rows[0]}, table


def test_every_decision_is_on_the_map() -> None:
    pages = {path.name for path in (ROOT / "docs" / "adr").glob("*.md")}
    assert pages == set(re.findall(r"adr/(\S+?\.md)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda path: path.stem)
def test_a_decision_has_context_decision_and_consequences(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.match(rf"# {int(page.name[:4])}\. ", text)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]


def test_contributing_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"\b(?:src|tests|docs)/[\w/.]+\.(?:py|md)\b", text)
    made_by_the_reader = {"src/streamsift/rows/mean_gap.py"}
    assert named
    assert [name for name in named if name not in made_by_the_reader and not (ROOT / name).is_file()] == []


METHOD_PAGES = sorted((ROOT / "docs" / "images" / "methods").glob("*.svg"))


@pytest.mark.parametrize("picture", METHOD_PAGES, ids=lambda path: path.stem)
def test_a_method_page_has_its_idea_formula_parameters_deviations_failures_and_reproduction(picture: Path) -> None:
    text = (ROOT / "docs" / "methods" / f"{picture.stem}.md").read_text(encoding="utf-8")
    assert f"(../images/methods/{picture.name})" in text.split("\n## ", 1)[0]
    headings = set(re.findall(r"^## (.+)$", text, re.MULTILINE))
    assert headings & {"Formula", "The rule"}
    assert {"Parameters", "Deviations", "When it fails", "Our reproduction"} <= headings


def test_every_method_of_the_catalog_is_on_a_page_with_a_picture() -> None:
    pages = [ROOT / "docs" / "methods" / f"{picture.stem}.md" for picture in METHOD_PAGES]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    classes = {catalog.entry(name).target.partition(":")[2] for name in catalog.names()}
    assert {name for name in classes if not re.search(rf"\b{name}\b", text)} == set()


def test_the_drawings_are_those_that_the_command_draws() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "drawings.py"))["drawings"]()
    assert len(drawn) >= 15
    for name, drawing in drawn.items():
        assert (ROOT / "docs" / "images" / name).read_text(encoding="utf-8") == drawing, "python docs/drawings.py"
