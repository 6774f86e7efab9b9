"""A monitor goes on in another process: what ran is known, and what is silent stays so until it is armed again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ordeal._native import CoverageMap, Monitor

SOURCE = """
def climb(steps):
    height = 0
    for step in range(steps):
        if step % 2:
            height += 1
    return height

def other():
    return 1
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "climber.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("climber")
    del sys.modules["climber"]


def start(module: ModuleType, level: str) -> tuple[Monitor, CoverageMap]:
    coverage = CoverageMap()
    monitor = Monitor(coverage, [("climber", str(module.__file__), False)], level=level)
    monitor.start()
    return monitor, coverage


def through_json(state: Any) -> Any:
    return json.loads(json.dumps(state))


@pytest.mark.parametrize("level", ["novelty", "counts"])
def test_a_second_monitor_counts_what_the_first_would_have(module: ModuleType, level: str) -> None:
    first, _ = start(module, level)
    module.climb(3)
    first.take_files()
    state = first.save()
    before = first.events
    module.climb(3)
    counted, touched = first.events - before, first.take_files()
    first.stop()

    second, _ = start(module, level)
    second.restore(*through_json(state))
    assert (second.lines(), second.files(), second.events) == (first.lines(), first.files(), before)
    assert through_json(second.save()) == through_json(state)
    module.climb(3)
    assert (second.events - before, second.take_files()) == (counted, touched)
    second.stop()


def test_what_is_silent_tells_again_after_it_was_armed(module: ModuleType) -> None:
    first, _ = start(module, "novelty")
    module.climb(3)
    state = first.save()
    first.stop()

    second, coverage = start(module, "novelty")
    second.restore(*state)
    module.climb(3)
    assert coverage.edges_seen == 0
    second.begin_run(full=True)
    module.climb(3)
    module.other()
    second.stop()
    assert coverage.edges_seen > 0
    assert max(second.lines()[str(module.__file__)]) == 10


def test_nothing_is_seen_while_it_is_paused(module: ModuleType) -> None:
    monitor, coverage = start(module, "counts")
    monitor.set_paused(True)
    module.climb(3)
    assert (coverage.edges_seen, monitor.events, monitor.lines()) == (0, 0, {})
    monitor.set_paused(False)
    module.climb(3)
    monitor.stop()
    assert coverage.edges_seen > 0


def test_files_and_code_of_elsewhere_are_left_out(module: ModuleType) -> None:
    monitor, _ = start(module, "novelty")
    own = str(module.__file__)
    sites = [(-2, 0, False, (1, False), (2, False)), (10**9, 0, True, (1, True), (-1, False))]
    module.climb(1)
    (code,) = monitor.save()[2]
    monitor.stop()
    monitor, _ = start(module, "novelty")
    monitor.restore([("/elsewhere.py", [1]), (own, [2, 3])], [0, 1, 9], [(code[0], False, [], sites)], 7)
    assert (monitor.files(), monitor.take_files(), monitor.events) == ([own], [0], 7)
    module.climb(3)
    monitor.stop()
    assert monitor.error is None
    assert set(monitor.lines()[own]) >= {2, 3, 4, 5}
