"""Tests that fail are noticed without a report, and leave the process fit for the next test."""

import subprocess
import sys
from pathlib import Path

import pytest

_CHECK = """
import pytest
from ordeal._tools.mutation.pytest_items import FailureWatch, Items

watch, found = FailureWatch(), []

class Judge:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        items = Items(session, watch)
        for _ in range(2):
            found.append(items.first_failure(range(len(items))))
        return True

pytest.main(["-q", "-p", "no:cacheprovider"], plugins=[watch, Judge()])
print(found)
"""


@pytest.mark.parametrize(
    "test",
    [
        "def test_it(): raise KeyError",
        "import unittest\nclass TestIt(unittest.TestCase):\n    def test_it(self): raise KeyError",
        "import pytest\n@pytest.fixture\ndef broken(): raise KeyError\ndef test_it(broken): pass",
    ],
)
def test_a_failure_is_noticed_each_time_also_where_warnings_are_errors(tmp_path: Path, test: str) -> None:
    tmp_path.joinpath("pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\n    ignore::pytest.PytestAssertRewriteWarning", "utf-8"
    )
    tmp_path.joinpath("test_sample.py").write_text(f"def test_before(): pass\n{test}", "utf-8")
    done = subprocess.run([sys.executable, "-c", _CHECK], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[(1, 'KeyError'), (1, 'KeyError')]"
