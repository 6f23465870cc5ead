"""Packages talk to each other through their faces alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "trueup"


def strange_imports(path: Path) -> list[str]:
    """The modules of other packages that a file imports."""
    own = path.relative_to(SOURCE).parts[0]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("trueup."):
            package, *modules = node.module.split(".")[1:]
            if package != own and any(module.startswith("_") for module in modules):
                found.append(node.module)
    return found


def test_nobody_imports_a_module_of_another_package() -> None:
    if not SOURCE.is_dir():
        pytest.skip("only a source tree has the files")
    files = list(SOURCE.rglob("*.py"))
    assert len(files) > 200
    assert {str(path): strange for path in files if (strange := strange_imports(path))} == {}
