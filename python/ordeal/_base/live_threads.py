"""Finds the program's threads in this process, which would not survive a fork, and whether they take turns."""

from __future__ import annotations

import functools
import sys
import threading
from typing import Any

from ordeal._base.limits import LISTED_MAX

#: Modules whose threads are not part of the program: nothing that is tested waits for them.
_TOOLS = frozenset(
    {
        *("IPython", "_pydevd_bundle", "_pytest", "coverage", "debugpy", "execnet", "hypothesis", "ipykernel"),
        *("jupyter_client", "memray", "ordeal", "pydevd", "pytest", "pytest_timeout", "tqdm", "xdist", "zmq"),
    }
)


def program_threads() -> list[str]:
    """Return the sorted names of the live threads that the program started, without those of tools."""
    own = {threading.main_thread(), threading.current_thread()}
    return sorted(
        thread.name
        for thread in threading.enumerate()
        # A thread that Python did not start belongs to C code, which handles forks itself, or to a tool.
        if thread not in own
        and not isinstance(thread, threading._DummyThread)
        and _TOOLS.isdisjoint({_package(type(thread)), _package(_target(thread))})
    )


def has_gil() -> bool:
    """Return True if one thread at a time runs Python code."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()  # Python 3.12 always has one


def threads_text(names: list[str]) -> str:
    """Return the names in words: ``the thread 'loop'``, or ``3 threads ('a', 'b', 'c')``."""
    quoted = ", ".join(repr(name) for name in names[:LISTED_MAX]) + ", ..." * (len(names) > LISTED_MAX)
    return f"the thread {quoted}" if len(names) == 1 else f"{len(names)} threads ({quoted})"


def _target(thread: threading.Thread) -> Any:
    target = getattr(thread, "function" if isinstance(thread, threading.Timer) else "_target", None)
    while type(target) is functools.partial:
        target = target.func
    return target


def _package(found: Any) -> str:
    name = getattr(found, "__module__", None)
    return name.partition(".")[0] if isinstance(name, str) else ""
