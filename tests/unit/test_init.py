"""The package offers its public names and loads them late; what stands only for other modules offers theirs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ordeal
from ordeal import reporting
from ordeal._base import property_text as text


def python(code: str) -> str:
    """What a fresh interpreter prints for ``code``."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("name", ordeal.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(ordeal, name) is getattr(ordeal, name)
    assert name in dir(ordeal)


def test_type_checkers_know_every_public_name() -> None:
    tree = ast.parse(Path(str(ordeal.__file__)).read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imported = [alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    declared = [ast.unparse(node.target) for node in block.body if isinstance(node, ast.AnnAssign)]
    assert set(ordeal.__all__) <= {*imported, *declared}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ordeal' has no attribute 'chaos_tset'"):
        _ = ordeal.chaos_tset


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, ordeal; print(sorted(m for m in sys.modules if m.startswith(('ordeal.', 'hypothesis'))))"
    assert python(code) == "[]"


SEARCH = """
from ordeal.explore import Explorer
from tests.unit.samples.traced import Counter
assert Explorer(Counter, target_modules=["ordeal.seed"], workers=1).run(max_runs=200).failures
"""
COMMAND = """
import os, ordeal.cli, tests.unit.samples.traced
os.chdir({folder!r})
ordeal.cli.main(["explore", "tests.unit.samples.traced:Counter", "--max-runs", "50", "-w", "1", "--no-confirm-fresh"])
"""
#: What only some searches need.
LATE = ("ordeal.store", "ordeal.exhaustive.generation", "jinja2", "pygments", "rich", "textual")


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import ordeal.explore", (*LATE, "ordeal._engine.parallel", "ordeal._report", "click", "tomllib")),
        (SEARCH, (*LATE, "ordeal._engine.parallel", "ordeal._report", "click", "tomllib")),
        (COMMAND, (*LATE, "ordeal._engine.parallel.fleet", "ordeal._tools")),
    ],
    ids=["import", "search", "command"],
)
def test_a_search_does_not_load_what_only_others_need(code: str, unwanted: tuple[str, ...], tmp_path: Path) -> None:
    script = f"{code.replace('{folder!r}', repr(str(tmp_path)))}\nimport sys; print(*sys.modules)"
    loaded = python(script).splitlines()[-1].split()
    assert [name for name in loaded if name.startswith(unwanted)] == []


@pytest.mark.parametrize("before", ["", "import ordeal.explore; ", "from ordeal import Explorer; "])
def test_explore_is_always_the_module(before: str) -> None:
    assert python(f"{before}from ordeal import explore; print(type(explore).__name__)") == "module"


def test_modules_need_no_import_of_their_own() -> None:
    names = sorted(ordeal._MODULES)
    assert python(f"import ordeal; print([getattr(ordeal, name).__name__ for name in {names}])") == str(
        [f"ordeal.{name}" for name in names]
    )


def test_a_public_name_that_is_also_a_module_is_that_module_and_can_be_called() -> None:
    clashing = {name: sys.modules[f"ordeal.{name}"] for name in ordeal.__all__ if f"ordeal.{name}" in sys.modules}
    assert set(clashing) <= {"buggify", "quickcheck", "report"}
    for name, module in clashing.items():
        assert getattr(ordeal, name) is module
        assert callable(module)


def test_the_lines_of_own_reports_are_those_of_the_reports() -> None:
    assert reporting.__all__ == ["property_lines", "reliability_lines"]
    assert reporting.property_lines is text.property_lines
    assert reporting.reliability_lines is text.reliability_lines
