"""What a run of a trace showed, as one version of the program sends it to the process that compares."""

from __future__ import annotations

import msgspec

from ordeal._engine.trace_view.view import PartChange


class SeenStep(msgspec.Struct, array_like=True, frozen=True):
    """One step: its call, what it returned, what it changed of the state, and the error that ended the run in it.

    ``met`` is what faults and the simulated world did in it.
    """

    call: str
    name: str
    result: str
    changes: tuple[PartChange, ...] = ()
    error: str = ""
    met: tuple[str, ...] = ()


class SeenRun(msgspec.Struct, array_like=True, frozen=True):
    """The steps of a run, and the traceback of its failure; ``reason`` says why there are none."""

    steps: tuple[SeenStep, ...] = ()
    reason: str = ""
    traceback: str = ""


class Answer(msgspec.Struct):
    """What a version has drawn and seen, or the ``error`` that kept it from running at all."""

    error: str = ""
    hint: str = ""
    traces: list[str] = []
    runs: list[SeenRun] = []
