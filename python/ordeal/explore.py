"""The Explorer: coverage-guided exploration of a rule machine, from Python."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis.errors import InvalidDefinition

from ordeal._base.interpreter import usable_cpus
from ordeal._base.limits import ANSWER_SECONDS, MEBIBYTE
from ordeal._base.live_threads import has_gil, program_threads, threads_text
from ordeal._base.memory_limit import limited_memory
from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.execution.class_path import trust
from ordeal._engine.execution.machine import MachineFactory, class_path, make_driver
from ordeal._engine.execution.settings import Progress, Settings, ShrinkListener
from ordeal._engine.isolation.child import can_supervise
from ordeal._engine.search.exploration import Exploration
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.buggify import DEFAULT_PROBABILITY
from ordeal.config.options import ExhaustiveOptions, ExplorationOptions, Fleet, Traces, Tuning
from ordeal.config.table import values_of
from ordeal.errors import ConfigError, MachineError, StoreError
from ordeal.result import ExplorationResult, Failure, ProgressSnapshot
from ordeal.swarm.weights import distribution_of

if TYPE_CHECKING:
    pass

__all__ = ["ExplorationResult", "Explorer", "Failure", "Fleet", "ProgressSnapshot", "Tuning"]


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
        max_checkpoints: how many checkpoints all workers keep together; 0 for none.
        checkpoint_prob: share of the runs that branch from a checkpoint. None means 0.4, or what the adaptive policy
            finds best.
        checkpoint_strategy: how one is chosen: ``energy``, ``uniform`` or ``recent``.
        fault_toggle_prob: share of the steps that switch a fault.
        record_traces: keep the traces of all runs that reached new code, or with ``"sample"`` those of one run in
            1,000 and some of the first, as they ran; ``run`` takes it too.
        workers: worker processes, 0 for all cores. With one, runs happen in this process, unless ``isolate`` is set.
        isolate: run also a single worker in a separate process, as ``ordeal explore`` does: then nothing that a rule
            does can end this process. With ``workers=1`` and without it no other process starts.
        store: where it exchanges discoveries with other processes and hosts: ``dir://PATH`` or ``redis://HOST/DB``.
        share_edges, share_checkpoints: whether workers receive the edges that others have reached, and the tapes that
        lead to new states.
        max_memory: memory that a worker may use, in MiB, before Python raises MemoryError in it; 0 for no limit.
        corpus_dir: folder of saved failing traces, the seeds; None for none. Those of the class are replayed before
            the first run, and the ones that fail are failures of the result. Failures that fail each time are saved
            there when they are shrunk, a file each, named by what happens: the same failure is the same file.
        rule_swarm: draw for each run which rules and faults are on (Groce et al., "Swarm Testing", ISSTA 2012). None
            means not to, or what the adaptive policy finds best where the class names no
            swarm distribution.
        rule_timeout: seconds that a rule may take, 0 or less for no limit; None takes the machine's own
            ``rule_timeout``, or 30 s.
        buggify_prob: probability that a point of buggify acts, unless the program gives another; with 0 none acts. What
        a trace or a seed recorded is replayed in any case.
        known: failures that are not to be reported, each by its bucket, its id or a text in its message. The search
            goes past them, and the result counts and names them as ``known``.
        on: the ``Fleet`` of members that explore, or where they run, such as ``local:4``. They meet in ``store``, and
            ``run`` returns one result of all. None explores here alone.
        tuning: finer settings of the search, a ``Tuning``; None for its defaults.

    Raises:
        ConfigError: an argument has a wrong type or is out of range.
        TargetError: a target module cannot be imported or has no Python source.
        MachineError: the class is not a rule machine, or has no rules.
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
        fault_toggle_prob: float = 0.3,
        record_traces: Traces = False,
        workers: int = 0,
        isolate: bool = False,
        max_memory: int = 0,
        store: str | None = None,
        share_edges: bool = True,
        share_checkpoints: bool = True,
        corpus_dir: str | os.PathLike[str] | None = None,
        rule_swarm: bool | None = None,
        rule_timeout: float | None = None,
        buggify_prob: float = DEFAULT_PROBABILITY,
        known: Sequence[str] | None = None,
        on: Fleet | str | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        fleet = on if isinstance(on, Fleet) else Fleet(on)
        options = ExplorationOptions().with_arguments(
            **values_of(tuning or Tuning()),
            **values_of(fleet),
            target_modules=() if target_modules is None else target_modules,
            seed=seed,
            max_checkpoints=max_checkpoints,
            checkpoint_prob=checkpoint_prob,
            checkpoint_strategy=checkpoint_strategy,
            fault_toggle_prob=fault_toggle_prob,
            record_traces=record_traces,
            workers=workers,
            isolate=isolate,
            max_memory=max_memory,
            store=store,
            share_edges=share_edges,
            share_checkpoints=share_checkpoints,
            corpus_dir=corpus_dir,
            rule_swarm=rule_swarm,
            rule_timeout=rule_timeout,
            buggify_prob=buggify_prob,
            known=() if known is None else known,
        )
        self._begin(test_class, options)

    @classmethod
    def of(cls, test_class: MachineFactory, options: ExplorationOptions) -> Explorer:
        """Return an Explorer with options that have been checked; ``explore`` runs with them."""
        made = cls.__new__(cls)
        made._begin(test_class, options)
        return made

    def _begin(self, test_class: MachineFactory, options: ExplorationOptions) -> None:
        self.targets = resolve_targets(options.target_modules)
        self.options = options
        self.test_class = test_class
        if inspect.isfunction(test_class):
            trust(test_class)  # traces name it by its class path
        self._driver = make_driver(test_class, options.rule_timeout)
        self._driver.buggify_prob = options.buggify_prob

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
            steps_per_run: each run draws its length from 1 to this, with the steps that led to its checkpoint.
            shrink: whether to make failing traces minimal.
            max_shrink_time: seconds that shrinking one failure may take. Without ``max_runs``, all of them take at most
                half of ``max_time``.
            confirm_fresh: whether to replay each failure once in a fresh process; one that does not fail there counts
                as flaky. ``ordeal explore`` does so. It is off here, since that process imports the class again: it
                knows nothing of what a test or a notebook has prepared. What cannot be imported is left as it is.
            patience: end after this many runs in a row that showed nothing new; 0 for never.
            progress: called with a ``ProgressSnapshot`` after each run.
            shrink_progress: called with a ``ShrinkSnapshot`` after each trace that shrinking tries.
            record_traces: overrides the Explorer's own setting.
            save_state_to: file that what is known is saved to, every 30 s and at the end. A note of the result says if
            that failed.
            resume_from: such a file. The exploration goes on as if it had not stopped: ``max_runs`` counts the runs
                before as well, ``max_time`` does not.

        Raises:
            ConfigError: an argument has a wrong type or is out of range.
            StateError: the state cannot be saved where it should be, or cannot be resumed.
            MachineError: no rule can run in a state that was reached, or the machine breaks a rule of Hypothesis.
        """
        options = self.options.with_arguments(
            max_time=max_time,
            max_runs=max_runs,
            steps_per_run=steps_per_run,
            shrink=shrink,
            max_shrink_time=max_shrink_time,
            confirm_fresh=confirm_fresh,
            patience=patience,
            record_traces=self.options.record_traces if record_traces is None else record_traces,
            save_state_to=save_state_to,
            resume_from=resume_from,
        )
        return self._run(options, progress, shrink_progress)

    def explore(
        self, progress: Progress | None = None, shrink_progress: ShrinkListener | None = None
    ) -> ExplorationResult:
        """Explore as ``options`` say; ``progress`` and ``shrink_progress`` are as for ``run``."""
        return self._run(self.options, progress, shrink_progress)

    def _run(
        self, options: ExplorationOptions, progress: Progress | None, shrink_progress: ShrinkListener | None
    ) -> ExplorationResult:
        cls = self._driver.definition.cls
        settings = Settings(
            **values_of(options),
            test_class=class_path(self.test_class, cls),
            session_seed=options.seed,
            swarm=distribution_of(cls),
            progress=progress,
            shrink_progress=shrink_progress,
        )
        try:
            return self._explored_by_fleet(options, progress) if options.on else self._explored(settings)
        except InvalidDefinition as error:
            raise MachineError(str(error)) from error

    def _explored(self, settings: Settings) -> ExplorationResult:
        options = self.options
        self._driver.limits.begin_search(settings.max_time, settings.max_runs)
        workers = options.workers or usable_cpus()
        if options.store is not None and not can_supervise():
            raise ConfigError("a store needs processes, which are forked on Linux only", hint="use Linux 5.3 or newer")
        is_here = workers == 1 and not options.isolate and options.store is None
        why_here = hint = ""
        if not is_here and not can_supervise():
            why_here, hint = "processes are forked on Linux only", "use Linux 5.3 or newer"
        elif not is_here and (threads := program_threads()):
            why_here = f"{threads_text(threads)} of the program would not live on in a forked process"
            hint = "start threads when a machine is made, and end them in its teardown()"
            if options.store is not None:
                raise MachineError(f"a store needs processes, and {why_here}", hint=hint)
        if is_here or why_here:
            with self._alone(), limited_memory(options.max_memory):
                exploration = Exploration(settings, self._driver, self.targets)
                if why_here:
                    exploration.note(
                        f"Explored in this process, with one worker and no protection from what rules do: {why_here}. "
                        f"To explore in separate processes, {hint}."
                    )
                return exploration.run()
        from ordeal._engine.parallel.supervisor import explore_in_processes
        from ordeal._engine.parallel.sync import Sharing
        from ordeal._engine.parallel.worker_pool import WorkerOptions

        store_options = None
        if options.store is not None:
            from ordeal._engine.parallel.store_client import StoreOptions

            store_options = StoreOptions(options.store, self._namespace())
        worker_options = WorkerOptions(
            workers=workers,
            sharing=Sharing(edges=options.share_edges, checkpoints=options.share_checkpoints),
            memory=options.max_memory * MEBIBYTE,
            store_options=store_options,
        )
        return explore_in_processes(settings, self._driver, self.targets, worker_options)

    def _explored_by_fleet(self, options: ExplorationOptions, progress: Progress | None) -> ExplorationResult:
        """Have a fleet explore, and confirm here what it found."""
        from ordeal._engine.parallel.fleet.board import when_back
        from ordeal._engine.parallel.fleet.fleet import RunningFleet, fleet_result
        from ordeal._engine.parallel.fleet.home import BACK_SECONDS, brought_home
        from ordeal._engine.parallel.fleet.plan import make_plan
        from ordeal._engine.parallel.store_client import digest_of

        plan = make_plan(class_path(self.test_class, self._driver.definition.cls), options)
        namespace = self._namespace()
        with TemporaryDirectory(prefix="ordeal-fleet-") as folder:
            corpus = SeedCorpus(options.corpus_dir or folder)
            seeds = set(map(str, corpus.paths_of(plan.task.test_class)))
            outcome = RunningFleet(plan, progress, code=digest_of(namespace)).run()
            bring = partial(brought_home, plan.store, namespace, plan.task.test_class, corpus)
            wrong, edges = list[str](), 0
            try:
                wrong, edges = when_back(bring, ANSWER_SECONDS if outcome.interrupted else BACK_SECONDS)
            except StoreError as error:
                why = f"What members found is still in the store: {error.message.rstrip('.')}."
                outcome.notes.append(f"{why} `ordeal seeds pull` takes it home.")
            # The seeds are what counts; a search runs at least once.
            here = options.replaced(on=None, store=None, workers=1, isolate=True, corpus_dir=corpus.folder, max_runs=1)
            result = Explorer.of(self.test_class, here).explore(progress)
        kept = self.options.corpus_dir is not None
        return fleet_result(result, outcome, edges, wrong, kept=kept, seeds=seeds)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse a second thread: faults and monitors act on the whole process, and would affect its runs.

        Without a GIL, machines of two threads would run at once in a core that is made for one at a time.
        """
        if not (self._driver.faults or self.targets) and has_gil():
            yield
            return
        if not _of_process.acquire(blocking=False):
            raise ConfigError(
                "another thread of this process explores already, and both would share faults and target modules",
                hint="explore one after the other, or give each a separate process with `isolate=True`",
            )
        try:
            yield
        finally:
            _of_process.release()

    def _namespace(self) -> str:
        """Return the namespace of a store in which this exploration shares: the same code, explored in the same way."""
        from ordeal._engine.parallel.store_client import namespace_of

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
        options = ExhaustiveOptions().with_arguments(
            depth=depth,
            limit=limit,
            faults=faults,
            values=values,
            shrink=shrink,
            max_shrink_time=max_shrink_time,
        )
        from ordeal._engine.execution.settings import Scope
        from ordeal._engine.search.bounded import BoundedSearch

        scope = Scope(
            **values_of(options),
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
