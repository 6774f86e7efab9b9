"""Makes the result of an exploration from its counts, which come from one process or several."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

import ordeal._native as _native
from ordeal._base.formatting import counted, name_list
from ordeal._base.trace_file import Trace
from ordeal._engine.coverage.gaps import Gaps, find_gaps
from ordeal._engine.coverage.targets import Target, compiled_modules, imported_modules
from ordeal._engine.execution.settings import Settings, Tally
from ordeal._engine.properties.catalog import never_reached
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.search.uses import Counts, fault_uses_of, rule_uses_of
from ordeal._hypothesis.markers import has_coroutine_rules, sampled_of
from ordeal.chaos import has_tasks
from ordeal.result import (
    Discovery,
    ExplorationResult,
    Failure,
    Inconclusive,
    KnownFailure,
    SeedOutcome,
    SnapshotKind,
    StoppedReason,
)
from ordeal.result.exploration import swarm_text
from ordeal.result.parts import unused_remark

#: The first runs, in which the core learns what the targets look like.
WARM_UP_RUNS = _native.RunPolicy.WARM_UP_RUNS
_FILL = "fill each bundle by an initialize rule, or take its values in a rule that draws from it alone"


#: A snapshot of a tracker of properties.
Properties = dict[str, list[dict[str, str | int | float | bool | None]]]


class SearchReport(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a search counted since its start.

    ``counts`` says for each bucket how many runs failed in it. ``lines`` are the lines that ran, by the path of the
    file, and ``discovery`` is the core's estimate of what is left to find.
    """

    tally: dict[str, int] = {}
    notes: list[str] = []
    snapshot_kind: SnapshotKind = "copy"
    checkpoints: int = 0
    checkpoints_saved: int = 0
    swarm: dict[str, int] = {}
    run_kinds: dict[str, dict[str, int]] = {}
    counts: dict[str, int] = {}
    properties: Properties = {}
    lines: dict[str, list[int]] = {}
    discovery: tuple[int, int, float, float, float] | None = None
    faults: Counts = {}
    rules: Counts = {}


class Totals(msgspec.Struct, kw_only=True):
    """All counts: the report of the only process, or the sum of all reports.

    ``idle_workers`` is how many workers had time for a run, but finished none. ``unjudged`` is why a worker could not
    judge one of its runs, empty if all could.
    """

    tally: Tally
    report: SearchReport
    edges: int
    idle_workers: int = 0
    unjudged: str = ""


def make_result(
    settings: Settings,
    targets: Sequence[Target],
    totals: Totals,
    *,
    failures: list[Failure],
    known: list[KnownFailure],
    traces: list[Trace],
    seeds: list[SeedOutcome],
    watch: PropertyWatch,
    seconds: float,
    stopped: StoppedReason,
    machine: type | None = None,
    fault_names: Sequence[str] = (),
) -> ExplorationResult:
    """Return the result, with a note on everything unusual. ``watch`` has finished recording."""
    report = totals.report
    gaps = find_gaps(list(targets), report.lines)
    files = [source.path for target in targets for source in target.sources()]
    faults, rules = fault_uses_of(report.faults), rule_uses_of(report.rules, fault_names)
    _note_what_was_odd(targets, totals, gaps)
    # What a process counted since its last report is lost when a run ends it.
    is_whole = not report.run_kinds.get("starts", {}).get("unknown")
    unused = unused_remark(rules, totals.tally.runs) if is_whole else ""
    for remark in filter(None, (*(use.remark() for use in faults), unused)):
        totals.tally.note(remark)
    notes = list(totals.tally.notes)
    if machine is not None and (sampled := ", ".join(f"`{check.__name__}`" for check in sampled_of(machine))):
        notes.append(f"Checked at the start and end of runs and after one step in eight, as sampled: {sampled}")
    is_slow = totals.tally.steps < 20 * seconds  # steps that only compute come by the thousand
    if machine is not None and is_slow and has_coroutine_rules(machine) and not has_tasks(machine):
        notes.append(
            "The coroutines of its rules wait in real time. `simulated = True` in the class lets waiting take no time."
        )
    return ExplorationResult(
        test_class=settings.test_class,
        rng_seed=settings.seed,
        total_runs=totals.tally.runs,
        total_steps=totals.tally.steps,
        unique_edges=totals.edges,
        checkpoints=report.checkpoints,
        checkpoints_saved=report.checkpoints_saved,
        duration_seconds=seconds,
        failures=failures,
        known=known,
        traces=traces,
        seed_replays=seeds,
        properties=[*watch.results, *never_reached(files, watch.results)],
        reliability_cells=watch.cells,
        coverage_gaps=gaps.gaps,
        lines_covered=gaps.lines_covered,
        lines_total=gaps.lines_total,
        missed_lines=gaps.missed_lines,
        covered_lines=gaps.covered_lines,
        stopped_reason=stopped,
        snapshot_kind=report.snapshot_kind,
        swarm_summary=swarm_text(report.swarm) if settings.rule_swarm else "",
        run_kinds=report.run_kinds,
        discovery=Discovery.of(report.discovery, totals.edges),
        rejected_runs=totals.tally.rejected,
        unconfirmed=totals.tally.unconfirmed,
        notes=tuple(notes),
        faults=faults,
        rules=rules,
        target_modules=tuple(dict.fromkeys(target.name for target in targets)),
        imported_modules=() if machine is None else imported_modules(machine),
        inconclusive=None
        if failures
        else why_inconclusive(
            totals.tally,
            max_time=settings.max_time,
            idle_workers=totals.idle_workers,
            unjudged=totals.unjudged,
            unreached=gaps.unreached,
            has_used_rules=any(use.ran for use in rules),
        ),
    )


