"""``ordeal replay``: runs a saved trace again and reports whether it still fails as it did."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ordeal._engine.coverage.digests import changed_modules
from ordeal._engine.execution.bucket import traceback_text
from ordeal._engine.execution.class_path import trust_settings
from ordeal._engine.formatting import safe_lines
from ordeal._engine.replay.rerun import ReplayStatus, Rerun, ablate_faults, rerun, shrink
from ordeal._engine.storage.trace_file import Trace
from ordeal._report.replay import (
    ablation_text,
    outdated_json,
    replay_header,
    replay_json,
    replay_outcome,
    replay_steps,
    shrunk_text,
)
from ordeal.cli import terminal
from ordeal.cli.debugger import can_debug, post_mortem
from ordeal.cli.shrink_line import ShrinkLine
from ordeal.config import DEFAULT_PATH
from ordeal.errors import ConfigError, OutdatedTraceError

FOUND = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flags:
    """The command line as it was given."""

    trace: str
    shrink: bool
    ablate: bool
    output: str | None
    json: bool
    verbose: bool
    pdb: bool


_EPILOG = (
    "Exit code: 1 when the trace fails, as recorded or differently, 0 when it does not, "
    "2 for wrong use, an unreadable trace, or one that no longer applies."
)


@click.command(name="replay", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("trace", metavar="TRACE")
@click.option("--shrink", is_flag=True, help="Make the trace shorter (default: leave it)")
@click.option("--ablate", is_flag=True, help="Find the faults that it needs (default: do not)")
@click.option("-o", "--output", metavar="PATH", help="Save the shrunk trace (default: do not)")
@click.option("--json", is_flag=True, help="Print the outcome as JSON (default: as text)")
@click.option("-v", "--verbose", is_flag=True, help="Show each step and the traceback (default: off)")
@click.option("--pdb", is_flag=True, help="Debug where it fails (default: off)")
def command(**flags: Any) -> int:
    """Run a saved trace again from a fresh machine."""
    return _replay(_Flags(**flags))


def _replay(flags: _Flags) -> int:
    _check(flags)
    trust_settings(Path(DEFAULT_PATH))
    trace = Trace.load(flags.trace)
    terminal.say(replay_header(trace))
    result, changed = _rerun(trace, flags), changed_modules(trace.targets)
    if flags.verbose and result.steps:
        terminal.say(replay_steps(result.steps))
    if flags.verbose and result.error is not None:
        terminal.say(safe_lines(traceback_text(result.error)))
    terminal.say(replay_outcome(trace, result, changed=changed))
    shrunk, faults = _study(flags, trace, result)
    if flags.json:
        terminal.write(
            replay_json(
                trace,
                flags.trace,
                result,
                changed=changed,
                shrunk=shrunk,
                shrunk_path=None if shrunk is None else flags.output,
                necessary_faults=faults,
            )
        )
    if flags.pdb and result.error is not None:
        _debug(result.error)
    return FOUND if result.error is not None else 0


def _check(flags: _Flags) -> None:
    if flags.output is not None and not flags.shrink:
        raise ConfigError("`-o` saves the shrunk trace, and nothing is shrunk", hint="add `--shrink`, or drop `-o`")
    if flags.pdb and flags.json:
        raise ConfigError("`--pdb` and `--json` both write to stdout", hint="drop one of them")


def _rerun(trace: Trace, flags: _Flags) -> Rerun:
    try:
        with _quiet():
            return rerun(trace)
    except OutdatedTraceError as error:
        if flags.json:
            terminal.write(outdated_json(trace, flags.trace, error.message))
        raise


def _debug(error: BaseException) -> None:
    if can_debug():
        post_mortem(error)
    else:
        terminal.say("Not debugged: stdin is closed.")


def _study(flags: _Flags, trace: Trace, result: Rerun) -> tuple[Trace | None, dict[str, bool] | None]:
    """Shrink and ablate, if requested and the trace still fails as recorded."""
    if result.status is not ReplayStatus.REPRODUCED:
        if flags.shrink or flags.ablate:
            terminal.say("Neither shrunk nor ablated: the trace has to fail as recorded.")
        return None, None
    shrunk = _shrink(trace, flags.output) if flags.shrink else None
    faults = _ablate(shrunk if shrunk is not None else trace) if flags.ablate else None
    return shrunk, faults


def _shrink(trace: Trace, output: str | None) -> Trace:
    terminal.say("Shrinking...")
    with _quiet():
        shrunk = _shrink_watched(trace) if terminal.is_terminal() else shrink(trace)
    terminal.say(shrunk_text(trace, shrunk))
    if output is not None:
        shrunk.save(output)
        terminal.say(f"Saved: {output}")
    return shrunk


def _shrink_watched(trace: Trace) -> Trace:
    line = ShrinkLine()
    try:
        return shrink(trace, tick=line)
    finally:
        line.close()


def _ablate(trace: Trace) -> dict[str, bool]:
    terminal.say("Ablating faults...")
    with _quiet():
        faults = ablate_faults(trace)
    terminal.say(ablation_text(faults))
    return faults


@contextmanager
def _quiet() -> Iterator[None]:
    # Output of the program under test belongs on stderr; on stdout it would end up inside the JSON.
    with redirect_stdout(sys.stderr):
        yield
