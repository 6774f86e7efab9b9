"""Free tools of ``sys.monitoring``: Python has six for a whole process."""

from __future__ import annotations

import sys

from ordeal.errors import OrdealError

#: The order in which they are taken. Debuggers and measurements of coverage look for theirs, 0 and 1, whenever they
#: begin; a profiler looks for 2, and the coverage of ordeal itself for 4 and then for 3.
ORDER = (5, 3, 4, 2)


def free_tools() -> list[int]:
    """Return the tools that may be taken now, the one to take first at the front."""
    return [each for each in ORDER if sys.monitoring.get_tool(each) is None]


def free_tool() -> int | None:
    """Return the tool to take now, None if none is free."""
    return next(iter(free_tools()), None)


def take_tool(tool: int, name: str) -> None:
    """Take a tool, with all its events on: what an earlier holder of its number disabled may still be off."""
    sys.monitoring.use_tool_id(tool, name)
    sys.monitoring.restart_events()


def needed_tool(what: str) -> int:
    """Return the tool to take now for ``what``, which cannot do without one.

    Raises:
        OrdealError: none is free.
    """
    tool = free_tool()
    if tool is None:
        holders = ", ".join(f"{each} by {sys.monitoring.get_tool(each)!r:.50}" for each in sorted(ORDER))
        raise OrdealError(
            f"no tool of sys.monitoring is free for {what}: {holders}",
            hint="stop a profiler or measurement that holds one, or run it in another process",
        )
    return tool
