"""The catalog: complete, cheap to import, and clear about names it does not know."""

from __future__ import annotations

import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import streamsift
from streamsift import catalog
from streamsift.core.columns import ColumnSelector
from streamsift.core.exceptions import ParameterError, UnknownNameError
from streamsift.core.instances import InstanceClassifier
from streamsift.core.rows import RowSelector
from streamsift.core.tags import Kind

BASES: dict[Kind, type] = {"rows": RowSelector, "columns": ColumnSelector, "instances": InstanceClassifier}
KINDS = pytest.mark.parametrize("kind", BASES)


def methods_in_the_package(kind: Kind) -> set[str]:
    """Every concrete method that lives in the package of its kind, as "module:Class"."""
    package = import_module(f"streamsift.{kind}")
    found = set()
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for _, member in inspect.getmembers(import_module(info.name), inspect.isclass):
            own = member.__module__ == info.name and not member.__name__.startswith("_")
            if issubclass(member, BASES[kind]) and own:
                found.add(f"{member.__module__}:{member.__qualname__}")
    return found


@KINDS
def test_the_table_lists_every_method_and_no_other(kind: Kind) -> None:
    assert {catalog.entry(name).target for name in catalog.names(kind)} == methods_in_the_package(kind)


@KINDS
def test_the_table_equals_the_public_exports(kind: Kind) -> None:
    exported = {name for name in streamsift.__all__ if inspect.isclass(getattr(streamsift, name))}
    methods = {name for name in exported if issubclass(getattr(streamsift, name), BASES[kind])}
    assert methods == {catalog.entry(name).target.partition(":")[2] for name in catalog.names(kind)}


@pytest.mark.parametrize("name", catalog.names())
def test_every_entry_can_be_made_and_describes_itself(name: str) -> None:
    entry = catalog.entry(name)
    method = catalog.make(name)
    assert f"{type(method).__module__}:{type(method).__qualname__}" == entry.target
    assert entry.arguments.items() <= method.get_params().items()
    assert method.stream_tags().kind == entry.kind
    assert re.fullmatch(r"[A-Z][^\n]+\.", entry.summary)
    assert re.search(r"\(\d{4}\)", entry.paper)
    assert re.fullmatch(r"([A-Z][^\n]+\.)?", entry.note)


@pytest.mark.parametrize("name", catalog.names())
def test_the_targets_are_those_of_the_tags(name: str) -> None:
    """`both`: numbers, and with some setting of the method any classes, too."""
    tags = catalog.make(name).stream_tags()
    takes_numbers = getattr(tags, "numeric_target", getattr(tags, "regression", False))
    wanted = "none" if not tags.supervised else "both" if takes_numbers else "classes"
    assert catalog.entry(name).targets == wanted


def test_the_documentation_has_the_same_targets() -> None:
    text = (Path(__file__).parents[1] / "docs" / "numbers.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (both|classes|none) \| (rows|columns|instances) \| (.+) \|$", text, re.MULTILINE)
    told = {name: (targets, kind) for targets, kind, names in lines for name in re.findall(r"`([^`]+)`", names)}
    assert told == {name: (catalog.entry(name).targets, catalog.entry(name).kind) for name in catalog.names()}


def test_no_two_names_mean_the_same() -> None:
    meanings = [(catalog.entry(name).target, tuple(catalog.entry(name).arguments.items())) for name in catalog.names()]
    assert len(set(meanings)) == len(meanings)


def test_names_of_one_kind() -> None:
    assert set(catalog.names()) == {name for kind in ("rows", "columns", "instances") for name in catalog.names(kind)}
    assert catalog.names("rows")[0] == "screen:t_score"


def test_importing_the_catalog_imports_no_method() -> None:
    code = (
        "import sys, streamsift.catalog; "
        "KINDS = ('streamsift.rows', 'streamsift.columns', 'streamsift.instances', 'numba'); "
        "print([m for m in sys.modules if m.startswith(KINDS)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_arguments_reach_the_method() -> None:
    assert catalog.make("screen:chi2", n_features_to_select=3).n_features_to_select == 3


def test_an_unknown_method_is_refused_with_near_misses() -> None:
    with pytest.raises(UnknownNameError, match=r"There is no method 'screen:tscore'\. Did you mean 'screen:t_score'"):
        catalog.make("screen:tscore")


def test_an_unknown_argument_is_refused_with_near_misses() -> None:
    with pytest.raises(UnknownNameError, match=r"no parameter of screen:gini 'fadding'\. Did you mean 'fading'"):
        catalog.make("screen:gini", fadding=0.9)


def test_an_argument_the_name_stands_for_is_refused() -> None:
    with pytest.raises(ParameterError, match="'screen:gini' stands for criterion='gini'"):
        catalog.make("screen:gini", criterion="chi2")


def test_only_listed_classes_are_imported() -> None:
    with pytest.raises(UnknownNameError, match="subprocess:Popen"):
        catalog.class_at("subprocess:Popen")
