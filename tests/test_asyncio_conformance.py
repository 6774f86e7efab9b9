"""CPython's own tests of asyncio pass on the simulated loop."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "asyncio_conformance.py"

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 13)
    or importlib.util.find_spec("test") is None
    or importlib.util.find_spec("test.test_asyncio") is None,
    reason="the differences are those of Python 3.13, which must have come with its tests",
)


def conformance(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TOOL), *arguments], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_some_modules() -> None:
    done = conformance("test_waitfor", "test_futures2")
    assert done.returncode == 0, done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["test_waitfor", "test_futures2"]


@pytest.mark.nightly
def test_all_modules() -> None:
    done = conformance()
    assert done.returncode == 0, done.stdout
