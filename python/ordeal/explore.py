"""The Explorer: coverage-guided exploration of a rule machine, from Python."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from hypothesis.errors import InvalidDefinition

from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.execution.machine import MachineFactory, class_path, make_driver
from ordeal._engine.execution.settings import Progress, Settings, ShrinkTold
from ordeal._engine.parallel.store_client import Meeting, folder_of_waiting
from ordeal._engine.parallel.supervisor import Supervisor, can_supervise, usable_cores
from ordeal._engine.parallel.sync import Sharing
from ordeal._engine.parallel.worker_pool import Plan
from ordeal._engine.search.bounded import COUNT_MAX, Scope, SmallScope
from ordeal._engine.search.exploration import Exploration
from ordeal.buggify import DEFAULT_PROBABILITY
from ordeal.config import (
    CHECKPOINTS_MAX,
    DEFAULT_SWARM_POLICY,
    MEMORY_MIB_MAX,
    RNG_SEED_MAX,
    STEPS_MAX,
    WORKERS_MAX,
    CheckpointKind,
    SwarmPolicy,
)
from ordeal.errors import ConfigError, MachineError
from ordeal.result import ExplorationResult, Failure, ProgressSnapshot
from ordeal.store import namespace_of
from ordeal.swarm.weights import law_of

__all__ = ["ExplorationResult", "Explorer", "Failure", "ProgressSnapshot"]

STRATEGIES = ("energy", "uniform", "recent")
KINDS = get_args(CheckpointKind)
POLICIES = get_args(SwarmPolicy)
LEVELS = ("auto", "novelty", "counts")
MEBIBYTE = 2**20


class Explorer:
    """Searches a rule machine for failures, steered by the code that its runs reach.

    Runs start from a fresh machine or branch from a checkpoint, a state that reached something new; checkpoints that
    lead on are chosen more often. The same seed, code and ``max_runs`` give the same runs, byte for byte.

    Args:
        test_class: a ``ChaosTest``, any ``RuleBasedStateMachine``, or a function without arguments that makes one.
        target_modules: names of the modules (packages with all below them) whose coverage steers the search. Empty
            means no coverage: novelty is then what ``state_hash`` says and which rule follows which.
        seed: integer from which every decision is drawn.
        max_checkpoints: how many checkpoints are kept; 0 for none.
        checkpoint_prob: share of the runs that branch from a checkpoint. None means 0.4, or what the adaptive policy
            finds best.
        checkpoint_strategy: how one is chosen: ``energy``, ``uniform`` or ``recent``.
        checkpoint_kind: how a run gets back to its state: ``copy`` copies it, ``replay`` runs the steps to it again,
            ``fork`` has a process hold it (Linux only). ``auto`` copies as long as copies behave as the steps that led
            to them, and else runs the steps again, or forks where that takes long.
        fault_toggle_prob: share of the steps that switch a fault.
        record_traces: keep the traces of all runs that reached new code; ``run`` takes it too.
        workers: worker processes, 0 for all cores. With one, runs happen in this process, unless it is ``isolate``d.
        isolate: run also a single worker in a process of its own, as ``ordeal explore`` does: then nothing that a rule
            does can end this process.
        store: where it meets explorations of other processes and machines: ``dir://PATH`` or ``redis://HOST/DB``.
        share_edges, share_checkpoints: whether workers hear of the edges that others have reached, and of the tapes
            that lead to new states.
        max_memory: what a worker may take, in MiB, before Python raises MemoryError in it; 0 for no limit.
        mutation_targets: functions whose mutants are to be killed; not in this version, so None or empty.
        seed_mutation_prob: share of the rule calls, in runs that branch, whose arguments are a small change of those
            with which the rule was last called on the way to the checkpoint. None means never, or what the adaptive
            policy finds best.
        seed_mutation_respect_strategies: always true: no argument ever leaves its strategy.
        corpus_dir: folder of saved failing traces, the seeds; None for none. Those of the class are replayed before
            the first run, and the ones that fail are failures of the result. Failures that fail each time are saved
            there when they are shrunk, a file each, named by what happens: the same failure is the same file.
        rule_swarm: draw for each run which rules and faults are on (Groce et al., "Swarm Testing", ISSTA 2012). None
            means not to, or what the adaptive policy finds best where the class names no law.
        swarm_policy: who decides what kind of run comes next: whether it branches, repeats or changes what led
            somewhere, how its swarm configuration is drawn, how long it is. ``classic`` has fixed shares; ``adaptive``
            gives more runs to the kinds that bring more that is new for the steps they take. What another argument
            fixes stays as it says.
        value_reuse_prob: share of the numbers of a large range, texts and bytes that are drawn again instead of anew: a
            value from earlier in the run, a constant of the targets, one that they compared, or one that led to new
            code. Always one that the strategy allows.
        comparison_tracing: ``auto`` watches what the targets compare, in replays of some runs when no new code was
            reached for a while, and makes runs that turn the comparisons. ``off`` never does.
        rule_timeout: seconds that a rule may take, 0 or less for no limit; None takes the machine's own
            ``rule_timeout``, or 30 s.
        buggify_prob: probability that a point of buggify acts where the program does not say another; with 0 none
            acts. What a trace or a seed recorded is replayed in any case.
        coverage: ``counts`` sees how often code ran, ``novelty`` whether it ran at hardly any cost, ``auto`` looks at
            the first runs and chooses.

    Raises:
        ConfigError: an argument has a wrong type or is out of range.
        TargetError: a target module cannot be imported or has no Python source.
        MachineError: the class is no rule machine, or has no rules.
    """

    def __init__(
        self,
        test_class: MachineFactory,
        *,
        target_modules: Sequence[str] | None = None,
        seed: int = 42,
        max_checkpoints: int = 256,
        checkpoint_prob: float | None = None,
        checkpoint_strategy: str = "energy",
        checkpoint_kind: str = "auto",
        fault_toggle_prob: float = 0.3,
        record_traces: bool = False,
        workers: int = 1,
        isolate: bool = False,
        max_memory: int = 0,
        store: str | None = None,
        share_edges: bool = True,
        share_checkpoints: bool = True,
        mutation_targets: Sequence[str] | None = None,
        seed_mutation_prob: float | None = None,
        seed_mutation_respect_strategies: bool = True,
        corpus_dir: str | os.PathLike[str] | None = None,
        rule_swarm: bool | None = None,
        swarm_policy: str = DEFAULT_SWARM_POLICY,
        rule_timeout: float | None = None,
        buggify_prob: float = DEFAULT_PROBABILITY,
        coverage: str = "auto",
        value_reuse_prob: float = 0.1,
        comparison_tracing: str = "auto",
    ) -> None:
        self.seed = _integer("seed", seed, 0, RNG_SEED_MAX)
        self.max_checkpoints = _integer("max_checkpoints", max_checkpoints, 0, CHECKPOINTS_MAX)
        self.checkpoint_prob = _share("checkpoint_prob", checkpoint_prob)
        self.checkpoint_strategy = _one_of("checkpoint_strategy", checkpoint_strategy, STRATEGIES)
        self.checkpoint_kind = cast("CheckpointKind", _one_of("checkpoint_kind", checkpoint_kind, KINDS))
        self.fault_toggle_prob = _number("fault_toggle_prob", fault_toggle_prob, 0.0, 1.0)
        self.seed_mutation_prob = _share("seed_mutation_prob", seed_mutation_prob)
        self.record_traces = record_traces
        self.workers = _integer("workers", workers, 0, WORKERS_MAX)
        self.isolate = isolate
        self.max_memory = _integer("max_memory", max_memory, 0, MEMORY_MIB_MAX)
        self.store = store
        self.share_edges = share_edges
        self.share_checkpoints = share_checkpoints
        self.corpus_dir = corpus_dir
        self.rule_swarm = rule_swarm
        self.swarm_policy = cast("SwarmPolicy", _one_of("swarm_policy", swarm_policy, POLICIES))
        self.coverage = _one_of("coverage", coverage, LEVELS)
        self.value_reuse_prob = _number("value_reuse_prob", value_reuse_prob, 0.0, 1.0)
        self.comparison_tracing = _one_of("comparison_tracing", comparison_tracing, ("auto", "off"))
        self.test_class = test_class
        if mutation_targets:
            raise ConfigError(f"mutation_targets is {mutation_targets!r}; this version makes no mutants")
        if not seed_mutation_respect_strategies:
            raise ConfigError(
                "seed_mutation_respect_strategies is False; no argument ever leaves its strategy",
                hint="leave it out, and widen the strategy where other values are wanted",
            )
        self.targets = resolve_targets(target_modules if target_modules is not None else [])
        self.rule_timeout = None if rule_timeout is None else _number("rule_timeout", rule_timeout)
        self.buggify_prob = _number("buggify_prob", buggify_prob, 0.0, 1.0)
        self._driver = make_driver(test_class, self.rule_timeout)
        self._driver.buggify_prob = self.buggify_prob

    def run(
        self,
        *,
        max_time: float = 60.0,
        max_runs: int | None = None,
        steps_per_run: int = 50,
        shrink: bool = True,
        max_shrink_time: float = 30.0,
        confirm_fresh: bool = False,
        patience: int = 0,
        progress: Progress | None = None,
        shrink_progress: ShrinkTold | None = None,
        record_traces: bool | None = None,
        save_state_to: str | os.PathLike[str] | None = None,
        resume_from: str | os.PathLike[str] | None = None,
    ) -> ExplorationResult:
        """Explore, then confirm and shrink what failed.

        Exploring goes on after a failure; failures of one cause are reported once, with a count. Ctrl-C ends it, with
        a result of what there is by then.

        Args:
            max_time: seconds after which no new run starts.
            max_runs: the number of runs after which it ends, whichever comes first.
            steps_per_run: each run draws its length from 1 to this.
            shrink: whether to make failing traces minimal.
            max_shrink_time: seconds that shrinking one failure may take.
            confirm_fresh: whether to replay each failure once in a fresh process; one that does not fail there counts
                as flaky. ``ordeal explore`` does so. It is off here, since that process imports the class anew: it
                knows nothing of what a test or a notebook has prepared. What cannot be imported is left as it is.
            patience: end after this many runs in a row that showed nothing new; 0 for never.
            progress: called with a ``ProgressSnapshot`` after each run.
            shrink_progress: called with a ``ShrinkSnapshot`` after each trace that shrinking tries.
            record_traces: overrides the Explorer's own setting.
            save_state_to: file that what is known is saved to, every 30 s and at the end. A note of the result says
                when that failed.
            resume_from: such a file. The exploration goes on as if it had not stopped: ``max_runs`` counts the runs
                before as well, ``max_time`` does not.

        Raises:
            ConfigError: an argument has a wrong type or is out of range.
            StateError: the state cannot be saved where it should be, or cannot be resumed.
            MachineError: no rule can run in a state that was reached, or the machine breaks a rule of Hypothesis.
        """
        if max_runs is not None:
            _integer("max_runs", max_runs, 1)
        cls = self._driver.definition.cls
        settings = Settings(
            test_class=class_path(self.test_class, cls),
            seed=self.seed,
            max_checkpoints=self.max_checkpoints,
            checkpoint_prob=self.checkpoint_prob,
            checkpoint_strategy=self.checkpoint_strategy,
            checkpoint_kind=self.checkpoint_kind,
            fault_toggle_prob=self.fault_toggle_prob,
            seed_mutation_prob=self.seed_mutation_prob,
            buggify_prob=self.buggify_prob,
            steps_per_run=_integer("steps_per_run", steps_per_run, 1, STEPS_MAX),
            rule_swarm=self.rule_swarm,
            swarm_policy=self.swarm_policy,
            swarm=law_of(cls),
            coverage=self.coverage,
            value_reuse_prob=self.value_reuse_prob,
            comparison_tracing=self.comparison_tracing,
            max_time=_number("max_time", max_time, 0.0, above=True),
            max_runs=max_runs,
            patience=_integer("patience", patience, 0),
            shrink=shrink,
            max_shrink_time=_number("max_shrink_time", max_shrink_time, 0.0),
            confirm_fresh=confirm_fresh,
            record_traces=self.record_traces if record_traces is None else record_traces,
            progress=progress,
            shrink_progress=shrink_progress,
            save_state_to=None if save_state_to is None else Path(save_state_to),
            resume_from=None if resume_from is None else Path(resume_from),
            corpus_dir=None if self.corpus_dir is None else Path(self.corpus_dir),
            rule_timeout=self.rule_timeout,
            session_seed=self.seed,
        )
        try:
            return self._explored(settings)
        except InvalidDefinition as error:
            raise MachineError(str(error)) from error

    def _explored(self, settings: Settings) -> ExplorationResult:
        workers = self.workers or usable_cores()
        if self.store is not None and not can_supervise():
            raise ConfigError("store is given, and this system does not have what workers need")
        if (workers == 1 and not self.isolate and self.store is None) or not can_supervise():
            return Exploration(settings, self._driver, self.targets).run()
        plan = Plan(
            workers=workers,
            sharing=Sharing(edges=self.share_edges, checkpoints=self.share_checkpoints),
            memory=self.max_memory * MEBIBYTE,
            meeting=self._meeting(),
        )
        return Supervisor(settings, self._driver, self.targets, plan).run()

    def _meeting(self) -> Meeting | None:
        if self.store is None:
            return None
        cls = self._driver.definition.cls
        namespace = namespace_of(cls, self.targets, instrumentation=self.coverage)
        return Meeting(self.store, namespace, folder_of_waiting())

    def exhaustive(
        self,
        *,
        depth: int = 3,
        limit: int = 1_000_000,
        faults: bool = False,
        values: int | None = None,
        shrink: bool = True,
        max_shrink_time: float = 30.0,
        progress: Progress | None = None,
    ) -> ExplorationResult:
        """Run all rule sequences of up to ``depth`` steps, with all values of their arguments, and say so.

        Nothing is left to chance: neither ``seed`` nor coverage matters, and no point of ``buggify`` acts. Shorter
        sequences come before the longer ones that begin with them. Initialize rules come first, in every order, and
        are not counted as steps. A failure is confirmed, shrunk and saved as in ``run``.

        Args:
            depth: the number of steps that a sequence may have.
            limit: the number of runs after which it ends when there are more.
            faults: whether switching a fault of the class is a step too.
            values: the most values that one number, text or bytes takes, the simplest ones; the result names the
                arguments that have more. None means all, and then an argument without an end of values is an error.
            shrink: whether to make failing traces minimal.
            max_shrink_time: seconds that shrinking one failure may take.
            progress: called with a ``ProgressSnapshot`` after each run.

        Raises:
            ConfigError: an argument has a wrong type or is out of range.
            Incomplete: the limit was reached, and nothing had failed by then. When something had, a note of the result
                says that it is incomplete.
            GenerationError: an argument of a rule has no end of values; the message names it.
            NonDeterministicGeneration: a run did not go as an earlier one that began alike.
            MachineError: no rule can run, or the machine breaks a rule of Hypothesis.
        """
        scope = Scope(
            test_class=class_path(self.test_class, self._driver.definition.cls),
            depth=_integer("depth", depth, 1, STEPS_MAX),
            limit=_integer("limit", limit, 1, COUNT_MAX),
            faults=faults,
            values=None if values is None else _integer("values", values, 1),
            shrink=shrink,
            max_shrink_time=_number("max_shrink_time", max_shrink_time, 0.0),
            progress=progress,
            corpus_dir=None if self.corpus_dir is None else Path(self.corpus_dir),
            rule_timeout=self.rule_timeout,
        )
        try:
            return SmallScope(scope, self._driver, self.targets).run()
        except InvalidDefinition as error:
            raise MachineError(str(error)) from error


def _integer(name: str, value: object, low: int, high: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{name} is {value!r}, which is not an integer", hint=f"write `{name}={max(low, 1)}`")
    if value < low or (high is not None and value > high):
        allowed = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ConfigError(f"{name} is {value}; it must be {allowed}")
    return value


def _share(name: str, value: object) -> float | None:
    return None if value is None else _number(name, value, 0.0, 1.0)


def _number(name: str, value: object, low: float = -math.inf, high: float = math.inf, *, above: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ConfigError(f"{name} is {value!r}, which is not a number")
    if value < low or value > high or (above and value <= low):
        limits = (
            f"between {low:g} and {high:g}" if math.isfinite(high) else f"{'above' if above else 'at least'} {low:g}"
        )
        raise ConfigError(f"{name} is {value:g}; it must be {limits}")
    return float(value)


def _one_of(name: str, value: object, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}")
    return value
