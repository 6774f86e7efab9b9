"""``ordeal replay``: runs a saved trace again and reports whether it still fails as it did."""

from __future__ import annotations

import pdb
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import TracebackType

from ordeal._base.formatting import safe_lines
from ordeal._base.trace_file import Trace
from ordeal._engine.coverage.targets import changed_modules
from ordeal._engine.execution.bucket import traceback_text
from ordeal._engine.execution.class_path import trust_settings
from ordeal._engine.plain.reproduction import Reproduction, reproduce
from ordeal._engine.replay.rerun import ReplayStatus, Rerun, ablate_faults, rerun, shrink
from ordeal._report.replay import (
    ablation_text,
    checked_json,
    checked_text,
    outdated_json,
    plain_refused,
    plain_written,
    replay_header,
    replay_json,
    replay_outcome,
    replay_steps,
    shrunk_text,
)
from ordeal.cli import terminal
from ordeal.cli.folders import failure_path
from ordeal.cli.own_files import is_none, is_trace, place_for
from ordeal.config.flags import ReplayFlags
from ordeal.config.options import DEFAULT_PATH
from ordeal.errors import FOUND, ConfigError, OutdatedTraceError


def run(flags: ReplayFlags) -> int:
    """Replay what the command line names, and return the exit code."""
    flags = _checked(flags)
    trust_settings(Path(DEFAULT_PATH))
    path = str(failure_path(flags.trace))
    flags = flags.replaced(trace=path)
    trace = Trace.load(path)
    changed = changed_modules(trace.targets)
    if flags.check:
        terminal.write(checked_json(trace, path, changed) if flags.json else f"{checked_text(trace, changed)}\n")
        return 0
    terminal.say(replay_header(trace))
    try:
        with _quiet():
            result = rerun(trace, where=True)
    except OutdatedTraceError as error:
        if flags.json:
            terminal.write(outdated_json(trace, path, error.message))
        raise
    if flags.verbose and result.steps:
        terminal.say(replay_steps(result.steps))
    if flags.verbose and result.error is not None:
        terminal.say(safe_lines(traceback_text(result.error)))
    terminal.say(replay_outcome(trace, result, changed=changed))
    shrunk, faults = _study(flags, trace, result)
    plain = _plain(flags, shrunk or trace, result) if flags.plain is not None else None
    if flags.json:
        terminal.write(
            replay_json(
                trace,
                path,
                result,
                changed=changed,
                shrunk=shrunk,
                shrunk_path=None if shrunk is None else flags.output,
                necessary_faults=faults,
                plain=plain,
            )
        )
    if flags.pdb and result.error is not None:
        if sys.stdin is not None and not sys.stdin.closed:
            post_mortem(result.error)
        else:
            terminal.say("Not debugged: stdin is closed.")
    return FOUND if result.error is not None else 0


def _checked(flags: ReplayFlags) -> ReplayFlags:
    """Return the flags with the paths that are written to."""
    others = ("shrink", "ablate", "plain", "pdb", "verbose")
    ran = next((name for name in others if flags.check and getattr(flags, name)), None)
    if ran is not None:
        raise ConfigError(f"`--check` runs nothing, and `--{ran}` does", hint="drop one of them")
    if flags.output is not None and not flags.shrink:
        raise ConfigError("`-o` saves the shrunk trace, and nothing is shrunk", hint="add `--shrink`, or drop `-o`")
    if flags.plain == "-" and flags.json:
        raise ConfigError("`--plain -` and `--json` both write to stdout", hint="write `--plain FILE`")
    if flags.pdb and flags.json:
        raise ConfigError("`--pdb` and `--json` both write to stdout", hint="drop one of them")
    return flags.replaced(
        output=flags.output and place_for("-o", flags.output, is_trace, flags.on_exists),
        plain=flags.plain and place_for("--plain", flags.plain, is_none, flags.on_exists),
    )


def _study(flags: ReplayFlags, trace: Trace, result: Rerun) -> tuple[Trace | None, dict[str, bool] | None]:
    """Shrink and ablate, if requested and the trace still fails as recorded."""
    if result.status is not ReplayStatus.REPRODUCED:
        if flags.shrink or flags.ablate:
            terminal.say("Neither shrunk nor ablated: the trace has to fail as recorded.")
        return None, None
    shrunk = faults = None
    if flags.shrink:
        terminal.say("Shrinking...")
        with _quiet():
            shrunk = shrink(trace)
        terminal.say(shrunk_text(trace, shrunk))
        if flags.output is not None:
            shrunk.save(flags.output)
            terminal.say(f"Saved: {flags.output}")
    if flags.ablate:
        terminal.say("Ablating faults...")
        with _quiet():
            faults = ablate_faults(shrunk or trace)
        terminal.say(ablation_text(faults))
    return shrunk, faults


def _plain(flags: ReplayFlags, trace: Trace, result: Rerun) -> Reproduction:
    """Make the plain reproduction of a trace that fails as recorded, and write it where the command line says."""
    path = str(flags.plain)
    if result.status is not ReplayStatus.REPRODUCED:
        made = Reproduction(reason="the trace has to fail as recorded")
    else:
        terminal.say("Writing plain Python...")
        made = reproduce(trace)
    if made.reason:
        terminal.say(plain_refused(made))
    elif path == "-":
        terminal.write(made.text)
    else:
        try:
            Path(path).write_text(made.text, "utf-8")
        except OSError as error:
            raise ConfigError(
                f"cannot write the plain program to `{path}`: {error.strerror or error}", hint="name another path"
            ) from None
        terminal.say(plain_written(made, path))
    return made


@contextmanager
def _quiet() -> Iterator[None]:
    # Output of the program under test belongs on stderr; on stdout it would end up inside the JSON.
    with redirect_stdout(sys.stderr):
        yield


_MACHINERY = frozenset({"hypothesis", "ordeal"})


def post_mortem(error: BaseException) -> None:
    """Open the debugger at the frame of the user's code that raised ``error``, until it is quit."""
    entries, tb = [], error.__traceback__
    while tb is not None:
        entries.append(tb)
        tb = tb.tb_next
    modules = [str(entry.tb_frame.f_globals.get("__name__", "")) for entry in entries]
    own = [at for at, module in enumerate(modules) if module.partition(".")[0] not in _MACHINERY]
    # From the first to the last frame of the user's code; all when there is none.
    for entry in reversed(entries[own[0] : own[-1] + 1] if own else entries):
        tb = TracebackType(tb, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    pdb.post_mortem(tb)
