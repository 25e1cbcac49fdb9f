"""Nothing is declared that nothing imports, and nothing is imported that is not declared."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
TOOLS = {
    "cogapp", "coverage", "grimp", "hatchling", "import-linter", "mypy", "pytest-timeout", "pytest-xdist", "ruff",
    "types-networkx", "types-psutil", "types-pyyaml",
}  # fmt: skip
"""Of the development group: run by name, or read by a tool."""
BY_NETWORKX = {"pydot"}
BY_ZONEINFO = {"tzdata"}
BRINGS = {
    module: {dist.lower().replace("_", "-") for dist in dists} for module, dists in packages_distributions().items()
}
"""The distributions that bring a module, as they are written in a declaration."""


def declared(lines: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower().replace("_", "-") for line in lines}


def imported(*folders: str) -> set[str]:
    """Top-level modules that files below `folders` import, inside functions and code strings too."""
    found: set[str] = set()
    for folder in folders:
        for place in (REPOSITORY / folder).rglob("*.py"):
            text = place.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Import):
                    found.update(name.name.partition(".")[0] for name in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.add(node.module.partition(".")[0])
                elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                    found.add(str(node.args[0].value).partition(".")[0])  # import_module("x"), files("x")
    return found


def unused(names: set[str], modules: set[str]) -> set[str]:
    return {name for name in names if not any(name in BRINGS.get(module, ()) for module in modules)}


def test_every_dependency_is_imported() -> None:
    names = declared(PROJECT["project"]["dependencies"]) - BY_NETWORKX - BY_ZONEINFO
    assert len(names) > 5
    assert not unused(names, imported("aria_dream"))


def test_every_development_dependency_is_imported_or_a_tool() -> None:
    names = declared(PROJECT["dependency-groups"]["dev"]) - TOOLS
    assert len(names) > 5
    assert not unused(names, imported("tests", "benchmarks"))


def test_every_import_is_declared() -> None:
    known = declared(PROJECT["project"]["dependencies"])
    modules = (imported("aria_dream") & BRINGS.keys()) - sys.stdlib_module_names - {"aria_dream"}
    assert not {module for module in modules if not BRINGS[module] & known}
