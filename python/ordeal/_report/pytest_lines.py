"""What a pytest run says: its seed, its properties, and the saved failures that it replayed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from ordeal._base.formatting import capped, counted, error_line, indented, one_line, program_lines, runnable_program
from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX, TEXT_CHARS_MAX
from ordeal._base.property_text import property_lines, reliability_lines

if TYPE_CHECKING:
    from ordeal._base.property_tracker import PropertyReport
    from ordeal._base.trace_file import Trace


def session_seed_line(seed: int, *, origin: str = "") -> str:
    """Return the line that a pytest run prints once. ``origin`` says where the seed comes from, empty if obvious."""
    place = f", from {origin}" if origin else ""
    return f"ordeal seed: {seed:#x}{place} (replay with --ordeal-seed={seed:#x})"


def session_seed_replay(node_id: str, seed: int, *, options: Sequence[str] = ()) -> str:
    """Return the line that says how to run a failed pytest test again, as it ran."""
    quoted = "'" + node_id.replace("'", "'\"'\"'") + "'"
    return " ".join(["replay: pytest", quoted, f"--ordeal-seed={seed:#x}", *options])


def property_sections(
    report: PropertyReport, *, chaos: bool, fails_run: bool, chaos_seed: int | None
) -> list[tuple[str, list[str]]]:
    """Return titles and lines of the sections that are not empty.

    ``chaos`` says that a failed property fails the run, ``fails_run`` that nothing else fails it.
    """
    properties = property_lines(report)
    if properties:
        types = sorted({row["type"] for row in (*report["passed"], *report["failed"])})
        seed = "" if chaos_seed is None else f"seed={chaos_seed}, "
        if fails_run:
            properties.append("  The tests pass, but not all properties do: the run fails.")
        elif report["failed"] and not chaos:
            properties.append("  Without --chaos this does not fail the run.")
        properties.append(f"  Config: {seed}assertion types used: {', '.join(types)}")
    sections = [("Ordeal Property Results", properties), ("Ordeal Reliability Coverage", reliability_lines(report))]
    return [section for section in sections if section[1]]


#: Where a project keeps the failures that a run of tests has read from a store; they need not be deleted.
PULLED_DIR = ".ordeal/pulled"
# In the order of the section: first what needs a person.
_FAILING = ("reproduced", "fails_differently")
_KINDS = (*_FAILING, "known", "class_unusable", "no_longer_applies", "unreadable", "fixed")


@dataclass(frozen=True, slots=True)
class SeedRecord:
    """The result of a seed, as texts that travel from a worker to the process that prints.

    ``path`` is relative to its project if possible, ``start`` is the project's folder relative to where pytest was
    started, empty when it is the same, and ``status`` a value of ``SeedStatus``, or ``known`` for a failure that the
    settings declare. ``error`` is how the seed fails now, ``recorded`` how it failed when it was saved, and ``reason``
    why it shows nothing.
    """

    name: str
    path: str
    start: str
    status: str
    test_class: str
    error: str
    recorded: str
    reason: str


def seed_section(records: Sequence[SeedRecord], *, verbose: bool, folders: Mapping[str, str]) -> list[str]:
    """Return the lines of the summary: one for each seed, at most ten of a kind unless ``verbose``, and the verdict.

    ``folders`` maps the ``start`` of each project to the folder of its seeds, empty for the default.
    """
    several = len({record.start for record in records}) > 1
    lines: list[str] = []
    for kind in _KINDS:
        of_kind = [_line(record, several) for record in records if record.status == kind]
        lines += of_kind if verbose else capped(of_kind, LISTED_MAX)
    return indented([*lines, "", *_verdict(records, folders), *_advice(records)], 2)


def seeds_left_out(number: int) -> str:
    """Return the line on seeds that were deselected or not reached: a green run does not cover them."""
    return f"{counted(number, 'saved failure')} not replayed; `ordeal seeds` replays all"


_LABELS = {
    "reproduced": "REGRESSION",
    "fails_differently": "DIFFERENT",
    "known": "known",
    "class_unusable": "NO CLASS",
    "no_longer_applies": "outdated",
    "unreadable": "corrupt",
    "fixed": "fixed",
}


def seed_line(status: str, what: str, *, error: str = "", recorded: str = "", reason: str = "") -> str:
    """Return what the replay of a saved failure shows, as all commands print it. ``status`` is one of ``SeedStatus``.

    ``what`` names the seed, ``error`` is how it fails now, ``recorded`` how it failed when it was saved, and
    ``reason`` why it shows nothing.
    """
    shows = error if status in (*_FAILING, "known") else one_line(reason, limit=2 * LINE_CHARS_MAX)
    if status == "fails_differently" and recorded:
        shows += f"; recorded: {recorded}"
    elif status == "fixed":
        shows = "no longer reproduces"
    elif status == "no_longer_applies":
        shows = f"no longer applies: {shows}"
    return f"{_LABELS[status]:<10}  {what} — {shows}"


def _line(record: SeedRecord, several: bool) -> str:
    name, test_class = one_line(record.name), one_line(record.test_class)
    what = name if record.status == "unreadable" else f"{name}: {test_class}"
    where = f" in {one_line(record.start or '.')}" if several else ""
    shown = {"error": record.error, "recorded": record.recorded, "reason": record.reason}
    return seed_line(record.status, f"{what}{where}", **shown)


def _verdict(records: Sequence[SeedRecord], folders: Mapping[str, str]) -> list[str]:
    regressions, different, known, unusable, outdated, corrupt, fixed = (
        sum(r.status == kind for r in records) for kind in _KINDS
    )
    if known:
        others = [record for record in records if record.status != "known"]
        said = f"{counted(known, 'seed')} fail{'s' * (known == 1)} as `known` in ordeal.toml says"
        return [*(_verdict(others, folders) if others else []), said]
    counts = [f"{regressions} regression(s) still reproduce"] if regressions else []
    counts += [f"{counted(different, 'seed')} fail{'s' * (different == 1)} differently now"] if different else []
    if counts:
        first = next(record for record in records if record.status in _FAILING)
        return [", ".join(counts), f"replay: {replay_command(first)}"]
    if fixed == len(records):
        kept = [record for record in records if not record.path.startswith(f"{PULLED_DIR}/")]
        if not kept:
            return [f"{counted(fixed, 'seed')} of the store fixed"]
        commands = [_pruning(start, folders) for start in sorted({record.start for record in kept})]
        remove = "remove them" if len(commands) > 1 else "removes it" if fixed == 1 else "removes them"
        return [f"{counted(fixed, 'seed')} fixed; {' and '.join(commands)} {remove}"]
    mute = unusable + outdated + corrupt
    verb = "says" if mute == 1 else "say"
    own = f"{counted(fixed, 'seed')} fixed, {mute}" if fixed else counted(mute, "seed")
    return [f"{own} {verb} nothing about the code"]


def _pruning(start: str, folders: Mapping[str, str]) -> str:
    folder = folders.get(start, "")
    where = f" --dir {shlex.quote(folder)}" if folder else ""
    return one_line(f"{_from(start)}ordeal seeds --prune-fixed{where}", limit=TEXT_CHARS_MAX)


def _advice(records: Sequence[SeedRecord]) -> list[str]:
    """Say what to do about the seeds that show nothing."""
    advice = {
        "class_unusable": "no class: bring the class back, or delete the file",
        "no_longer_applies": "outdated: bring back what is gone, and keep a seed that passes",
        "unreadable": "corrupt: take the file from version control again, or delete it",
    }
    lines = []
    for kind, what in advice.items():
        paths = [str(PurePath(record.start, record.path)) for record in records if record.status == kind]
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        lines += [one_line(f"{what}: {paths[0]}{more}", limit=TEXT_CHARS_MAX)] if paths else []
    return lines


def seed_failure_sections(record: SeedRecord, trace: Trace) -> list[tuple[str, list[str]]]:
    """Return what to show below the traceback of a seed that fails, as titles and lines."""
    sections = [("steps", program_lines(runnable_program(trace.program, trace.test_class)))]
    if record.status == "fails_differently":
        sections.append(("recorded failure, which was another one", [record.recorded]))
    return [*sections, ("replay", [replay_command(record)])]


def known_again(number: int) -> str:
    """Return the message of a machine's test that fails only as saved seeds do, whose own tests show how."""
    fails, them = ("fails", "it") if number == 1 else ("fail", "them")
    return f"{counted(number, 'saved seed')} {fails} here too: `ordeal seeds` names {them}, and -v shows it all"


def replay_command(record: SeedRecord) -> str:
    """Return the command that replays a seed, relative to where pytest was started."""
    # A name that begins with a dash would be taken for an option.
    safe = f"./{record.path}" if record.path.startswith("-") else record.path
    return one_line(f"{_from(record.start)}ordeal replay {shlex.quote(safe)}", limit=TEXT_CHARS_MAX)


def _from(start: str) -> str:
    return f"cd {shlex.quote(start)} && " if start else ""


def recorded_failure(trace: Trace) -> str:
    """Return on one line how a trace failed when it was saved."""
    failure = trace.failure
    return "no failure" if failure is None else error_line(failure.error_type, failure.error_message)
