"""What ordeal takes of ``sys.monitoring`` beside its coverage leaves the places of others free."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType

import pytest

from ordeal._base.monitoring_tools import ORDER, free_tool, free_tools, needed_tool, take_tool
from ordeal.errors import OrdealError


@pytest.fixture
def taken() -> Iterator[list[int]]:
    """Takes all that ordeal may take, and says what was free."""
    free = free_tools()
    for tool in free:
        sys.monitoring.use_tool_id(tool, f"tool {tool}")
    yield free
    for tool in free:
        if sys.monitoring.get_tool(tool) is not None:
            sys.monitoring.free_tool_id(tool)


def test_a_profiler_loses_its_tool_last(taken: list[int]) -> None:
    assert taken[0] == ORDER[0]
    for tool in reversed(taken):
        sys.monitoring.free_tool_id(tool)
        assert free_tool() == tool
    assert ORDER[-1] == sys.monitoring.PROFILER_ID


def test_without_a_free_tool_none_is_taken_and_who_needs_one_says_who_holds_them(taken: list[int]) -> None:
    assert free_tools() == []
    assert free_tool() is None
    with pytest.raises(OrdealError, match=rf"free for the doctor: .*{taken[0]} by 'tool {taken[0]}'") as raised:
        needed_tool("the doctor")
    assert raised.value.hint


def test_who_takes_a_tool_sees_what_its_last_holder_had_enough_of() -> None:
    monitoring, tool = sys.monitoring, needed_tool("a test")
    seen: list[str] = []

    def note(code: CodeType, _offset: int) -> object:
        seen.append(code.co_name)
        return monitoring.DISABLE

    def called() -> None: ...

    for _ in range(2):
        take_tool(tool, "a test")
        monitoring.register_callback(tool, monitoring.events.PY_START, note)
        monitoring.set_events(tool, monitoring.events.PY_START)
        called()
        called()
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    assert seen.count("called") == 2
