"""What one exploration did and found, and its summary as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ordeal._base.formatting import counted, indented, one_line, percent
from ordeal._base.imports import library_path
from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX
from ordeal._base.property_text import explored_properties
from ordeal._base.python_source import in_double_quotes
from ordeal.config.options import SnapshotKind
from ordeal.result.failure import Failure, failure_details
from ordeal.result.parts import FaultUse, Inconclusive, KnownFailure, RuleUse, SeedOutcome, known_lines

if TYPE_CHECKING:
    from ordeal._base.property_tracker import PropertyResult, ReliabilityCell
    from ordeal._base.trace_file import Trace


StoppedReason = Literal["time", "max_runs", "patience", "stuck", "interrupted", "exhausted", "limit"]


#: The names of run kinds, by the three ways to classify runs.
_KIND_NAMES = {
    "starts": {
        "fresh": "fresh",
        "branch": "from a checkpoint",
        "leaning": "from a checkpoint with changed arguments",
        "splice": "joined",
        "repeat": "repeating",
        "edit": "edited",
        "comparison": "turning a comparison",
        "unknown": "unknown",
    },
    "swarm": {
        "full": "all on",
        "coins": "coins",
        "sizes": "sizes",
        "shared": "shared probability",
        "directed": "coverage-directed",
        "energy": "energy-weighted",
    },
}


#: Below this probability of something new, a search has seen about all that it can.
SATURATED = 0.001


class Discovery(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate of what an exploration has not seen yet, from what only single runs showed.

    ``runs`` are those of the sample and ``seen`` counts the ``what`` in it. ``next_run`` is the probability that one
    more run shows something new, ``next_run_max`` its upper bound at 95 %, and ``total`` how many there are at least.
    All assume that future runs are like those of the sample: same machine, same options, no longer than they were.
    """

    what: Literal["edges", "features"]
    runs: int
    seen: int
    next_run: float
    next_run_max: float
    total: float

    @classmethod
    def of(cls, estimate: tuple[int, int, float, float, float] | None, edges: int) -> Discovery | None:
        """Return the estimate of a session; ``edges`` is how many it saw, including those outside the sample."""
        if estimate is None:
            return None
        runs, seen, next_run, next_run_max, total = estimate
        what: Literal["edges", "features"] = "edges" if edges else "features"
        return cls(what=what, runs=runs, seen=seen, next_run=next_run, next_run_max=next_run_max, total=total)

    @property
    def unseen(self) -> int:
        """How many there are at least besides those of the sample."""
        return round(self.total) - self.seen


