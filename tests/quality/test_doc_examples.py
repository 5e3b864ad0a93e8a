"""Every example in the documents is run: Python as it stands, page by page, and every `streamsift` command line."""

from __future__ import annotations

import itertools
import re
import shlex
import shutil
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from tests.quality import doc_world

from streamsift.cli import display
from streamsift.cli.errors import run
from streamsift.cli.main import cli
from streamsift.core.exceptions import EmptySelectionWarning
from streamsift.engines import local
from streamsift.runs.workers import run_all

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE)

# Python that is not run: the page, how the example begins, and why.
NOT_RUN = {
    ("CONTRIBUTING.md", '"mean_gap": Entry('): "an entry of a table, not a program",
    ("docs/recipes/columns_without_end.md", "from tsfresh"): "needs tsfresh; tests/interop/test_tsfresh.py runs it",
    ("docs/unbounded.md", "from streamsift import Screener, load"): "needs Spark; tests/engines/test_spark_stream.py",
    ("docs/recipes/spark.md", "import pyarrow"): "starts Spark; tests/engines/test_spark.py runs this call",
    ("docs/scale.md", "select(ddf"): "needs clusters that are there already; tests/engines runs these calls",
}
# Packages that are not in the extra `test`.
NEEDS = {
    "docs/river.md": "river",
    "docs/recipes/dask.md": "distributed",
    "docs/recipes/tsfresh.md": "tsfresh",
}
# Warnings that are part of what a page shows.
WARNS = {"docs/methods/abfs.md": EmptySelectionWarning}  # all features go to the learner until the first is selected
# Command lines of which only the words are checked: how they begin, and why.
ONLY_PARSED = {
    "streamsift demo": "a minute of drawing; tests/cli runs it",
    "streamsift reproduce": "needs the papers' data, and hours; tests/reproduce runs it",
    "streamsift generate sea --rows 200000 --irrelevant 500": "writes 400 MB; tests/cli generates less",
    "streamsift generate rtg": "100,000 rows; tests/cli generates less",
    "streamsift generate linear_drift": "ends by a closed pipe",
    "streamsift inspect selector.streamsift": "the file is one of the reader's; tests/cli inspects one",
    "streamsift inspect clicks.ckpts": "a folder of processes that share a topic; tests/cli/test_groups.py has one",
    "streamsift select prices.csv": "a file of the reader's; tests/cli/test_make.py makes lags",
    "streamsift select people.csv --target income --method investing --make": "needs two columns of categories",
    "streamsift select - --target bought --sequence": "needs a pipe; tests/cli/test_unbounded.py has one",
    "streamsift select tail:": "waits for more rows; tests/cli/test_unbounded.py ends it",
    "streamsift select 'redis:": "needs a server; tests/streams/test_redis_entries.py starts one",
    "streamsift select data/ --target y --engine dask": "needs dask; tests/engines/test_dask.py runs the command",
    "streamsift select kafka:": "needs a broker; tests/streams/test_kafka_topic.py has a mock of one",
    "streamsift select 'kafka:": "likewise",
    "streamsift select redis:": "needs a server; tests/cli/test_brokers.py starts one",
    "streamsift compare": "compares for minutes; tests/cli compares less",
    "streamsift report out": "draws what the comparison above has written",
}


class Example(NamedTuple):
    page: str
    language: str
    line: int
    text: str


def examples() -> list[Example]:
    """Every fenced block of every page."""
    found = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            lines = [line.removeprefix(match["indent"]) for line in match["text"].splitlines()]
            line = text[: match.start()].count("\n") + 2
            page = path.relative_to(ROOT).as_posix()
            found.append(Example(page, match["language"], line, "\n".join(lines) + "\n"))
    return found


EXAMPLES = examples()
PYTHON = [example for example in EXAMPLES if example.language == "python"]


def command_lines(example: Example) -> list[str]:
    """The `streamsift` commands of a block of a shell, without prompt, comment and what they are piped into."""
    found = []
    for line in example.text.splitlines():
        for part in re.split(r" && | \| ", line.removeprefix("$ ").strip()):
            command = shlex.join(shlex.split(part, comments=True)) if part.startswith("streamsift ") else ""
            if command:
                found.append(command)
    return found


