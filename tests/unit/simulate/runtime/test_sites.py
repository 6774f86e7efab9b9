"""Places are named so that edits which change nothing do not rename them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate

PROGRAM = """
import asyncio

async def worker(done):
    await asyncio.sleep(len("#1"))
    done.append(
        await asyncio.sleep(1, 'a # in a text'))

async def main():
    done = []
    await asyncio.wait([asyncio.create_task(worker(done))])
    assert done
"""


def imported(path: Path, text: str) -> Callable[[], Any]:
    path.write_text(text, "utf-8")
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), names)
    return names["main"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('len("#1"))', 'len("#1"))  # a comment'),
        ("await asyncio.sleep(1, 'a # in a text'))", "await asyncio.sleep(1, 'a # in a text'))# and # one"),
        ("import asyncio\n", "import asyncio\n\n# A comment.\n"),
    ],
)
def test_a_comment_leaves_a_recorded_failure_as_it_is(tmp_path: Path, old: str, new: str) -> None:
    faults = [simulate.cancel()]
    failures = {}
    for seed in range(0, 200, 20):
        failure = simulate.explore(imported(tmp_path / "a.py", PROGRAM), seed=seed, faults=faults, check=False).failure
        assert failure is not None
        failures[str(failure.decisions)] = failure.decisions
    assert any(" # in a text" in decisions for decisions in failures)
    edited = imported(tmp_path / "b.py", PROGRAM.replace(old, new))
    for decisions in failures.values():
        with pytest.raises(AssertionError):
            simulate.run(edited, faults=faults, decisions=decisions)
