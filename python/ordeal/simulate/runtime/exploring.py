"""Searches the schedules of a coroutine function for a failure, confirms it, and finds out what it needs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, islice
from time import process_time
from typing import Any

import ordeal._native as _native
from ordeal._base.formatting import counted
from ordeal.simulate.errors import (
    SimulationError,
    SimulationFailure,
    SimulationWarning,
    StalledStep,
    checked_number,
    checked_seconds,
)
from ordeal.simulate.fresh_arguments import FreshMain
from ordeal.simulate.runtime.decisions import (
    CANCEL,
    KINDS,
    POLICIES,
    SEED_MAX,
    Decided,
    drawn_schedule,
    families,
    fixed_schedule,
    planner,
    run_seeds,
)
from ordeal.simulate.runtime.examination import Examined
from ordeal.simulate.runtime.faults import NODE_FAULTS, Cancel, SimulatedFault
from ordeal.simulate.runtime.loop import TIME_LIMIT_S
from ordeal.simulate.runtime.report import Report, ScheduleFailure, failure_text, vain_faults
from ordeal.simulate.runtime.running import (
    Main,
    RunSettings,
    SimulatedRun,
    WorldMain,
    checked_main,
    in_world,
    run_once,
    run_settings,
)
from ordeal.simulate.runtime.sites import is_program
from ordeal.simulate.runtime.surroundings import Surroundings, steps_watched

RUNS = 1_000
#: How many runs, and how much processor time, the search for a simpler schedule may take.
SHRINK_RUNS_MAX = 1_000
SHRINK_CPU_S = 30.0
#: How long a candidate of the shrinker may take in simulated time, by that of the failure: of a program that polls each
#: 10 ms, a run without an end took 8 s, and 16 candidates all the time that there is.
_BRIEF_TIMES, _BRIEF_S = 4.0, 60.0
_KEPT = (
    "an earlier run left something behind, the real time is read, a generator has no seed, or a set of objects is "
    "iterated, in the order of their addresses"
)
#: Each such run is repeated and compared.
CHECK_EVERY = 100


def run(
    main: Main,
    *,
    seed: int = 0,
    faults: Any = (),
    decisions: Mapping[str, int] | None = None,
    allow: Any = (),
    time_limit: float = TIME_LIMIT_S,
) -> Any:
    """Run a coroutine function once in a simulation; return what it returns, and raise what it raises.

    Args:
        main: an ``async def`` function without arguments, or with one, ``world``: a world of nodes.
        seed: what is left open follows from it. With 0 nothing special happens: timers fire in the order in which they
            were set, no step takes time, and no fault strikes.
        faults: a list such as ``[cancel(), stall(), crash()]``.
        decisions: exactly what happens, as the report of a failure says it; then ``seed`` seeds only ``random``.
        allow: what the run may do though no simulation controls it, such as ``["time.sleep"]``.
        time_limit: the simulated seconds after which the run fails.

    Raises:
        SimulationFailure: the run ends in a deadlock, or in another way that is a bug of the program.
        EscapedSimulation: the program leaves the simulation.
        SimulationError: an argument cannot be used, or a simulation runs already.
    """
    main, settings = checked_main(main), run_settings(faults, allow, time_limit)
    checked_number("seed", seed, 0, SEED_MAX)
    if decisions is None:
        schedule = drawn_schedule(seed)
    else:
        schedule = fixed_schedule([Decided.from_label(label, value) for label, value in decisions.items()])
    surroundings = Surroundings()
    with surroundings.entered(), steps_watched(surroundings.running):
        outcome = run_once(main, schedule, settings, surroundings, chance=seed, is_examined=decisions is not None)
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def explore(
    main: Main,
    *,
    runs: int = RUNS,
    seconds: float | None = None,
    seed: int = 0,
    faults: Any = (),
    cancel: str | None = None,
    allow: Any = (),
    time_limit: float = TIME_LIMIT_S,
    check: bool = True,
    policy: str = "auto",
) -> Report:
    """Run a coroutine function under many schedules, and raise the first failure with what it needs.

    The first run is the plain one, unless ``seed`` says otherwise. Runs that did things in a new order are followed and
    changed. A failure is repeated, and then shrunk to the decisions without which it does not happen. The error that is
    raised is that of the program, with a note.

    Args:
        main: an ``async def`` function without arguments, or with one, ``world``: a world of nodes. Each run calls it
            again.
        runs: how many schedules to try.
        seconds: when to end even if runs are left; None for never.
        seed: what the search draws follows from it. With another one it has other runs; only with 0 is the first one
            the plain run.
        faults: a list such as ``[cancel(), stall(), crash()]``.
        cancel: ``"each"`` tries one run for every place and time where a task that ``faults`` strikes may be cancelled,
            in place of random runs.
        allow: what the runs may do though no simulation controls it, such as ``["time.sleep"]``.
        time_limit: the simulated seconds after which a run fails.
        check: whether to raise; otherwise the report has the failure.
        policy: ``"auto"`` steers runs by what earlier ones did; with ``"random"`` each follows from its seed alone, and
            with ``"sparse"`` each makes only a few decisions that are not 0.

    Raises:
        SimulationFailure: a run ends in a deadlock, or in another way that is a bug of the program.
        EscapedSimulation: the program leaves the simulation.
        SimulationError: an argument cannot be used, or a simulation runs already.
    """
    main, settings = checked_main(main), run_settings(faults, allow, time_limit)
    checked_number("runs", runs, 1)
    checked_number("seed", seed, 0, SEED_MAX)
    if seconds is not None:
        checked_seconds("seconds", seconds)
    check_cancel(cancel, settings)
    check_policy(policy)
    search = ScheduleSearch(main, settings)
    with search.entered():
        if cancel == "each":
            search.try_each_cancellation(runs, seconds)
        else:
            search.try_seeds(seed, runs, seconds, policy)
    if check and search.report.failure is not None:
        raise noted(search.report.failure) from search.report.failure.error.__cause__
    return search.report


def noted(failure: ScheduleFailure, replay: str | None = None) -> BaseException:
    """Return the error of a failure with a note of what it needs, and a traceback that begins in the program.

    ``replay`` says how to repeat it; by default with a call of ``run``.
    """
    error = failure.error
    traceback = error.__traceback__
    while traceback is not None and not is_program(traceback.tb_frame.f_code):
        traceback = traceback.tb_next
    if traceback is None and isinstance(error, SimulationFailure):
        traceback = error.waiting_at
    error.add_note(f"\n{failure_text(failure, replay)}")
    return error.with_traceback(traceback)


class ScheduleSearch:
    """The search of one function's schedules: runs, and the report that grows with them. Use it in ``entered()``."""

    def __init__(self, main: Main | FreshMain, settings: RunSettings) -> None:
        self.report = Report()
        self._name = getattr(main.function if isinstance(main, WorldMain) else main, "__name__", "main")
        self._main = main if isinstance(main, FreshMain) else in_world(main)
        self._settings = settings
        self._surroundings = Surroundings()
        self._once = partial(run_once, self._main, settings=settings, surroundings=self._surroundings)
        self._shrink_limit = ""
        self._brief = settings

    @contextmanager
    def entered(self, *, is_meant: bool = True) -> Iterator[None]:
        """Put the process into the state in which simulations run, for the block; afterwards warn of vain runs.

        ``is_meant`` is False for a program that was not written for it, and may well leave nothing open.
        """
        with self._surroundings.entered(), steps_watched(self._surroundings.running):
            yield
        report = self.report
        report.vain = tuple(vain_faults(self._settings.faults, report)) if report.runs and not report.failure else ()
        for text in report.vain if is_meant else ():
            warnings.warn(SimulationWarning(text), stacklevel=3)
        if report.nondeterministic:
            warnings.warn(SimulationWarning(f"two runs with one seed differ: {report.nondeterministic}"), stacklevel=3)
        elif is_meant and report.failure is None and report.runs > 1 and not report.made:
            warnings.warn(
                SimulationWarning(
                    f"all {report.runs:,} runs were the same, as the program leaves nothing open: no timers, no "
                    "executors; `faults=[simulate.cancel()]` would cancel tasks"
                ),
                stacklevel=3,
            )

    def try_seeds(self, search_seed: int, runs: int, seconds: float | None, policy: str = "auto") -> None:
        """Run with the seeds of one search, or what ``policy`` makes of it, until a run fails."""
        plans = planner(policy)
        end = None if seconds is None else _native.monotonic() + seconds
        for seed in run_seeds(search_seed, runs):
            schedule = plans.next(seed)
            try:
                outcome = self._run(schedule, plans.chance)
            except StalledStep as error:
                error.add_note(f"\nFound with seed {seed}{' and what earlier runs did' if plans.is_steered else ''}.")
                raise
            if outcome.error is not None:
                self._found(outcome, plans.chance, seed, is_steered=plans.is_steered)
                return
            plans.tell(outcome.schedule)
            if self.report.runs % CHECK_EVERY == 1 and not self.report.nondeterministic:
                self._check_again(plans, seed, outcome)
            if end is not None and _native.monotonic() > end:
                return

    def try_each_cancellation(self, runs: int, seconds: float | None) -> None:
        """Run once as it is, and then once for each cancellation that this run could have had."""
        end = None if seconds is None else _native.monotonic() + seconds
        plain = drawn_schedule(0)
        plain.keep_all()
        outcome = self._run(plain)
        if outcome.error is not None:
            self._found(outcome, 0)
            return
        for fields in outcome.schedule.decisions:
            kind, *_, bound, _value = fields
            for value in range(1, bound) if kind == CANCEL else ():
                if self.report.runs >= runs or (end is not None and _native.monotonic() > end):
                    return
                outcome = self._run(fixed_schedule([Decided.from_fields((*fields[:-1], value))]))
                if outcome.error is not None:
                    self._found(outcome, 0)
                    return

    def replay(
        self, decisions: list[Decided], chance: int, faults: tuple[SimulatedFault, ...] | None = None
    ) -> SimulatedRun:
        """Run with exactly these decisions, noting who uses which lock; ``faults`` are those of their run, if given."""
        settings = self._settings if faults is None else replace(self._settings, faults=faults)
        return self._once(fixed_schedule(decisions), settings=settings, chance=chance, is_examined=True)

    def run_seed(self, seed: int) -> SimulatedRun:
        """Run the schedule that follows from a seed."""
        return self._run(drawn_schedule(seed), seed)

    def _run(self, schedule: _native.Schedule, chance: int = 0) -> SimulatedRun:
        outcome = self._once(schedule, chance=chance)
        report = self.report
        report.runs += 1
        report.steps += outcome.steps
        report.made += outcome.made
        report.simulated_s += outcome.simulated_s
        report.cut_short += outcome.is_cut_short
        if outcome.made:
            for kind, number in zip(KINDS, schedule.struck_of_kinds, strict=True):
                if number and kind not in NODE_FAULTS:
                    report.disturbed[kind] += number
        for (kind, node), number in outcome.strikes.items():
            report.disturbed[kind] += number
            report.strikes[kind, node] += number
        report.nodes |= dict.fromkeys(outcome.nodes)
        if outcome.waited:
            report.waited.update(outcome.waited)
            report.struck.update(outcome.struck)
        return outcome

    # Failures

    def _found(self, outcome: SimulatedRun, chance: int, seed: int | None = None, *, is_steered: bool = False) -> None:
        """Confirm and shrink a failure; ``seed`` is that of the run, if it is another one than that of chance."""
        run, made, seed = self.report.runs, outcome.made, chance if seed is None else seed
        found = self._confirmed(outcome, chance)
        is_flaky = found is None
        needed, chance, examined = found or (outcome.decisions, chance, outcome)
        assert examined.error is not None
        self.report.failure = ScheduleFailure(
            error=examined.error,
            examined=examined.examined or Examined(),
            bucket=outcome.bucket,
            decided=tuple(needed),
            run=run,
            seed=seed,
            made=made,
            chance=chance,
            faults=self._settings.faults,
            is_flaky=is_flaky,
            is_steered=is_steered,
            shrink_limit=self._shrink_limit,
            name=self._name if self._name.isidentifier() else "main",
        )

    def _confirmed(self, outcome: SimulatedRun, seed: int) -> tuple[list[Decided], int, SimulatedRun] | None:
        """Repeat a failure, and return the decisions that it needs, the seed of chance, and how such a run ended."""
        bucket = outcome.bucket
        # A candidate may run for ever where the failure took a moment.
        limit = min(self._settings.time_limit, _BRIEF_TIMES * outcome.simulated_s + _BRIEF_S)
        self._brief = replace(self._settings, time_limit=limit)
        if not self._fails(outcome.decisions, seed, bucket):
            return None
        chance = 0 if seed and self._fails(outcome.decisions, 0, bucket) else seed
        needed = self._shrunk(outcome.decisions, chance, bucket)
        examined = self.replay(needed, chance)
        if examined.error is None or examined.bucket != bucket:
            return None
        return needed, chance, examined

    def _fails(self, decisions: list[Decided], chance: int, bucket: str) -> bool:
        return self._once(fixed_schedule(decisions), chance=chance, settings=self._brief).bucket == bucket

    def _shrunk(self, decisions: list[Decided], chance: int, bucket: str) -> list[Decided]:
        shrinker = _native.ScheduleShrinker([decision.to_fields() for decision in decisions], families(decisions))
        self._shrink_limit = ""
        runs, end_s = 0, process_time() + SHRINK_CPU_S
        while (candidate := shrinker.next()) is not None:
            if runs == SHRINK_RUNS_MAX:
                self._shrink_limit = f"{SHRINK_RUNS_MAX:,} runs"
                break
            if process_time() > end_s:
                self._shrink_limit = f"{SHRINK_CPU_S:g} s of processor time, {counted(runs, 'run')}"
                break
            runs += 1
            shrinker.tell(self._fails([Decided.from_fields(fields) for fields in candidate], chance, bucket))
        needed = [Decided.from_fields(fields) for fields in shrinker.needed]
        if self._shrink_limit or len(needed) <= 2:
            return needed
        undecided = cache(partial(self.undecided, chance))
        for search in (_two_elsewhere, _one_and_another):
            for few in islice(search(needed, undecided), 300):
                if process_time() > end_s:
                    return needed
                if self._fails(few, chance, bucket):
                    return few
        return needed

    def undecided(self, chance: int, *kept: Decided) -> list[Decided]:
        """Return the decisions that are 0 in a run which decides only what is kept."""
        schedule = fixed_schedule(kept)
        schedule.keep_all()
        self._once(schedule, chance=chance)
        return [Decided.from_fields(fields) for fields in schedule.decisions if not fields[-1]]

    # Determinism

    def _check_again(self, plans: _native.SchedulePlanner, seed: int, outcome: SimulatedRun) -> None:
        """Repeat a run and compare what it did."""
        again = self._once(plans.again(), chance=plans.chance)
        if again.event_hash == outcome.event_hash and again.error is None:
            return
        first, second = self._logged(plans), self._logged(plans)
        differing = next((pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]), None)
        if differing is None and len(first) == len(second):
            self.report.nondeterministic = f"seed {seed} did something else at first than later: {_KEPT}"
        else:
            one, other = differing or ("the end of the run", (first + second)[min(len(first), len(second))])
            self.report.nondeterministic = f"seed {seed}, {one} in one run and {other} in another: {_KEPT}"

    def _logged(self, plans: _native.SchedulePlanner) -> list[str]:
        log: list[str] = []
        logged = lambda at, who, what: log.append(f"{who} at {at:.6f} s where it {what}")  # noqa: E731
        self._once(plans.again(), chance=plans.chance, log=logged)
        return log


