"""The catalog: complete, cheap to import, and clear about names it does not know."""

from __future__ import annotations

import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module

import pytest

import streamsift
import streamsift.rows
from streamsift import catalog
from streamsift.core.exceptions import ParameterError, UnknownNameError
from streamsift.core.rows import RowSelector


def row_selectors_in_the_package() -> set[str]:
    """Every concrete row selector that lives in streamsift.rows, as "module:Class"; bounds are no methods."""
    found = set()
    for info in pkgutil.walk_packages(streamsift.rows.__path__, "streamsift.rows."):
        if info.name == "streamsift.rows.bounds":
            continue
        for _, member in inspect.getmembers(import_module(info.name), inspect.isclass):
            if (
                issubclass(member, RowSelector)
                and member.__module__ == info.name
                and not member.__name__.startswith("_")
            ):
                found.add(f"{member.__module__}:{member.__qualname__}")
    return found


def test_the_table_lists_every_row_selector_and_no_other() -> None:
    listed = {catalog.entry(name).target for name in catalog.names("rows")}
    assert listed == row_selectors_in_the_package()


def test_the_table_equals_the_public_exports() -> None:
    exported = {name for name in streamsift.__all__ if inspect.isclass(getattr(streamsift, name))}
    methods = {name for name in exported if issubclass(getattr(streamsift, name), RowSelector)}
    assert methods == {catalog.entry(name).target.partition(":")[2] for name in catalog.names("rows")}


@pytest.mark.parametrize("name", catalog.names())
def test_every_entry_can_be_made_and_describes_itself(name: str) -> None:
    entry = catalog.entry(name)
    method = catalog.make(name)
    assert f"{type(method).__module__}:{type(method).__qualname__}" == entry.target
    assert entry.arguments.items() <= method.get_params().items()
    assert re.fullmatch(r"[A-Z][^\n]+\.", entry.summary)
    assert re.search(r"\(\d{4}\)", entry.paper)
    assert re.fullmatch(r"([A-Z][^\n]+\.)?", entry.note)


def test_no_two_names_mean_the_same() -> None:
    meanings = [(catalog.entry(name).target, tuple(catalog.entry(name).arguments.items())) for name in catalog.names()]
    assert len(set(meanings)) == len(meanings)


def test_names_of_one_kind() -> None:
    assert set(catalog.names()) == {name for kind in ("rows", "columns", "instances") for name in catalog.names(kind)}
    assert catalog.names("rows")[0] == "screen:t_score"


def test_importing_the_catalog_imports_no_method() -> None:
    code = (
        "import sys, streamsift.catalog; print([m for m in sys.modules if m.startswith(('streamsift.rows', 'numba'))])"
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
