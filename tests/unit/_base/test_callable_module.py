"""A name that is both a module and a function means the same object, whatever was imported before."""

from __future__ import annotations

import copy
import importlib
import itertools
import subprocess
import sys
from types import ModuleType

import pytest

FIRST = [
    "",
    "import ordeal",
    "import ordeal.buggify, ordeal.reporting",
    "from ordeal.buggify import activate",
    "from ordeal.reporting import property_lines",
    "import ordeal.explore",
    "from ordeal import Explorer, always",
]
THEN = ["from ordeal import buggify, report", "import ordeal; buggify = ordeal.buggify; report = ordeal.report"]
CHECK = """
assert buggify() is False
assert report() == {"passed": [], "failed": []}, report()
import ordeal.buggify, ordeal.reporting
assert ordeal.buggify is buggify and ordeal.report is report
ordeal.buggify.activate(1.0)
assert buggify() is True
assert buggify.buggify() is True
"""


@pytest.mark.parametrize(("first", "then"), list(itertools.product(FIRST, THEN)))
def test_whatever_was_imported_before(first: str, then: str) -> None:
    code = f"{first}\n{then}\n{CHECK}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


QUICKCHECK = """
quickcheck(max_examples=1, n=quickcheck.biased.integers())(lambda n: None)()
import ordeal.quickcheck
assert ordeal.quickcheck is quickcheck
"""


@pytest.mark.parametrize("first", ["from ordeal import quickcheck", "import ordeal; quickcheck = ordeal.quickcheck"])
def test_quickcheck_is_a_module_and_a_function_too(first: str) -> None:
    subprocess.run([sys.executable, "-c", f"{first}\n{QUICKCHECK}"], check=True)


@pytest.mark.parametrize("name", ["ordeal.buggify", "ordeal.quickcheck"])
def test_it_stays_a_module_that_a_copied_machine_may_hold(name: str) -> None:
    module = importlib.import_module(name)
    assert isinstance(module, ModuleType)
    assert callable(module)
    assert copy.deepcopy([module])[0] is module
