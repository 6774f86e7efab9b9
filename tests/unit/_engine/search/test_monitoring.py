"""Watching the targets of a search: at which level, with what hidden, and which files the rules touch."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

import ordeal._native as _native
from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.search.monitoring import Monitoring
from ordeal._engine.search.search import Search
from ordeal.errors import TargetError
from ordeal.explore import Explorer

from ...samples.monitored import MakeModule
from ...samples.triaged import settings_for

CODE = """
    def touched(by):
        if by:
            return 1
        return 2
"""


class Plain(RuleBasedStateMachine):
    @rule()
    def go(self) -> None: ...


def search_of(targets: list[str], **options: Any) -> Search:
    return Search(settings_for(Plain, **options), make_driver(Plain), resolve_targets(targets))


def watched(make_module: MakeModule) -> tuple[Any, Search, Monitoring, _native.Monitor]:
    module = make_module(CODE, "sut")
    search = search_of(["sut"])
    monitor = search.monitoring.monitor
    assert monitor is not None
    return module, search, search.monitoring, monitor


def test_where_other_tools_leave_no_way_to_watch_that_is_the_error(make_module: MakeModule) -> None:
    _, _, monitoring, _ = watched(make_module)
    taken = [number for number in range(6) if sys.monitoring.get_tool(number) is None]
    for number in taken:
        sys.monitoring.use_tool_id(number, "another tool")
    try:
        with pytest.raises(TargetError, match="the target modules cannot be watched: "), monitoring.started():
            pytest.fail("nothing is watched")
    finally:
        for number in taken:
            sys.monitoring.free_tool_id(number)


def test_a_tool_id_that_other_code_takes_away_is_a_note(make_module: MakeModule) -> None:
    make_module(CODE, "sut")
    given: list[int] = []

    class Freeing(RuleBasedStateMachine):
        @rule()
        def go(self) -> None:
            for number in range(6):
                if not given and sys.monitoring.get_tool(number) == "ordeal":
                    given.append(number)
                    sys.monitoring.free_tool_id(number)

    result = Explorer(Freeing, target_modules=["sut"], workers=1).run(max_runs=5)
    taken = f"other code has taken tool id {given[0]} of sys.monitoring away"
    assert f"Some code was not traced: {taken}." in result.notes


def test_the_files_that_a_rule_touches_are_those_of_that_rule(make_module: MakeModule) -> None:
    module, search, monitoring, monitor = watched(make_module)
    with monitoring.started():
        monitor.begin_run(full=True)
        monitor.take_files()
        module.touched(0)
        monitoring.learn_files(3, search.progress)
        monitoring.learn_files(4, search.progress)
    (files,) = search.progress.rule_files.values()
    assert list(search.progress.rule_files) == [3]
    assert [monitor.files()[file] for file in files] == [module.__file__]
