"""The package as a user meets it: cheap to import, exact about its names, with examples that run."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import streamsift
from streamsift import catalog, checks, datasets, persist

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numba", "sklearn", "scipy", "pandas", "polars", "pyarrow", "torch", "bokeh", "numpy")
MODULES = [
    info.name
    for info in pkgutil.walk_packages(streamsift.__path__, "streamsift.")
    if not info.name.endswith("__main__")  # it runs the command line
]


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, streamsift; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_written_in_one_place() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in settings["project"]
    assert settings["project"]["dynamic"] == ["version"]
    assert (ROOT / settings["tool"]["hatch"]["version"]["path"]).samefile(streamsift.__file__)
    assert streamsift.__version__ == version("streamsift")


def test_the_table_of_names_is_the_list_of_exports() -> None:
    assert sorted(streamsift.__all__) == sorted([*streamsift._HOME, "__version__"])
    assert dir(streamsift) == sorted(streamsift.__all__)


def test_a_type_checker_imports_what_the_table_of_names_resolves() -> None:
    tree = ast.parse(Path(streamsift.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    typed = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name, "without `as`, a checker takes the name for a private one"
            typed[alias.name] = f"streamsift.{alias.name}" if node.module == "streamsift" else node.module
    assert typed == streamsift._HOME


@pytest.mark.parametrize("name", streamsift.__all__)
def test_every_exported_name_resolves_to_its_home(name: str) -> None:
    value = getattr(streamsift, name)
    home = streamsift if name == "__version__" else import_module(streamsift._HOME[name])
    assert value is (home if isinstance(value, ModuleType) else getattr(home, name))


def test_other_names_do_not_resolve() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        streamsift.no_such_name


@pytest.mark.parametrize("module", MODULES)
def test_every_module_imports_and_exports_what_it_says(module: str) -> None:
    loaded = import_module(module)
    for name in getattr(loaded, "__all__", []):
        assert hasattr(loaded, name), f"{module}.__all__ names {name!r}, which is not there"


def public_objects() -> dict[str, object]:
    """Exported names, and the public functions of the modules users call by module."""
    found = {f"streamsift.{name}": getattr(streamsift, name) for name in streamsift.__all__ if name != "__version__"}
    modules: list[ModuleType] = [catalog, checks, datasets, persist]
    for module in modules:
        for name, value in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("_") and value.__module__.startswith(module.__name__):
                found[f"{module.__name__}.{name}"] = value
    return found


@pytest.mark.parametrize("name", public_objects())
def test_every_public_name_has_an_example(name: str) -> None:
    text = inspect.getdoc(public_objects()[name])
    assert text, f"{name} has no docstring"
    assert ">>>" in text, f"the docstring of {name} has no example"
