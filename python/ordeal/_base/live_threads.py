"""Finds the program's threads in this process, which would not survive a fork, and whether they take turns."""

from __future__ import annotations

import functools
import importlib._bootstrap
import re
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
_GIL_TURNED_ON = re.compile(r"\(GIL\) has been enabled to load module '([\w.]+)'")


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


def gil_note() -> str:
    """Return a sentence about what has turned the GIL on, where Python and its user leave it off; otherwise nothing."""
    if not has_gil() or "t" not in sys.abiflags or getattr(sys.flags, "gil", None) is not None:
        return ""
    # Python warns once, from here, and leaves no other trace.
    warned = vars(importlib._bootstrap).get("__warningregistry__", {})
    names = sorted({name for key in warned for name in _GIL_TURNED_ON.findall(str(key))})
    who = f"The extension{'s' * (len(names) > 1)} {', '.join(names)}" if names else "An extension"
    return f"{who} turned the GIL on, so threads take turns: use a version for free-threaded Python, or PYTHON_GIL=0."


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
