"""Calls a function of the user in a process of its own, where it may hang, exit or crash."""

from __future__ import annotations

import signal
from collections.abc import Callable

import ordeal._native as _native
from ordeal._base.formatting import describe_error
from ordeal._engine.isolation.channel import Channel
from ordeal._engine.isolation.child import Child, ChildExit, Limits, wait_for


def first_call(function: Callable[[], object], seconds: float, limits: Limits) -> str:
    """Return what went wrong when ``function`` was called without arguments; an empty text if it returned in time.

    The result is dropped, and so is what the function prints. After so many seconds it is killed, with all processes
    that it started.

    Raises:
        OSError: no process can be started.
    """

    def job(channel: Channel, _journal: _native.Journal) -> None:
        try:
            function()
        except BaseException as error:  # noqa: BLE001  # whatever it is, it did not return
            channel.send(f"raised {describe_error(error)}")
        else:
            channel.send("")

    child = Child(job, limits)
    try:
        wait_for([child], seconds)
        for message in child.messages():
            if len(message) == 1 and isinstance(message[0], str):
                return message[0]
        if child.has_ended() and child.exit_status is not None:
            return _ending(child.exit_status)
    finally:
        child.close()
    return f"did not return within {seconds:g} s"


def _ending(ended: ChildExit) -> str:
    if not ended.signal:
        return f"ended its process with exit code {ended.code}"
    return f"ended its process by {signal.Signals(ended.signal).name}"