class ExplorationResult(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What one exploration did and found.

    ``checkpoints`` is how many checkpoints all workers together keep at the end; ``checkpoints_saved`` counts all that
    were ever saved, including those evicted since. ``rejected_runs`` ended in a failed ``assume()``. ``unconfirmed``
    counts failures that did not fail again from a fresh machine. ``known`` were met and are not among the ``failures``,
    as the settings declare them to be known. ``seed_replays`` are the results of the saved seeds of the class.
    ``properties`` and ``reliability_cells`` are what the runs saw of the assertions in the program and the machine;
    seeds, confirmations and shrinking are not counted. ``notes`` are things the user should know, one sentence each.
    ``coverage_gaps`` holds a dict ``file``, ``line``, ``code`` for each branch statement of the target modules that no
    run reached; another seed or a longer exploration may still reach it. ``missed_lines`` holds the numbers of all
    lines that no run reached, by file, and ``covered_lines`` those of the others. ``discovery`` estimates what is left
    to find, or is ``None`` if too few runs support an estimate. ``run_kinds`` counts the runs by where they started, by
    how their swarm configuration was drawn, and by length. ``faults`` counts for each fault that acts on calls in how
    many runs it was on and what it met, and ``rules`` what each rule did without a fault and under each.
    ``target_modules`` are those that were watched; without any the search is
    blind, and ``imported_modules`` names those that the machine's module imports. ``inconclusive`` says why an
    exploration without failures shows nothing, and is ``None`` when it shows something.
    """

    test_class: str
    rng_seed: int
    total_runs: int
    total_steps: int
    unique_edges: int
    checkpoints_saved: int
    duration_seconds: float
    failures: list[Failure] = msgspec.field(default_factory=list)
    traces: list[Trace] = msgspec.field(default_factory=list)
    seed_replays: list[SeedOutcome] = msgspec.field(default_factory=list)
    properties: list[PropertyResult] = msgspec.field(default_factory=list)
    reliability_cells: list[ReliabilityCell] = msgspec.field(default_factory=list)
    coverage_gaps: list[dict[str, Any]] = msgspec.field(default_factory=list)
    lines_covered: int = 0
    lines_total: int = 0
    missed_lines: dict[str, list[int]] = msgspec.field(default_factory=dict)
    covered_lines: dict[str, list[int]] = msgspec.field(default_factory=dict)
    stopped_reason: StoppedReason = "time"
    snapshot_kind: SnapshotKind = "copy"
    swarm_summary: str = ""
    run_kinds: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    discovery: Discovery | None = None
    rejected_runs: int = 0
    unconfirmed: int = 0
    notes: tuple[str, ...] = ()
    inconclusive: Inconclusive | None = None
    faults: list[FaultUse] = msgspec.field(default_factory=list)
    rules: list[RuleUse] = msgspec.field(default_factory=list)
    checkpoints: int | None = None
    target_modules: tuple[str, ...] | None = None
    imported_modules: tuple[str, ...] = ()
    known: list[KnownFailure] = msgspec.field(default_factory=list)

    def __repr__(self) -> str:
        name = one_line(self.test_class.rpartition(":")[2])
        findings = counted(len(self.failures), "finding") if self.failures else "no findings"
        runs, edges = counted(self.total_runs, "run"), counted(self.unique_edges, "edge")
        return f"<ExplorationResult {name}: {findings}, {runs}, {edges}>"

    def summary(self) -> str:
        """Return the result as a few lines of text, without a newline at the end."""
        return summary_text(self)

    def reachability_suggestions(self) -> list[dict[str, Any]]:
        """Return, for each coverage gap in code that is not installed, the ``reachable()`` call that would watch it.

        Each dict has ``file``, ``line``, ``code``, ``suggestion`` (Python source), ``confidence`` and ``runs``. The
        confidence is always ``"not_reached"``: no number of runs shows that a branch cannot be reached.
        """
        return [
            {
                "file": gap["file"],
                "line": gap["line"],
                "code": gap["code"],
                "suggestion": reachable_call(gap),
                "confidence": "not_reached",
                "runs": self.total_runs,
            }
            for gap in self.coverage_gaps
            if library_path(gap["file"]) is None and not is_watched(gap, self.properties)
        ]


def reachable_call(gap: Mapping[str, Any]) -> str:
    """Return the ``reachable("file:line: code")`` call for a coverage gap, valid as Python source."""
    label = f"{gap['file']}:{gap['line']}: {gap['code']}"
    return f"reachable({in_double_quotes(label)})"


def is_watched(gap: Mapping[str, Any], properties: Sequence[PropertyResult]) -> bool:
    """Return True if the source has the ``reachable()`` call for a gap, whose line it has moved."""
    start, end = f"{gap['file']}:", f": {gap['code']}"
    return any(
        each.type == "reachable" and each.name.startswith(start) and each.name.endswith(end) for each in properties
    )


def blind_lines(result: ExplorationResult) -> list[str]:
    """Return what a search without targets does not see, and what it could watch; nothing with targets."""
    if result.target_modules is None or result.target_modules:
        return []
    imported = result.imported_modules
    if not imported:
        return ["Coverage: off. Name what is tested in target_modules to steer the search"]
    names = ", ".join(f'"{name}"' for name in imported[:LISTED_MAX]) + ", ..." * (len(imported) > LISTED_MAX)
    add = one_line(f"target_modules = [{names}]", limit=2 * LINE_CHARS_MAX)
    return [f"Coverage: off. Add {add} to steer the search"]


def coverage_lines(result: ExplorationResult) -> list[str]:
    """Return how much of the targets ran, and the first branches that no run reached."""
    lines = []
    if result.lines_total:
        share = percent(result.lines_covered / result.lines_total)
        lines.append(f"Line coverage: {result.lines_covered}/{result.lines_total} ({share})")
        if sum(map(len, result.missed_lines.values())) <= 2 * LISTED_MAX:
            for file, missed in result.missed_lines.items():
                shown = library_path(file) or file
                lines.append(f"Missed: {one_line(f'{shown}:{",".join(line_ranges(missed))}')}")
    gaps = result.coverage_gaps
    if gaps:
        lines.append(f"Not reached in {counted(result.total_runs, 'run')}: {len(gaps)} branch(es) in target modules")
        most = LISTED_MAX // 2  # each takes two lines
        for gap in gaps[:most]:
            library = library_path(gap["file"])
            lines.append(f"  {one_line(f'{library or gap["file"]}:{gap["line"]} {gap["code"]}')}")
            if library is None and not is_watched(gap, result.properties):
                lines.append(f"    add: {one_line(reachable_call(gap), limit=2 * LINE_CHARS_MAX)}")
        if len(gaps) > most:
            lines.append(f"  ... and {len(gaps) - most} more")
    return lines


def line_ranges(lines: Sequence[int]) -> list[str]:
    """Return sorted numbers with neighbours joined: 3, 5, 6, 7 as ``3`` and ``5-7``."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1][1:] = [line]
        else:
            runs.append([line])
    return ["-".join(map(str, run)) for run in runs]


def ranges(lines: str) -> Iterator[int]:
    """Yield the numbers that a text such as ``3,5-7`` names."""
    for part in filter(None, lines.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def discovery_lines(discovery: Discovery | None) -> list[str]:
    """Return what is left to find, and under which assumption; nothing if too little is known."""
    if discovery is None:
        return []
    one = discovery.what.removesuffix("s")
    likely = f"at most {percent(discovery.next_run_max)} (95% confidence)"
    if discovery.next_run:
        likely = f"about {percent(discovery.next_run)}, {likely}"
    if discovery.unseen > 0:
        so = f"at least {counted(discovery.unseen, one)} more can be found"
    elif discovery.next_run_max < SATURATED:
        so = "more time is unlikely to help"
    else:
        so = "more time may help"
    return [f"Saturation: the next run shows a new {one} with a probability of {likely}; {so}"]


def remark_lines(result: ExplorationResult) -> list[str]:
    """Return further remarks for the user: rejected runs, unconfirmed failures, notes."""
    lines = []
    if result.rejected_runs:
        lines.append(f"Rejected: {counted(result.rejected_runs, 'run')}")
    if result.unconfirmed:
        lines.append(f"Unconfirmed: {counted(result.unconfirmed, 'failure')} did not fail again from a fresh machine")
    return lines + [f"Note: {one_line(note, limit=2 * LINE_CHARS_MAX)}" for note in result.notes]


def summary_text(result: ExplorationResult) -> str:
    """Return the summary of one result, as ``ExplorationResult.summary`` shows it."""
    failures = inconclusive_lines(result) or [f"No {'other ' if result.known else ''}failures found."]
    if result.failures:
        most = LISTED_MAX // 2  # each takes some lines
        shown = chain.from_iterable(failure_details(failure) for failure in result.failures[:most])
        failures = [f"Failures found: {len(result.failures)}", *indented(shown, 2)]
        if len(result.failures) > most:
            failures.append(f"  ... and {len(result.failures) - most} more")
    lines = [
        f"Exploration: {run_figures(result)}",
        *(f"Coverage: {figures}" for figures in coverage_figures(result)),
        *discovery_lines(result.discovery),
        *([f"Swarm: {one_line(result.swarm_summary)}"] if result.swarm_summary else []),
        *run_kind_lines(result.run_kinds),
        *failures,
        *known_lines(result.known),
        *explored_properties(result.properties, result.reliability_cells),
        *coverage_lines(result),
        *blind_lines(result),
        *remark_lines(result),
        f"Stopped: {result.stopped_reason}",
    ]
    return "\n".join(lines)


def run_figures(result: ExplorationResult) -> str:
    """Return how many runs and steps there were, and how long they took."""
    runs, steps = counted(result.total_runs, "run"), counted(result.total_steps, "step")
    return f"{runs}, {steps}, {result.duration_seconds:.1f}s"


def coverage_figures(result: ExplorationResult) -> list[str]:
    """Return what guided the search; nothing for an exhaustive search."""
    if result.stopped_reason in ("exhausted", "limit"):
        return []
    kept = result.checkpoints_saved if result.checkpoints is None else result.checkpoints
    return [f"{counted(result.unique_edges, 'edge')}, {counted(kept, 'checkpoint')}"]


def inconclusive_lines(result: ExplorationResult) -> list[str]:
    """Return why a result without failures shows nothing; nothing if it shows something."""
    if result.failures or result.inconclusive is None:
        return []
    return [f"Inconclusive: {one_line(str(result.inconclusive), limit=2 * LINE_CHARS_MAX)}"]


def run_kind_lines(kinds: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the kinds of runs in percent, a line for each way to classify them."""
    lines = []
    for what, title in (("starts", "Runs"), ("swarm", "Swarm laws")):
        counts = kinds.get(what, {})
        total = sum(counts.values())
        shares = [
            f"{percent(count / total)} {_KIND_NAMES[what].get(kind, kind)}" for kind, count in counts.items() if count
        ]
        if len(shares) > 1:
            lines.append(f"{title}: {', '.join(shares)}")
    return lines


def swarm_text(counts: Mapping[str, int]) -> str:
    """Return how the runs got their swarm configurations, in one line; ``counts`` come from the session."""
    if not counts["runs"]:
        return "no run drew a swarm configuration: there is nothing to choose from"
    drawn = ", ".join(
        f"{counts[key]} {text}"
        for key, text in (
            ("warm_up", "warm-up"),
            ("full", "full"),
            ("coin_flip", "coin-flip"),
            ("directed", "coverage-directed"),
            ("energy", "energy-weighted"),
        )
    )
    productive = f"{counts['productive']} of {counts['configurations']} configurations productive"
    return f"{counts['runs']} runs: {drawn}; {productive}"
