"""Rules about files that no linter knows: names, lengths, imports, and words that do not belong in a repository."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "streamsift"
SOURCES = sorted(PACKAGE.rglob("*.py"))

NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc"}  # a function with no home lacks a noun
LONGEST = 500
# Optional packages and the folders that may import them, inside functions only.
OPTIONAL = {
    "pandas": {"checks", "comparison", "runs"},
    "polars": {"checks", "comparison", "runs"},
    "torch": {"interop"},
    "river": {"learners", "interop"},
    "dask": {"engines"},
    "distributed": {"engines"},
    "pyspark": {"engines"},
    "tsfresh": {"interop"},
    "zstandard": {"streams"},
    "redis": {"streams"},
    "confluent_kafka": {"streams"},
    "fastavro": {"streams"},
}
# Files that are built on one of them, and so import it at their top: they are themselves imported in functions only.
BUILT_ON = {"streamsift.learners.boosting": "river"}
UNSAFE = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
# Spelt in parts, so that this file passes its own test.
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:" + "|".join(["wor" + "k", "roo" + "t", "hom" + "e"]) + r")(?=/)")
REGISTRY = re.compile("|".join([r"pypi\." + "org", "python" + "hosted", "conda" + r"\.anaconda", "index" + "-url"]))


def text_files() -> list[Path]:
    """Every text file git tracks or would track."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    paths = [ROOT / name for name in names if name and (ROOT / name).is_file()]
    return [path for path in paths if b"\0" not in path.read_bytes()[:8000]]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """The top-level packages a file imports, and whether it does so inside a function."""
    tree, found = parsed(path), []
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.append((alias.name.partition(".")[0], id(node) in inside))
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.append((node.module.partition(".")[0], id(node) in inside))
    return found


def test_no_file_lacks_a_noun() -> None:
    folders = [PACKAGE, ROOT / "tests", ROOT / "benchmarks"]
    assert [path for folder in folders for path in folder.rglob("*.py") if path.stem.strip("_") in NAMELESS] == []


def test_no_source_file_is_too_long() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_every_source_file_says_what_it_is() -> None:
    silent = [path for path in SOURCES if not ast.get_docstring(parsed(path))]
    assert silent == []


def test_no_two_classes_have_one_name() -> None:
    names = Counter(node.name for path in SOURCES for node in parsed(path).body if isinstance(node, ast.ClassDef))
    assert len(names) > 300
    assert [name for name, count in names.items() if count > 1] == []


ABOVE_RUNS = ("evaluate", "interop", "checks", "comparison", "reproduce", "report", "cli")
KINDS = {"rows", "columns", "instances", "baseline"}


def _asks_for_a_kind(node: ast.AST) -> bool:
    """Whether something called kind, or with a key of that name, is compared with the name of a kind."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    named = any(re.search(r"\bkind\b", ast.unparse(side)) for side in sides)
    values = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
    return named and bool(values & KINDS)


def test_nobody_above_runs_asks_for_the_kind_of_a_method() -> None:
    assert [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in SOURCES
        if path.relative_to(PACKAGE).parts[0] in ABOVE_RUNS
        for node in ast.walk(parsed(path))
        if _asks_for_a_kind(node)
    ] == []


@pytest.mark.parametrize("text", ["entry.kind == 'rows'", "e['kind'] != 'baseline'", "kind in ('rows', 'columns')"])
def test_a_question_for_the_kind_is_found(text: str) -> None:
    assert _asks_for_a_kind(ast.parse(text, mode="eval").body)


def test_optional_packages_are_imported_in_their_own_folders_and_only_when_needed() -> None:
    wrong = []
    for path in SOURCES:
        folder = path.relative_to(PACKAGE).parts[0]
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for package, in_function in imports(path):
            inside = in_function or BUILT_ON.get(module) == package
            if package in OPTIONAL and (folder not in OPTIONAL[package] or not inside):
                wrong.append((str(path.relative_to(ROOT)), package))
    assert wrong == []


def test_files_built_on_an_optional_package_are_imported_only_when_needed() -> None:
    wrong = []
    for path in SOURCES:
        tree = parsed(path)
        within = {
            id(node)
            for one in ast.walk(tree)
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(one)
        }
        wrong += [
            (str(path.relative_to(ROOT)), node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module in BUILT_ON and id(node) not in within
        ]
    assert wrong == []


def test_numba_is_imported_in_two_places() -> None:
    users = {path.relative_to(PACKAGE).as_posix() for path in SOURCES if ("numba", False) in imports(path)}
    assert users == {"kernels/compile.py", "kernels/intrinsics.py"}
    assert [path for path in SOURCES if ("numba", True) in imports(path)] == []


def test_nothing_can_load_code_from_data() -> None:
    assert [(path.name, package) for path in SOURCES for package, _ in imports(path) if package in UNSAFE] == []


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["machine path", "registry"])
def test_no_file_names_a_machine_or_a_registry(pattern: re.Pattern[str]) -> None:
    found = []
    for path in text_files():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


def test_the_patterns_find_what_they_are_for() -> None:
    assert MACHINE_PATH.search('open("/' + "home" + '/me/data.csv")')
    assert not MACHINE_PATH.search("see docs/" + "work" + "/index.md")
    assert REGISTRY.search("https://py" + "pi.org/simple")
