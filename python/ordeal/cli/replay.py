"""``ordeal replay``: runs a saved trace again and says whether it still fails as it did."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import click

from ordeal import report
from ordeal.bucket import traceback_text
from ordeal.cli import terminal
from ordeal.errors import ConfigError
from ordeal.rerun import ReplayStatus, Rerun, ablate_faults, rerun, shrink
from ordeal.trace_file import Trace

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
def command(**flags: Any) -> int:
    """Run a saved trace again from a fresh machine."""
    return _replay(_Flags(**flags))


def _replay(flags: _Flags) -> int:
    if flags.output is not None and not flags.shrink:
        raise ConfigError("`-o` saves the shrunk trace, and nothing is shrunk", hint="add `--shrink`, or drop `-o`")
    trace = Trace.load(flags.trace)
    terminal.say(report.replay_header(trace))
    with _quiet():
        result = rerun(trace)
    if flags.verbose and result.steps:
        terminal.say(report.replay_steps(result.steps))
    if flags.verbose and result.error is not None:
        terminal.say(report.safe_lines(traceback_text(result.error)))
    terminal.say(report.replay_outcome(trace, result))
    shrunk, faults = _study(flags, trace, result)
    if flags.json:
        terminal.write(
            report.replay_json(
                trace,
                flags.trace,
                result,
                shrunk=shrunk,
                shrunk_path=None if shrunk is None else flags.output,
                necessary_faults=faults,
            )
        )
    return FOUND if result.error is not None else 0


def _study(flags: _Flags, trace: Trace, result: Rerun) -> tuple[Trace | None, dict[str, bool] | None]:
    """Shrink and ablate, where that was asked for and the failure is still the one of the trace."""
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
        shrunk = shrink(trace)
    terminal.say(report.shrunk_text(trace, shrunk))
    if output is not None:
        shrunk.save(output)
        terminal.say(f"Saved: {output}")
    return shrunk


def _ablate(trace: Trace) -> dict[str, bool]:
    terminal.say("Ablating faults...")
    with _quiet():
        faults = ablate_faults(trace)
    terminal.say(report.ablation_text(faults))
    return faults


@contextmanager
def _quiet() -> Iterator[None]:
    # What the program under test prints is talk as well; on stdout it would end up inside the JSON.
    with redirect_stdout(sys.stderr):
        yield
