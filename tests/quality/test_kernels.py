"""Kernels with an underscore have no way in from Python: calling one would crash, so nobody outside may name it."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "src" / "streamsift" / "kernels"
COMPILERS = {"kernel", "fused_kernel", "summing_kernel", "inlined_kernel"}


def inner_kernels() -> dict[str, set[str]]:
    """The names with an underscore that each file of kernels compiles."""
    found: dict[str, set[str]] = {}
    for path in KERNELS.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and is_compiled(node):
                found.setdefault(path.stem, set()).add(node.name)
    return found


def is_compiled(function: ast.FunctionDef) -> bool:
    return bool(COMPILERS & {getattr(mark, "id", "") for mark in function.decorator_list})


def taken(tree: ast.AST) -> set[str]:
    """What a file imports from the kernels, or takes from one of their modules as an attribute."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("streamsift.kernels"):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {node.attr} if (KERNELS / f"{node.value.id}.py").exists() else set()
    return found


def plain_calls(path: Path) -> set[str]:
    """The functions that a file of kernels calls from plain Python."""
    return {
        call.func.id
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and not is_compiled(node)
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }


def test_no_other_file_names_an_inner_kernel() -> None:
    inner = set().union(*inner_kernels().values())
    assert len(inner) > 30
    files = [path for part in ("src", "tests", "benchmarks") for path in (ROOT / part).rglob("*.py")]
    used = {str(path.relative_to(ROOT)): inner & taken(ast.parse(path.read_text())) for path in files}
    assert {path: found for path, found in used.items() if found} == {}


def test_no_plain_function_calls_an_inner_kernel() -> None:
    used = {stem: plain_calls(KERNELS / f"{stem}.py") & inner for stem, inner in inner_kernels().items()}
    assert {stem: found for stem, found in used.items() if found} == {}
