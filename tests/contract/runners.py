"""Runs a rule machine under Hypothesis or under the Explorer and says the same things about both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast
from unittest import SkipTest

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from ordeal.errors import MachineError
from ordeal.explore import ExplorationResult, Explorer, Tuning

from . import landmarks

type Factory = Callable[[], RuleBasedStateMachine]

RNG_SEED = 2024
TIME_LIMIT_S = 600.0


class Interruption(KeyboardInterrupt):
    """What a check raises in place of Ctrl-C, so that a real one still stops the tests."""


@dataclass(frozen=True)
class Outcome:
    """What one exploration came to. A rejected run is not a failure."""

    failures: tuple[BaseException, ...]
    interrupted: bool = False


class Runner(ABC):
    """One engine. Every check is a statement that must hold whichever engine runs the machine."""

    definition_errors: tuple[type[Exception], ...] = (InvalidDefinition,)

    @abstractmethod
    def explore(self, machine: Factory, *, runs: int, steps: int, branch: bool = True) -> Outcome:
        """Run up to ``runs`` machines of at most ``steps`` steps each and collect the failures.

        A skip propagates. ``branch=False`` makes every run start from a fresh machine, for checks that count machines
        or steps; an engine without checkpoints does nothing else anyway.
        """

    def run(self, machine: Factory, *, runs: int, steps: int, branch: bool = True) -> Outcome:
        """Do as ``explore`` does, and raise the first failure as it was raised in the machine."""
        outcome = self.explore(machine, runs=runs, steps=steps, branch=branch)
        if outcome.failures:
            raise outcome.failures[0]
        return outcome


class HypothesisRunner(Runner):
    """The reference: Hypothesis itself."""

    def explore(self, machine: Factory, *, runs: int, steps: int, branch: bool = True) -> Outcome:
        try:
            # Annotated as a class, documented as any factory.
            run_state_machine_as_test(
                cast("type[RuleBasedStateMachine]", machine), settings=self._settings(runs, steps)
            )
        except Interruption:
            return Outcome(failures=(), interrupted=True)
        except (SkipTest, pytest.skip.Exception, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a machine raises is its failure
            return Outcome(failures=(error,))
        return Outcome(failures=())

    @staticmethod
    def _settings(runs: int, steps: int) -> settings:
        return settings(
            max_examples=runs,
            stateful_step_count=steps,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            deadline=None,
            database=None,
            derandomize=True,
            report_multiple_bugs=False,
        )


class ExplorerRunner(Runner):
    """The Explorer without coverage, with its default share of runs that start from a checkpoint."""

    definition_errors = (InvalidDefinition, MachineError)
    checkpoint_prob = 0.4
    target_modules: tuple[str, ...] = ()
    comparison_tracing: Literal["auto", "off"] = "auto"
    checkpoint_kind: Literal["auto", "copy"] = "auto"

    def explore(self, machine: Factory, *, runs: int, steps: int, branch: bool = True) -> Outcome:
        result = self.result(machine, runs, steps, branch)
        # What an outcome cannot express.
        assert result.stopped_reason != "time", "the machine of a check must not be slow"
        assert result.unconfirmed == 0, f"{result.unconfirmed} failures did not replay: {result.notes}"
        return Outcome(
            failures=tuple(failure.error for failure in result.failures),
            interrupted=result.stopped_reason == "interrupted",
        )

    def result(self, machine: Factory, runs: int, steps: int, branch: bool) -> ExplorationResult:
        """Explore, and give the engine's own result."""
        explorer = Explorer(
            machine,
            target_modules=self.target_modules,
            checkpoint_prob=self.checkpoint_prob if branch else 0.0,
            seed=RNG_SEED,
            tuning=Tuning(comparison_tracing=self.comparison_tracing, checkpoint_kind=self.checkpoint_kind),
        )
        return explorer.run(max_runs=runs, max_time=TIME_LIMIT_S, steps_per_run=steps, shrink=False)


class BranchingRunner(ExplorerRunner):
    """The Explorer with nine runs in ten from a checkpoint: what holds for a fresh machine holds for a restored one."""

    checkpoint_prob = 0.9
    target_modules = (landmarks.__name__,)
    # Its replays would make machines as well, which are counted below.
    comparison_tracing = "off"
    # A near state is otherwise copied only when a run has returned to it.
    checkpoint_kind = "copy"

    def result(self, machine: Factory, runs: int, steps: int, branch: bool) -> ExplorationResult:
        made: list[RuleBasedStateMachine] = []

        def counted() -> RuleBasedStateMachine:
            made.append(machine())
            return made[-1]

        result = super().result(counted, runs, steps, branch)
        assert result.snapshot_kind == "copy", f"the machine of a check can be copied: {result.notes}"
        assert len(made) < runs // 2, (
            f"{len(made)} machines made for {runs} runs: most did not branch from a checkpoint"
        )
        return result