COMMANDS = sorted(
    {
        (example.page, command)
        for example in EXAMPLES
        if example.language in ("", "sh", "console")
        for command in command_lines(example)
    }
)


def not_run(example: Example) -> str | None:
    """Why an example is not run, if it is not."""
    reasons = [why for (page, start), why in NOT_RUN.items() if page == example.page and example.text.startswith(start)]
    return reasons[0] if reasons else None


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples name, written once."""
    written = tmp_path_factory.mktemp("files")
    doc_world.write_files(written)
    shutil.copytree(ROOT / "docs" / "examples", written / "docs" / "examples")
    return written


@pytest.fixture
def folder(tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the files that the examples name, to be in.

    Parts of a table that an example gives to several processes are learnt in this one; tests/engines starts processes.
    """

    def run_here(function: Any, shared: Any, tasks: Any, jobs: int, note: Any) -> Any:
        assert jobs >= 1
        return run_all(function, shared, tasks, 1, note)

    monkeypatch.setattr(local, "run_all", run_here)
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", 1e6)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", sorted({example.page for example in PYTHON if not not_run(example)}))
def test_python_runs(page: str) -> None:
    if page in NEEDS:
        pytest.importorskip(NEEDS[page], reason=f"skipped: no {NEEDS[page]}")
    known = doc_world.names(page)
    with warnings.catch_warnings():
        if page in WARNS:
            warnings.simplefilter("ignore", WARNS[page])
        for example in PYTHON:
            if example.page == page and not not_run(example):
                code = "\n" * (example.line - 1) + example.text  # an error tells the line of the page
                exec(compile(code, page, "exec", dont_inherit=True), known)


@pytest.mark.usefixtures("folder")
def test_the_first_example_of_the_readme_runs_by_itself_and_prints_what_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    blocks = [example for example in EXAMPLES if example.page == "README.md"]
    first = next(place for place, block in enumerate(blocks) if block.language == "python")
    assert len([line for line in blocks[first].text.splitlines() if line.strip()]) <= 12
    exec(compile(blocks[first].text, "README.md", "exec", dont_inherit=True), {})
    assert blocks[first + 1].language == "text"
    assert capsys.readouterr().out == blocks[first + 1].text


@pytest.mark.usefixtures("folder")
def test_the_first_page_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    known: dict[str, object] = {}
    blocks = [example for example in EXAMPLES if example.page == "docs/start.md"]
    shown = 0
    for block, after in itertools.pairwise(blocks):
        if block.language == "python":
            exec(compile(block.text, "docs/start.md", "exec", dont_inherit=True), known)
            printed = capsys.readouterr().out
            if after.language == "text":
                assert printed == after.text
                shown += 1
    assert shown == 2


def only_parsed(command: str) -> bool:
    return any(command.startswith(start) for start in ONLY_PARSED)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("page", "command"), [pair for pair in COMMANDS if only_parsed(pair[1])])
def test_a_long_command_is_understood(page: str, command: str) -> None:
    del page
    verb, *arguments = shlex.split(command)[1:]
    with click.Context(cli) as parent:
        found = cli.get_command(parent, verb)
        assert found is not None, verb
        found.make_context(verb, arguments, parent)  # an unknown option or a wrong value is an error here


@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("default::streamsift.core.exceptions.ReadingNotice")  # printed, as a user sees it
@pytest.mark.parametrize("page", sorted({page for page, command in COMMANDS if not only_parsed(command)}))
def test_commands_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    for example in EXAMPLES:
        if example.page == page and example.language in ("", "sh", "console"):
            for command in command_lines(example):
                if not only_parsed(command):
                    code = run(cli, shlex.split(command)[1:])
                    assert code == 0, f"{command}: {capsys.readouterr().err}"


def test_every_exemption_is_needed() -> None:
    for page, start in NOT_RUN:
        assert any(example.page == page and example.text.startswith(start) for example in PYTHON), (page, start)
    for start in ONLY_PARSED:
        assert any(command.startswith(start) for _, command in COMMANDS), start
    assert all(any(example.page == page for example in PYTHON) for page in NEEDS)


def test_examples_are_found() -> None:
    assert len(PYTHON) >= 35
    assert len(COMMANDS) >= 15
