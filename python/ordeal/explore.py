"""The Explorer: coverage-guided exploration of a rule machine, from Python."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis.errors import InvalidDefinition

from ordeal._base.live_threads import program_threads, threads_text
from ordeal._base.memory_limit import MEBIBYTE, limited_memory
from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.execution.class_path import trust
from ordeal._engine.execution.machine import MachineFactory, class_path, make_driver
from ordeal._engine.execution.settings import Progress, Settings, ShrinkListener
from ordeal._engine.isolation.child import can_supervise
from ordeal._engine.parallel.background_compaction import StoreOptions, spool_folder
from ordeal._engine.parallel.fleet.fleet import FleetOutcome, RunningFleet, fleet_result
from ordeal._engine.parallel.fleet.home import BACK_SECONDS, SHORT_BACK_SECONDS, edges_in, pull, when_back
from ordeal._engine.parallel.fleet.plan import FleetPlan, make_plan
from ordeal._engine.parallel.store_namespace import namespace_of
from ordeal._engine.parallel.supervisor import explore_in_processes, usable_cores
from ordeal._engine.parallel.sync import Sharing
from ordeal._engine.parallel.worker_pool import WorkerOptions
from ordeal._engine.search.bounded import BoundedSearch, Scope
from ordeal._engine.search.exploration import Exploration
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.buggify import DEFAULT_PROBABILITY
from ordeal.config.arguments import checked_arguments
from ordeal.config.options import DEFAULT_SWARM_POLICY, ExplorationOptions, Traces, values_of
from ordeal.errors import ConfigError, MachineError, StoreError
from ordeal.result import ExplorationResult, Failure, ProgressSnapshot
from ordeal.swarm.weights import distribution_of

__all__ = ["ExplorationResult", "Explorer", "Failure", "ProgressSnapshot"]


#: Held by the thread whose runs have faults or targets; an exploration inside a rule is in the same thread.
_of_process = threading.RLock()


class Explorer:
    """Searches a rule machine for failures, guided by the code that its runs reach.

    Runs start from a fresh machine or branch from a checkpoint, a state that reached something new; checkpoints that
    lead to more are chosen more often. The same seed, code and ``max_runs`` give the same runs, byte for byte.

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
        record_traces: keep the traces of all runs that reached new code, or with ``"sample"`` those of one run in
            1,000 and some of the first, as they ran; ``run`` takes it too.
        workers: worker processes, 0 for all cores. With one, runs happen in this process, unless ``isolate`` is set.
        isolate: run also a single worker in a process of its own, as ``ordeal explore`` does: then nothing that a rule
            does can end this process. With ``workers=1`` and without it there is no other process at all.
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
        known: failures that are not to be reported, each by its bucket, its id or a text in its message. The search
            goes past them, and the result counts and names them as ``known``.
        on: where the members of a fleet run: ``local:N``, ``ray://HOST:PORT``, ``dask://HOST:PORT``, ``slurm`` or
            ``kubernetes``. They meet in ``store``, and ``run`` returns one result of all. None explores here alone.
        members: how many there are; 0 for one, or N of ``local:N``.
        image: container image of the members on Kubernetes.
        job_options: options of the job of Slurm or Kubernetes, each ``NAME=VALUE``.
        on_interrupt: what Ctrl-C does to the members: ``stop`` or ``leave``.
        project: what is sent to the members of Ray: ``auto`` sends the current folder, ``none`` nothing; or a folder.
        fleet_name: its name for ``ordeal fleet status``; None makes one from the time.

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
        record_traces: Traces = False,
        workers: int = 0,
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
        known: Sequence[str] | None = None,
        on: str | None = None,
        members: int = 0,
        image: str | None = None,
        job_options: Sequence[str] | None = None,
        on_interrupt: str = "stop",
        project: str = "auto",
        fleet_name: str | None = None,
    ) -> None:
        self.targets = resolve_targets(target_modules if target_modules is not None else [])
        # The signature is for editors and type checkers. The table of options checks the arguments.
        self.options = ExplorationOptions(**checked_arguments("init", locals()))
        self.test_class = test_class
        if inspect.isfunction(test_class):
            trust(test_class)  # traces name it by its class path
        self._driver = make_driver(test_class, self.options.rule_timeout)
        self._driver.buggify_prob = self.options.buggify_prob

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
        shrink_progress: ShrinkListener | None = None,
        record_traces: Traces | None = None,
        save_state_to: str | os.PathLike[str] | None = None,
        resume_from: str | os.PathLike[str] | None = None,
    ) -> ExplorationResult:
        """Explore, then confirm and shrink what failed.

        Exploring continues after a failure; failures with one cause are reported once, with a count. Ctrl-C ends it and
        returns the result so far.

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
        given = checked_arguments("run", locals())
        cls = self._driver.definition.cls
        settings = Settings(
            **values_of(self.options) | given,
            test_class=class_path(self.test_class, cls),
            session_seed=self.options.seed,
            swarm=distribution_of(cls),
            progress=progress,
            shrink_progress=shrink_progress,
        )
        try:
            return self._explored_by_fleet(given, progress) if self.options.on else self._explored(settings)
        except InvalidDefinition as error:
            raise MachineError(str(error)) from error

    def _explored(self, settings: Settings) -> ExplorationResult:
        options = self.options
        self._driver.limits.begin_search(settings.max_time, settings.max_runs)
        workers = options.workers or usable_cores()
        if options.store is not None and not can_supervise():
            raise ConfigError("store is given, and this system does not have what workers need")
        if (workers == 1 and not options.isolate and options.store is None) or not can_supervise():
            with self._alone(), limited_memory(options.max_memory):
                return Exploration(settings, self._driver, self.targets).run()
        if threads := program_threads():
            return self._explored_here(settings, threads)
        worker_options = WorkerOptions(
            workers=workers,
            sharing=Sharing(edges=options.share_edges, checkpoints=options.share_checkpoints),
            memory=options.max_memory * MEBIBYTE,
            store_options=self._store_options(),
        )
        return explore_in_processes(settings, self._driver, self.targets, worker_options)

    def _explored_by_fleet(self, given: dict[str, Any], progress: Progress | None) -> ExplorationResult:
        """Have a fleet explore, and confirm here what it found."""
        plan = make_plan(class_path(self.test_class, self._driver.definition.cls), self.options, given)
        namespace = self._namespace()
        with TemporaryDirectory(prefix="ordeal-fleet-") as folder:
            corpus = SeedCorpus(self.options.corpus_dir or folder)
            seeds = set(map(str, corpus.paths_of(plan.task.test_class)))
            outcome = RunningFleet(plan, progress, corpus=corpus.folder).run()
            wrong, edges = self._brought_home(plan, namespace, corpus, outcome)
            values = values_of(self.options) | dict.fromkeys(("on", "store", "image", "fleet_name"))
            names = inspect.signature(Explorer).parameters.keys() - {"test_class"}
            here = {name: values[name] for name in names} | {"workers": 1, "isolate": True, "corpus_dir": corpus.folder}
            # The seeds are what counts; a search runs at least once.
            result = Explorer(self.test_class, **here).run(**given | {"max_runs": 1}, shrink_progress=None)
        kept = self.options.corpus_dir is not None
        return fleet_result(result, outcome, edges, wrong, kept=kept, seeds=seeds)

    def _brought_home(
        self, plan: FleetPlan, namespace: str, corpus: SeedCorpus, outcome: FleetOutcome
    ) -> tuple[list[str], int]:
        """Save what members found, and return what was refused, and how many edges they reached."""
        seconds = SHORT_BACK_SECONDS if outcome.interrupted else BACK_SECONDS
        try:
            _, wrong = when_back(lambda: pull(plan.store, namespace, plan.task.test_class, corpus), seconds)
            return wrong, when_back(lambda: edges_in(plan.store, namespace), seconds)
        except StoreError as error:
            why = error.message.rstrip(".")
            outcome.notes.append(f"What members found is still in the store: {why}. `ordeal seeds pull` takes it home.")
            return [], 0

    def _explored_here(self, settings: Settings, threads: list[str]) -> ExplorationResult:
        """Explore in this process, because ``threads`` would not survive in forked ones.

        Raises:
            MachineError: it has a store, which needs processes.
        """
        found = f"{threads_text(threads)} of the program would not live on in a forked process"
        if self.options.store is not None:
            hint = "start threads when a machine is made, and end them in its teardown()"
            raise MachineError(f"a store needs processes, and {found}", hint=hint)
        exploration = Exploration(settings, self._driver, self.targets)
        exploration.note(
            f"Explored in this process (one worker, and nothing guards it from what rules do): {found}. It is explored "
            "in processes of its own where threads start when a machine is made, and end in its teardown()."
        )
        with self._alone(), limited_memory(self.options.max_memory):
            return exploration.run()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse a second thread: faults and monitors act on the whole process, and would affect its runs."""
        if not (self._driver.faults or self.targets):
            yield
            return
        if not _of_process.acquire(blocking=False):
            raise ConfigError(
                "another thread of this process explores with faults or target modules, and both are of the process",
                hint="explore one after the other, or give each a process of its own with `isolate=True`",
            )
        try:
            yield
        finally:
            _of_process.release()

    def _store_options(self) -> StoreOptions | None:
        options = self.options
        if options.store is None:
            return None
        return StoreOptions(options.store, self._namespace(), spool_folder())

    def _namespace(self) -> str:
        """Return the namespace of a store in which this exploration shares: the same code, explored in the same way."""
        cls = self._driver.definition.cls
        return namespace_of(cls, self.targets, instrumentation=self.options.coverage)

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
        """Run all rule sequences of up to ``depth`` steps, with all values of their arguments.

        Nothing is random: neither ``seed`` nor coverage matters, and no point of ``buggify`` acts. Shorter sequences
        come before longer ones with the same beginning. Initialize rules come first, in every order, and do not count
        as steps. A failure is confirmed, shrunk and saved as in ``run``.

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
            Incomplete: the limit was reached before anything failed. If something had failed, a note of the result says
                that it is incomplete.
            GenerationError: an argument of a rule has infinitely many values; the message names it.
            NonDeterministicGeneration: a run differed from an earlier one with the same beginning.
            MachineError: no rule can run, or the machine breaks a rule of Hypothesis.
        """
        scope = Scope(
            **checked_arguments("exhaustive", locals()),
            test_class=class_path(self.test_class, self._driver.definition.cls),
            progress=progress,
            corpus_dir=self.options.corpus_dir,
            rule_timeout=self.options.rule_timeout,
            max_memory=self.options.max_memory,
            known=self.options.known,
        )
        try:
            with self._alone(), limited_memory(self.options.max_memory):
                return BoundedSearch(scope, self._driver, self.targets).run()
        except InvalidDefinition as error:
            raise MachineError(str(error)) from error