def why_inconclusive(
    tally: Tally,
    *,
    max_time: float,
    idle_workers: int,
    unjudged: str,
    unreached: Sequence[str],
    has_used_rules: bool,
) -> Inconclusive | None:
    """Return what was left undone, or None.

    ``idle_workers`` never finished a run; no code ran of the targets ``unreached``.
    """
    if idle_workers:
        workers = counted(idle_workers, "worker")
        return Inconclusive(
            f"{workers} finished no run in {max_time:g} s",
            "give it more time or fewer steps in a run, or look for what a rule waits for, such as a lock",
        )
    if unjudged:
        return Inconclusive(
            f"a worker {unjudged} and left a run unjudged",
            "a note names the rules of its last run: see what one of them closes or leaves behind",
        )
    if not tally.runs:
        return Inconclusive(f"no run finished in {max_time:g} s", "give it more time, or look for what it waits for")
    runs = counted(tally.runs, "run")
    if tally.overrun >= tally.runs:
        return Inconclusive(
            f"all {runs} needed more data than Hypothesis allows",
            "draw smaller collections and texts: all arguments of a run may fill 8 KiB",
        )
    if tally.emptied >= tally.runs:
        return Inconclusive(f"all {runs} drew from an empty bundle", _FILL)
    if tally.rejected >= tally.runs:
        return Inconclusive(
            f"all {runs} were rejected by assume() or a filter", "have the rules draw only what they accept"
        )
    if not tally.steps:
        return Inconclusive(f"no step was made in {runs}", "see that a rule can run from a fresh machine")
    if not has_used_rules:
        return Inconclusive(f"no rule ran in {runs}", "see that a rule can run once the initialize rules have")
    if unreached:
        hint = "have the rules call it, name the module whose code they do call, or take it out of target_modules"
        return Inconclusive(f"no code of {name_list(unreached)} ran", hint)
    return None


def _note_what_was_odd(targets: Sequence[Target], totals: Totals, gaps: Gaps) -> None:
    tally = totals.tally
    if tally.stuck:
        tally.note(
            f"{tally.stuck} of {tally.runs} runs ended early, in a state where no rule could run; "
            "pytest takes such a state for an error in the machine."
        )
    if tally.emptied:
        tally.note(f"{tally.emptied} of {tally.runs} runs ended at a draw from an empty bundle: {_FILL}.")
    rejected = tally.rejected - tally.emptied
    if tally.runs >= WARM_UP_RUNS and rejected > 0.5 * tally.runs:
        if tally.overrun * 2 < rejected:
            lost = f"{rejected} of {tally.runs} runs were rejected by assume() or a filter"
            advice = "draw what the rules accept"
        else:
            lost = f"{tally.overrun} of {tally.runs} runs needed more data for arguments than the 8 KiB of Hypothesis"
            advice = "draw smaller collections and texts"
        tally.note(f"{lost}: most of the work is lost, so {advice}.")
    if compiled := compiled_modules(targets):
        are = f"and {counted(len(compiled) - 1, 'more module')} are" if len(compiled) > 1 else "is"
        tally.note(f"{compiled[0]} {are} compiled, so ordeal cannot see what runs there.")
    elif targets and not totals.edges:
        names = ", ".join(target.name for target in targets)
        tally.note(f"No code of the target modules ({names}) ran: check that the rules call them.")
    for path in gaps.unreadable:
        tally.note(f"{path} is not valid Python, or gone, so its coverage is not known.")
