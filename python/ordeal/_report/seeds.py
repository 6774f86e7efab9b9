"""Reports on saved seeds: the listing of a corpus, and the seeds of a class in its exploration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ordeal._base.formatting import (
    JSON_SCHEMA_VERSION,
    counted,
    describe_error,
    indented,
    one_line,
    program_lines,
    runnable_program,
    safe_lines,
)
from ordeal._base.limits import LINE_CHARS_MAX, MESSAGE_CHARS_MAX
from ordeal._base.untrusted import error_message, type_name
from ordeal._report.pytest_lines import recorded_failure, seed_line
from ordeal._report.replay import recorded_error

if TYPE_CHECKING:
    from ordeal._engine.seed_corpus.corpus import SeedReplay
    from ordeal.result import SeedOutcome


def seeds_header(number: int, folder: Path, *, exists: bool) -> str:
    """Return the first lines of a listing: how many seeds there are, and where."""
    place = one_line(str(folder))
    if number:
        return f"Seed corpus: {number} seed(s) in {place}/\n"
    if exists:
        return "Seed corpus is empty."
    hint = f"`ordeal explore` saves the failures that it finds in {place}/; name another folder with `--dir`"
    return f"No seed corpus found.\n\nhint: {hint}"


def listed_seed(replay: SeedReplay) -> str:
    """Return the line of one seed in a listing."""
    trace, what, reason = replay.trace, one_line(replay.path.name), replay.reason
    if trace is not None:
        what = f"{what}  {one_line(trace.test_class)} ({counted(len(trace.taken_steps()), 'step')})"
        # The error that follows says the same in more detail.
        reason = reason.removeprefix(f"the trace no longer applies to {trace.test_class}: ")
    shown = {"recorded": "" if trace is None else recorded_failure(trace), "reason": reason}
    shown["error"] = "" if replay.error is None else describe_error(replay.error)
    return f"  {seed_line(replay.status.value, what, **shown)}"


def seed_details(replay: SeedReplay, traceback: str) -> str:
    """Return the program of a seed and the traceback of its failure, to print below its line."""
    lines = (
        [] if replay.trace is None else program_lines(runnable_program(replay.trace.program, replay.trace.test_class))
    )
    if traceback:
        lines += ["", *safe_lines(traceback).split("\n")]
    return "\n".join([*indented(lines, 14), ""])


def seeds_summary(number: int, failing: int, pruned: int, *, unusable: int = 0) -> str:
    """Return the summary of a corpus; the class of ``unusable`` seeds could not be used."""
    verdict = f"{failing} of {counted(number, 'seed')} still fail{'s' if failing == 1 else ''}."
    if not failing and not unusable:
        verdict = "No seed fails."
    if unusable:
        mute = f"{unusable} of {counted(number, 'seed')} could not be replayed: a class cannot be used."
        verdict = f"{verdict}\n{mute}" if failing else mute
    return f"\nPruned {pruned} fixed seed(s).\n{verdict}" if pruned else f"\n{verdict}"


def pulled_summary(new: int, known: int, passing: int, folder: Path) -> str:
    """Return the result of a pull: how many failures are saved, were saved before, and do not fail here."""
    place = f"{one_line(str(folder))}/"
    if not new + known + passing:
        return "The store has no failure of these classes."
    parts = [f"{counted(new, 'new seed')} in {place}" if new else f"No new seed in {place}"]
    parts += [f"{known} known"] if known else []
    parts += [f"{passing} not kept, as {'it does' if passing == 1 else 'they do'} not fail here"] if passing else []
    return f"\n{', '.join(parts)}."


def seeds_json(replays: Sequence[SeedReplay], folder: Path, pruned: Sequence[Path]) -> str:
    """Return a listing as JSON, ending in a newline."""
    document = {
        "schema_version": JSON_SCHEMA_VERSION,
        "tool": "seeds",
        "corpus_dir": PurePath(folder).as_posix(),
        "seeds": [_seed_record(replay) | {"pruned": replay.path in pruned} for replay in replays],
    }
    return json.dumps(document, indent=2) + "\n"


def _seed_record(replay: SeedReplay) -> dict[str, Any]:
    trace, error = replay.trace, replay.error
    return {
        "name": replay.name,
        "path": replay.path.as_posix(),
        "status": replay.status.value,
        "test_class": None if trace is None else trace.test_class,
        "trace_steps": None if trace is None else len(trace.taken_steps()),
        "recorded_error": None if trace is None or trace.failure is None else recorded_error(trace.failure),
        "error_type": None if error is None else type_name(type(error)),
        "error_message": None if error is None else error_message(error)[:MESSAGE_CHARS_MAX],
        "reason": replay.reason,
    }


# In an exploration


def seed_outcomes_text(outcomes: Sequence[SeedOutcome], *, verbose: bool) -> str:
    """Return what the seeds of a class showed before its exploration: a line each, or how many of a kind."""
    if verbose:
        return "\n".join(_outcome_line(outcome) for outcome in outcomes)
    failing = sum(outcome.status.fails for outcome in outcomes)
    fixed = sum(outcome.status.value == "fixed" for outcome in outcomes)
    verdicts = [f"{failing} still fail{'s' * (failing == 1)}"] if failing else []
    verdicts += [f"{fixed} fixed"] if fixed else []
    counts = f"  Seeds: {', '.join([f'{len(outcomes)} replayed', *verdicts])}"
    # Seeds that show nothing are never only counted: a person has to look at them.
    mute = [
        _outcome_line(outcome) for outcome in outcomes if not outcome.status.fails and outcome.status.value != "fixed"
    ]
    return "\n".join([counts, *mute])


def _outcome_line(outcome: SeedOutcome) -> str:
    message = one_line(outcome.message, limit=2 * LINE_CHARS_MAX)
    shown = {"error" if outcome.status.fails else "reason": message}
    return f"  {seed_line(outcome.status.value, one_line(outcome.name), **shown)}"


def seeds_that_hang(number: int) -> str:
    """Return what is said before seeds that hang are replayed, which takes the whole limit of a rule for each."""
    return f"  Seeds that hang: {number}, replayed first, for the whole time limit of a rule each"


def seeds_pruned(number: int) -> str:
    """Return how many fixed seeds an exploration deleted."""
    return f"  Pruned {number} fixed seed(s)."


def seeds_saved(new: int, known: int, folder: str) -> str:
    """Return how many failures of an exploration became seeds, and how many were seeds before."""
    place = f"{one_line(folder)}/"
    if not new:
        return f"  Seeds saved: none new ({known} known in {place})"
    also = f" ({known} known)" if known else ""
    return f"  Seeds saved: {new} in {place}{also}, replayed by the next run"
