"""``@simulate.test``: a pytest test whose body runs under many schedules, and whose failures are saved and replayed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from ordeal._base.records_used import records
from ordeal._base.trace_file import SCHEDULE, ChoiceValue, Trace, TraceFailure, TraceStep
from ordeal.errors import TraceError
from ordeal.simulate.errors import SimulationError, checked_number
from ordeal.simulate.fresh_arguments import FreshArgument, FreshMain
from ordeal.simulate.runtime.decisions import SEED_MAX, Decided
from ordeal.simulate.runtime.examination import Examined
from ordeal.simulate.runtime.exploring import ScheduleSearch, check_cancel, check_policy, noted
from ordeal.simulate.runtime.faults import SimulatedFault, fault_of_text, fault_text
from ordeal.simulate.runtime.loop import TIME_LIMIT_S
from ordeal.simulate.runtime.report import ScheduleFailure, decision_text, reach_text, replay_call
from ordeal.simulate.runtime.running import Main, RunSettings, SimulatedRun, run_settings

#: The names of its other choices: no argument of a rule can have them.
CHANCE, FAULTS = "(chance)", "(faults)"


def to_trace(failure: ScheduleFailure, test: str) -> Trace:
    """Return the trace of a failure of ``test``, which is ``module:function``."""
    world: list[ChoiceValue] = [part for label, value in failure.decisions.items() for part in (label, value)]
    step = TraceStep(
        kind="rule",
        name=test.rpartition(":")[2],
        choices={
            SCHEDULE: world,
            CHANCE: [failure.chance],
            FAULTS: [fault_text(fault) for fault in failure.faults],
        },
        draws=[decision_text(decision, failure.faults) for decision in failure.decided],
    )
    return Trace(
        run_id=failure.run,
        seed=failure.seed,
        test_class=test,
        steps=[step],
        failure=TraceFailure.of(failure.error, 1, failure.bucket),
        program=replay_call(failure, step.name.rpartition(".")[2]).splitlines(),
        records=list(records.paths),
    )


def from_trace(trace: Trace) -> tuple[list[Decided], int, tuple[SimulatedFault, ...]]:
    """Return the decisions of the schedule of a trace, the seed of chance, and the faults.

    Raises:
        TraceError: its choices are not those of a schedule.
    """
    choices = trace.steps[0].choices
    world, chance = choices[SCHEDULE], choices.get(CHANCE, [0])
    where = f"the trace of {trace.test_class}"
    if len(world) % 2 or len(chance) != 1:
        raise TraceError(f"{where} has an incomplete list of choices")
    (seed,) = chance
    if type(seed) is not int or not 0 <= seed <= SEED_MAX:
        raise TraceError(f"{where} has {seed!r:.50} as a seed")
    try:
        decided = [Decided.from_label(label, value) for label, value in zip(world[::2], world[1::2], strict=True)]
        faults = tuple(fault_of_text(str(text)) for text in choices.get(FAULTS, []))
    except SimulationError as error:
        raise TraceError(f"{where}: {error.message}") from None
    return decided, seed, faults


RUNS = 200
FOLDER = ".ordeal/schedules"
#: The parameter that is not a fixture.
WORLD = "world"
_MARK = "ordeal_simulated_test"
#: The section of pytest's report of a test: its phase and its name.
_SECTION = ("call", "simulation")

AsyncTest = Callable[..., Coroutine[Any, Any, object]]


class SimulatedTest:
    """One test function with its settings."""

    def __init__(
        self,
        function: AsyncTest,
        settings: RunSettings,
        *,
        runs: int,
        seed: int,
        cancel: str | None,
        policy: str = "auto",
        is_decorated: bool = True,
    ) -> None:
        """``is_decorated`` is False for a test that runs here only because of ``--simulate``."""
        self._function = function
        self._is_decorated = is_decorated
        self._settings = settings
        self._runs = runs
        self._seed = seed
        self._cancel = cancel
        self._policy = policy

    @property
    def name(self) -> str:
        """The test as ``module:function``."""
        return f"{self._function.__module__}:{self._function.__qualname__}"

    def run(self, function: AsyncTest, given: Mapping[str, Any], request: Any) -> None:
        """Replay the saved schedules, and search for a failure. ``request`` is pytest's, None outside pytest.

        Raises the error of the first failure, with a note.

        Args:
            function: the test, with what it takes besides ``given``, such as the object whose method it is.
            given: its arguments. Each run makes some of them again.
            request: where pytest says what runs.
        """
        __tracebackhide__ = True
        records.paths.clear()
        folder = None if request is None else request.config.rootpath / FOLDER / file_name(request.node.nodeid)
        is_short = request is not None and not request.config.getoption("chaos", default=False)
        arguments = {} if request is None else request.node.funcargs
        fresh = {name: each for name, each in arguments.items() if isinstance(each, FreshArgument)}
        main: Main | FreshMain = functools.partial(function, **given)
        if fresh:
            main = FreshMain(function, given, fresh, request.getfixturevalue)
        search = ScheduleSearch(main, self._settings)
        with search.entered(is_meant=self._is_decorated):
            failure = self._saved_failure(search, folder)
            if failure is None:
                # Without ``--chaos`` a test takes ten schedules.
                runs = min(self._runs, 10) if is_short else self._runs
                if self._cancel == "each":
                    search.try_each_cancellation(runs, None)
                else:
                    search.try_seeds(self._seed, runs, None, self._policy)
                failure = search.report.failure
        if request is not None and search.report.runs:
            # With @given, the report shows that of the last example.
            sections = request.node._report_sections
            sections[:] = [section for section in sections if section[:2] != _SECTION]
            request.node.add_report_section(*_SECTION, reach_text(search.report))
        if failure is not None:
            raise self._told(failure, folder, request) from failure.error.__cause__

    def replay(self, trace: Trace) -> SimulatedRun:
        """Run the schedule of a trace, in which the function takes no arguments.

        Raises:
            TraceError: the trace is of another kind, or the function needs fixtures.
        """
        self._refuse_fixtures()
        decided, chance, faults = from_trace(trace)
        search = ScheduleSearch(self._function, replace(self._settings, faults=faults))
        with search.entered():
            return search.replay(decided, chance)

    def run_seed(self, seed: int) -> SimulatedRun:
        """Run the schedule that follows from a seed; the function takes no arguments.

        Raises:
            TraceError: the function needs fixtures.
        """
        self._refuse_fixtures()
        search = ScheduleSearch(self._function, self._settings)
        with search.entered(is_meant=False):
            return search.run_seed(seed)

    def _refuse_fixtures(self) -> None:
        fixtures = self._fixtures()
        if fixtures:
            raise TraceError(
                f"{self.name} takes fixtures ({', '.join(fixtures)}), which only pytest has",
                hint="run the test itself with pytest: it replays its saved schedules first",
            )

    def _fixtures(self) -> list[str]:
        parameters = inspect.signature(self._function).parameters
        return [name for name, each in parameters.items() if each.default is each.empty and name != WORLD]

    def _saved_failure(self, search: ScheduleSearch, folder: Path | None) -> ScheduleFailure | None:
        """Replay what was saved; a schedule that does not fit any more, or does not fail, is left alone."""
        for path in sorted(folder.glob("*.json")) if folder is not None and folder.is_dir() else ():
            trace = Trace.load(path)
            if not trace.is_schedule:
                raise TraceError(f"{path} is not the trace of a simulated test", hint="delete the file")
            decided, chance, faults = from_trace(trace)
            outcome = search.replay(decided, chance, faults)
            if outcome.error is not None:
                return ScheduleFailure(
                    error=outcome.error,
                    examined=outcome.examined or Examined(),
                    bucket=outcome.bucket,
                    decided=tuple(decided),
                    run=trace.run_id,
                    seed=trace.seed,
                    made=outcome.made,
                    chance=chance,
                    faults=faults,
                )
        return None

    def _told(self, failure: ScheduleFailure, folder: Path | None, request: Any) -> BaseException:
        if folder is None or failure.is_flaky:
            return noted(failure)
        trace = to_trace(failure, self.name)
        path = folder / f"schedule-{trace.content_hash()}.json"
        if not path.exists():
            trace.save(path)
        request.node.says_how_to_replay = True  # so the seed of the run of pytest is not named, too
        if self._fixtures() or not self._is_decorated or "<locals>" in self.name:
            command = "pytest" if self._is_decorated else "pytest --simulate"
            return noted(failure, f"Replay: {command} {request.node.nodeid!r}, which begins with what it saved")
        return noted(failure, f"Replay: ordeal replay {path.relative_to(request.config.rootpath)}")


def file_name(node_id: str) -> str:
    """Return the name of a file or folder for a test of pytest."""
    name = node_id.replace("/", ".").replace("::", ".")
    return "".join(char if char.isalnum() or char in "._-[]" else "_" for char in name)[:150]


def test_of(found: object) -> SimulatedTest | None:
    """Return the simulated test behind what ``@simulate.test`` made; None for anything else."""
    test = getattr(found, _MARK, None)
    return test if isinstance(test, SimulatedTest) else None


test_of.__test__ = False  # type: ignore[attr-defined]


@overload
def simulated_test(function: AsyncTest, /) -> Callable[..., None]: ...


@overload
def simulated_test(
    *,
    runs: int = RUNS,
    seed: int = 0,
    faults: Any = (),
    cancel: str | None = None,
    allow: Any = (),
    time_limit: float = TIME_LIMIT_S,
    policy: str = "auto",
) -> Callable[[AsyncTest], Callable[..., None]]: ...


def simulated_test(
    function: AsyncTest | None = None,
    /,
    *,
    runs: int = RUNS,
    seed: int = 0,
    faults: Any = (),
    cancel: str | None = None,
    allow: Any = (),
    time_limit: float = TIME_LIMIT_S,
    policy: str = "auto",
) -> Any:
    """Decorate an ``async def`` test to run in a simulation, under many schedules.

    To pytest it is one test. Its arguments are fixtures: each run makes those of function scope again, which may be
    asynchronous, unless they take ``request``; all runs share the others. ``world`` is a world of nodes. Without
    ``--chaos`` it takes 10 runs.
    A failure is saved below ``.ordeal/schedules``; as long as it fails, the test replays it first.

    Args:
        function: the test.
        runs: how many schedules to try.
        seed: what the search draws follows from it; only with 0 is the first run the plain one.
        faults: a list such as ``[cancel(), stall(), crash()]``.
        cancel: ``"each"`` tries every cancellation that the plain run could have had, in place of random runs.
        allow: what the runs may do though no simulation controls it, such as ``["time.sleep"]``.
        time_limit: the simulated seconds after which a run fails.
        policy: ``"random"`` plans each run by its seed alone, and not by what earlier ones did.

    Raises:
        SimulationError: an argument cannot be used, or the function is not ``async def``.
    """
    settings = run_settings(faults, allow, time_limit)
    checked_number("runs", runs, 1)
    checked_number("seed", seed, 0, SEED_MAX)
    check_cancel(cancel, settings)
    check_policy(policy)

    def decorate(function: AsyncTest) -> Callable[..., None]:
        name = getattr(function, "__name__", repr(function))
        if not inspect.iscoroutinefunction(function):
            if hasattr(function, "hypothesis"):
                raise SimulationError(f"{name} is wrapped by @given", hint="write `@given(...)` above `@simulate.test`")
            raise SimulationError(f"{name} is not `async def`", hint=f"write `async def {name}(...)`")
        test = SimulatedTest(function, settings, runs=runs, seed=seed, cancel=cancel, policy=policy)
        return _made(test, function)

    return decorate if function is None else decorate(function)


test = simulated_test
test.__test__ = False  # type: ignore[attr-defined]


def _made(test: SimulatedTest, function: AsyncTest) -> Callable[..., None]:
    signature = inspect.signature(function)
    wants_request = "request" in signature.parameters

    @functools.wraps(function)
    def run_schedules(*arguments: Any, **fixtures: Any) -> None:
        __tracebackhide__ = True
        given = shown.bind_partial(*arguments, **fixtures).arguments
        request = given.get("request") if wants_request else given.pop("request", None)
        test.run(function, given, request)

    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    own = [parameter for name, parameter in signature.parameters.items() if name != WORLD]
    # In front, as @given fills what is last.
    place = int(bool(own) and own[0].name == "self")
    parameters = own if wants_request else [*own[:place], request, *own[place:]]
    shown = signature.replace(parameters=parameters)
    run_schedules.__signature__ = shown  # type: ignore[attr-defined]
    setattr(run_schedules, _MARK, test)
    return run_schedules
