"""The projects: their files as text, what they need beside pytest, and how they are installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SHOP = '''"""A shop."""

LIMIT = 18


def allowed(age):
    return age >= LIMIT


def price(units, cents=5):
    return units * cents


def unused(units):
    return units + units
'''

TESTS = """
from shop import allowed, price

def test_allowed():
    assert allowed(18)
    assert not allowed(16)

def test_price():
    assert price(3) == 15
"""

_IN_SRC = {"src/shop/__init__.py": SHOP, "tests/test_shop.py": TESTS}
_BUILD = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "shop"
version = "1"
"""


def _options(**settings: str) -> str:
    return "[pytest]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items())


@dataclass(frozen=True)
class Project:
    """One project.

    Attributes:
        target: what is mutated, as a user writes it. ``{site}`` is the folder that packages are installed into.
        needs: distributions beside pytest, for this project alone.
        install: what pip is given to install it, if it is installed.
        links: links to make, and what each leads to.
        arguments: what pytest is given.
    """

    name: str
    files: Mapping[str, str]
    target: str = "shop"
    needs: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


def _flat(name: str, more: Mapping[str, str], *needs: str, arguments: tuple[str, ...] = ()) -> Project:
    files = {"shop/__init__.py": SHOP, "tests/test_shop.py": TESTS, **more}
    return Project(name, files, needs=needs, arguments=arguments)


LAYOUTS = (
    _flat("flat", {}),
    Project("one module", {"shop.py": SHOP, "test_shop.py": TESTS}, "shop.py"),
    Project("src, by pythonpath", {**_IN_SRC, "pytest.ini": _options(pythonpath="src")}, "src/shop"),
    Project("src, editable (.pth)", {**_IN_SRC, "pyproject.toml": _BUILD}, "src/shop", install=("-e", ".")),
    Project(
        "editable (finder)",
        {
            "shop/__init__.py": SHOP,
            "tests/test_shop.py": TESTS,
            "pyproject.toml": _BUILD + '[tool.setuptools]\npackages = ["shop"]\n',
        },
        install=("-e", "."),
    ),
    Project("wheel", {**_IN_SRC, "pyproject.toml": _BUILD}, "{site}/shop", install=(".",)),
    Project(
        "namespace",
        {"acme/shop/__init__.py": SHOP, "tests/test_shop.py": TESTS.replace("from shop", "from acme.shop")},
        "acme/shop",
    ),
    Project(
        "symbolic link",
        {"real/shop/__init__.py": SHOP, "tests/test_shop.py": TESTS},
        links={"shop": "real/shop"},
    ),
    Project(
        "two names for a file",
        {
            **_IN_SRC,
            "pytest.ini": _options(pythonpath="src"),
            "tests/test_again.py": TESTS.replace("from shop", "from src.shop"),
            "src/__init__.py": "",
        },
        "src/shop",
    ),
    _flat("import-mode importlib", {"pytest.ini": _options(addopts="--import-mode=importlib", pythonpath=".")}),
    _flat("tests beside the code", {"tests/test_shop.py": "", "shop/test_shop.py": TESTS}),
)

_ASYNC_TESTS = """
import asyncio
import pytest
from shop import allowed, price

{mark}
async def test_allowed():
    await asyncio.sleep(0)
    assert allowed(18)
    assert not allowed(16)

{mark}
async def test_price():
    async with asyncio.timeout(5):
        assert price(3) == 15
"""

_HYPOTHESIS = """
import unittest
from hypothesis import given, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from shop import allowed, price

class TestShop:
    @given(st.integers(0, 100))
    def test_allowed(self, age):
        assert allowed(age) == (age >= 18)

class TestUnits(unittest.TestCase):
    @given(st.integers(0, 10))
    def test_price(self, units):
        self.assertEqual(price(units), units * 5)

class Basket(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.units = 0

    @rule(more=st.integers(1, 6))
    def add(self, more):
        self.units += more
        assert price(self.units) == 5 * self.units

TestBasket = Basket.TestCase
"""

_UNITTEST = """
import unittest
from shop import allowed, price

class TestShop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.limit = 18

    def setUp(self):
        self.units = 3

    def test_allowed(self):
        self.assertTrue(allowed(self.limit))
        for age in (0, 16):
            with self.subTest(age=age):
                self.assertFalse(allowed(age))

    def test_price(self):
        self.assertEqual(price(self.units), 15)

class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_allowed(self):
        self.assertTrue(allowed(40))
"""

_SUBPROCESS = """
import subprocess, sys

def shop(call):
    done = subprocess.run([sys.executable, "-c", f"import shop; print(shop.{call})"], capture_output=True, text=True)
    return done.stdout.strip()

def test_allowed():
    assert shop("allowed(18)") == "True"
    assert shop("allowed(16)") == "False"

def test_price():
    assert shop("price(3)") == "15"
"""

