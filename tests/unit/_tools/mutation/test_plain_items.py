"""Tests that need no hooks of pytest say the same without them, and those that need any run by all."""

import json
import subprocess
import sys
from pathlib import Path

from ordeal._tools.mutation.plain_items import failure_of

_RUN = """
import json, sys
import pytest
from ordeal._tools.mutation.pytest_items import FailureWatch, Items

watch, found = FailureWatch(), {}

class Judge:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        items = Items(session, watch)
        for number, item in enumerate(items.all):
            said = [items.first_failure([number], plainly=plainly) for plainly in (True, False, True)]
            name = item.nodeid.partition("::")[2]
            found[name] = [number in items.plain, *(each and each[1] for each in said)]
        return True

pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[watch, Judge()])
print(json.dumps(found))
"""
_TESTS = """
import logging, os, sys, unittest, warnings
import pytest

def test_passes(): print("text")
def test_fails(): assert not "empty"
def test_skips(): pytest.skip("why")
def test_expects(): pytest.xfail("why")
def test_exits(): sys.exit(3)
def test_its_name(): assert os.environ["PYTEST_CURRENT_TEST"] == "test_sample.py::test_its_name (call)"
def test_reads_input(): input()
def test_warns(): warnings.warn("old", DeprecationWarning)
def test_logs_wrongly(): logging.getLogger("sample").warning("%d", "text")

class Closing:
    def __del__(self): raise ValueError("lost")

def test_finalizer(): Closing()

@pytest.mark.parametrize("n", [1, 2])
def test_one(n): assert n == 1

@pytest.fixture(scope="module")
def shared(): return []

@pytest.fixture
def broken(): raise KeyError

@pytest.fixture
def breaks_later():
    yield 1
    raise KeyError

def test_fixture(shared, tmp_path): assert not shared and not any(tmp_path.iterdir())
def test_broken(broken): pass
def test_breaks_later(breaks_later): pass
def test_captures(capsys): assert capsys.readouterr().out == ""

@pytest.mark.skipif("True")
def test_skipped(): assert False

class TestMethods:
    seen = None
    def test_one(self): assert self.seen is None; self.seen = 1
    def test_two(self): assert self.seen is None

class TestSetUp:
    def setup_method(self): self.value = 1
    def test_it(self): assert self.value == 1

class TestCase(unittest.TestCase):
    def setUp(self): self.done = []
    def tearDown(self): assert not self.done
    def test_passes(self): self.assertEqual(1, 1)
    def test_fails(self): self.assertEqual(1, 2)
    def test_fails_later(self): self.done.append(1)
    def test_part(self):
        for n in (1, 2):
            with self.subTest(n=n): self.assertEqual(n, 1)
    def test_skips(self): self.skipTest("why")
    @unittest.expectedFailure
    def test_unexpected(self): pass

class TestWithClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.value = 1
    def test_it(self): self.assertEqual(self.value, 1)
"""
#: Whether it is plain, and what it fails with; in each way the same.
_EXPECTED = {
    "test_passes": (True, None),
    "test_fails": (True, "AssertionError"),
    "test_skips": (True, None),
    "test_expects": (True, None),
    "test_exits": (True, "SystemExit"),
    "test_its_name": (True, None),
    "test_reads_input": (True, "OSError"),
    "test_warns": (True, "DeprecationWarning"),
    "test_logs_wrongly": (True, "TypeError"),
    "test_finalizer": (True, "PytestUnraisableExceptionWarning"),
    "test_one[1]": (True, None),
    "test_one[2]": (True, "AssertionError"),
    "test_fixture": (True, None),
    "test_broken": (True, "KeyError"),
    "test_breaks_later": (True, "KeyError"),
    "test_captures": (False, None),
    "test_skipped": (False, None),
    "TestMethods::test_one": (True, None),
    "TestMethods::test_two": (True, None),
    "TestSetUp::test_it": (True, None),
    "TestCase::test_fails": (True, "AssertionError"),
    "TestCase::test_fails_later": (True, "AssertionError"),
    "TestCase::test_part": (True, "AssertionError"),
    "TestCase::test_passes": (True, None),
    "TestCase::test_skips": (True, None),
    "TestCase::test_unexpected": (True, "AssertionError"),
    "TestWithClass::test_it": (True, None),
}


def _ran(folder: Path, *arguments: str) -> dict[str, list[object]]:
    folder.joinpath("pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\n    ignore::pytest.PytestAssertRewriteWarning", "utf-8"
    )
    folder.joinpath("test_sample.py").write_text(_TESTS, "utf-8")
    line = [sys.executable, "-c", _RUN, *arguments]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    found: dict[str, list[object]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_without_hooks_each_test_fails_as_with_them(tmp_path: Path) -> None:
    expected = {name: [plain, kind, kind, kind] for name, (plain, kind) in _EXPECTED.items()}
    assert _ran(tmp_path) == expected


def test_hooks_of_a_conftest_keep_all_hooks(tmp_path: Path) -> None:
    tmp_path.joinpath("conftest.py").write_text("def pytest_runtest_setup(item): pass", "utf-8")
    assert not any(plain for plain, *_ in _ran(tmp_path, "-k", "passes").values())


def test_what_expects_its_end_has_not_failed() -> None:
    error = ValueError()
    assert failure_of(error) is error
    assert failure_of(None) is None
