"""A pytest run that has no use for ordeal does not wait for it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import _ordeal_pytest

from .conftest import Project

pytest_plugins = ["pytester"]

HEAVY = ("hypothesis", "numpy", "ordeal", "ordeal._native")

TRIVIAL = f"""
    import sys

    def test_modules():
        assert [name for name in {HEAVY} if name in sys.modules] == []
"""


@pytest.mark.parametrize("options", [[], ["--no-ordeal-seeds"]])
def test_nothing_heavy_is_imported(project: Project, options: list[str]) -> None:
    project.write({"tests/test_bank.py": TRIVIAL, "ordeal.toml": "[explorer]\n"})
    result = project.run_new("-p", "no:hypothesispytest", *options, plugins=("_ordeal_pytest",))
    result.assert_outcomes(passed=1)


def test_listing_seeds_does_not_import_what_replays_them(project: Project) -> None:
    project.overdrawn()
    project.write(
        {
            "tests/test_bank.py": "def test_nothing(): ...",
            "conftest.py": f"""
                import sys

                def pytest_sessionfinish():
                    print("LOADED", [name for name in {HEAVY[:2]} if name in sys.modules])
            """,
        }
    )
    result = project.run_new("--collect-only", "-q", "-s", plugins=("_ordeal_pytest",))
    assert "LOADED []" in result.outlines


def test_plugin_imports_the_standard_library_and_pytest_only() -> None:
    tree = ast.parse(Path(_ordeal_pytest.__file__).read_text(encoding="utf-8"))
    modules = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    assert modules - set(sys.stdlib_module_names) == {"pytest"}
