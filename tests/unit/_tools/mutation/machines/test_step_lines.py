"""The lines of each step, and that nothing is left behind."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.unit._tools.mutation.machines import till

import ordeal._native as _native
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines.bench import Bench
from ordeal._tools.mutation.machines.step_lines import StepLines


def test_a_line_has_the_steps_that_run_it(bench: Bench, tapes: list[_native.Tape]) -> None:
    path = real_path(till.__file__)
    line = next(n for n, text in enumerate(Path(path).read_text().split("\n"), 1) if "self.given_back += cents" in text)
    tools = [sys.monitoring.get_tool(each) for each in range(6)]
    for _ in range(2):
        watch = StepLines({path})
        watch.start()
        with bench.running():
            assert bench.watched(tapes[0], watch)
        watch.stop()
        assert "give_back" in watch.rules
        assert watch.hits[path, line] == sum(1 << n for n, rule in enumerate(watch.rules) if rule == "give_back")
        invariants = Path(path).read_text().split("\n").index("    def close(self) -> None:")
        assert watch.looked
        assert all(each > invariants for _, each in watch.looked)
    assert [sys.monitoring.get_tool(each) for each in range(6)] == tools