type _Undecided = Callable[..., list[Decided]]


def _two_elsewhere(needed: list[Decided], undecided: _Undecided) -> Iterator[list[Decided]]:
    """Yield runs with two of the needed decisions, which strike others or at other times.

    The decisions that are left out may have done nothing but let these two strike where they did.
    """

    def places(of: Decided, *kept: Decided) -> Iterator[Decided]:
        here = (each for each in undecided(*kept) if (each.kind, each.site) == (of.kind, of.site))
        return (replace(each, value=of.value) for each in here if of.value < each.bound)

    tried = set[Any]()
    for other, one in combinations(reversed(needed), 2):  # what was decided last is the nearest to the failure
        kinds = (one.kind, one.site, one.value), (other.kind, other.site, other.value)
        if kinds not in tried:
            tried.add(kinds)
            yield from ([first, second] for first in places(one) for second in places(other, first))


def _one_and_another(needed: list[Decided], undecided: _Undecided) -> Iterator[list[Decided]]:
    """Yield runs with one decision, and then those with one that is needed and another of these kinds.

    Such a run may have nothing in common with the one that was found, so leaving out decisions does not lead to it.
    """
    kinds = {KINDS.index(decision.kind) for decision in needed}
    for kept in ([], *([decision] for decision in needed)):
        for decision in undecided(*kept):
            if KINDS.index(decision.kind) in kinds:
                for value in range(1, min(decision.bound, 4)):  # one or two decisions in place of more
                    yield [*kept, replace(decision, value=value)]


def check_policy(policy: Any) -> None:
    """Raise SimulationError unless ``policy`` is one."""
    if not isinstance(policy, str) or policy not in POLICIES:
        names = ", ".join(f'"{name}"' for name in POLICIES)
        raise SimulationError(f"policy is {policy!r:.100}", hint=f"write one of {names}")


def check_cancel(cancel: Any, settings: RunSettings) -> None:
    """Raise SimulationError unless ``cancel`` is None, or "each" with tasks to cancel."""
    if cancel not in (None, "each"):
        raise SimulationError(f"cancel is {cancel!r:.100}", hint='write "each", or leave it out')
    if cancel == "each" and not any(isinstance(fault, Cancel) for fault in settings.faults):
        raise SimulationError(
            'cancel="each" has no tasks to cancel', hint="say which: add `faults=[simulate.cancel()]`"
        )