_CHANGED_FOLDER = """
import os
import pytest

@pytest.fixture(autouse=True)
def elsewhere(tmp_path):
    before = os.getcwd()
    os.chdir(tmp_path)
    yield
    os.chdir(before)
"""

_MOCK = """
import shop

def test_allowed(mocker):
    mocker.patch("shop.LIMIT", 21)
    assert not shop.allowed(20)
    assert shop.allowed(21)

def test_price(mocker):
    seen = mocker.spy(shop, "price")
    assert shop.price(3) == 15
    assert seen.call_count == 1
"""

_FIXTURES = """
import pytest
from shop import allowed, price

@pytest.fixture(scope="session")
def prices():
    return {units: price(units) for units in (1, 3)}

@pytest.fixture(scope="module", params=[16, 18])
def age(request):
    return request.param

class TestShop:
    def setup_method(self):
        self.before = price(2)

    def test_allowed(self, age):
        assert allowed(age) == (age == 18)

    def test_price(self, prices):
        assert prices == {1: 5, 3: 15}

    @pytest.mark.xfail
    def test_expected(self):
        assert price(11) == 56
"""

_IMPORTED_INSIDE = """
def test_allowed():
    from shop import allowed
    assert allowed(18)
    assert not allowed(16)

def test_price():
    import shop
    assert shop.price(3) == 15
"""

_DOCTESTS = SHOP.replace(
    "age):\n", 'age):\n    """Say so.\n\n    >>> allowed(18), allowed(16)\n    (True, False)\n    """\n'
)

_SESSION_THREAD = """
import threading
from shop import allowed, price

def test_allowed():
    found = []
    thread = threading.Thread(target=lambda: found.extend([allowed(18), allowed(16)]))
    thread.start()
    thread.join()
    assert found == [True, False]

def test_price(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    print(price(3))
    assert capsys.readouterr().out == "15\\n"
"""

_PROCESSES = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import shop

def test_allowed():
    with ProcessPoolExecutor(1, multiprocessing.get_context("{method}")) as pool:
        assert list(pool.map(shop.allowed, [16, 18])) == [False, True]

def test_price():
    assert shop.price(3) == 15
"""

PLUGINS = (
    _flat("unittest", {"tests/test_shop.py": _UNITTEST}),
    _flat("fixtures and classes", {"tests/test_shop.py": _FIXTURES}),
    _flat("imported inside tests", {"tests/test_shop.py": _IMPORTED_INSIDE}),
    _flat("doctests", {"shop/__init__.py": _DOCTESTS}, arguments=("--doctest-modules", "shop", "tests")),
    _flat("threads, capsys, monkeypatch", {"tests/test_shop.py": _SESSION_THREAD}),
    _flat("conftest changes the folder", {"conftest.py": _CHANGED_FOLDER}),
    _flat("filterwarnings = error", {"pytest.ini": _options(filterwarnings="error")}),
    _flat("Hypothesis: classes, machine", {"tests/test_shop.py": _HYPOTHESIS}),
    _flat("tests start interpreters", {"tests/test_shop.py": _SUBPROCESS}),
    _flat("process pool (fork)", {"tests/test_shop.py": _PROCESSES.format(method="fork")}),
    _flat("process pool (spawn)", {"tests/test_shop.py": _PROCESSES.format(method="spawn")}),
    _flat(
        "pytest-asyncio",
        {"tests/test_shop.py": _ASYNC_TESTS.format(mark=""), "pytest.ini": _options(asyncio_mode="auto")},
        "pytest-asyncio",
    ),
    _flat(
        "anyio",
        {
            "tests/test_shop.py": _ASYNC_TESTS.format(mark="@pytest.mark.anyio"),
            "tests/conftest.py": 'import pytest\n\n@pytest.fixture\ndef anyio_backend():\n    return "asyncio"\n',
        },
        "anyio",
        "idna",
    ),
    _flat("pytest-xdist, -n 2 in addopts", {"pytest.ini": _options(addopts="-n 2")}, "pytest-xdist", "execnet"),
    _flat(
        "pytest-cov, in addopts",
        {"pytest.ini": _options(addopts="--cov=shop --cov-fail-under=50")},
        *("pytest-cov", "coverage"),
    ),
    _flat("pytest-randomly", {}, "pytest-randomly"),
    _flat("pytest-timeout", {"pytest.ini": _options(timeout="20")}, "pytest-timeout"),
    _flat("pytest-mock", {"tests/test_shop.py": _MOCK}, "pytest-mock"),
    _flat("pytest-sugar", {}, "pytest-sugar", "termcolor"),
    _flat("pytest-order", {"pytest.ini": _options(addopts="-p no:logging --strict-markers")}, "pytest-order"),
)

PROJECTS = (*LAYOUTS, *PLUGINS)
