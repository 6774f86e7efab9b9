"""The Explorer refuses what it cannot use where it is written, and hands everything else to the engine."""

from __future__ import annotations

import importlib
import math
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

from ordeal._base.live_threads import has_gil
from ordeal.chaos import ChaosTest
from ordeal.errors import ConfigError, InfiniteStrategyError, OrdealError
from ordeal.explore import Explorer, Fleet, Tuning
from ordeal.faults import Fault, LambdaFault
from ordeal.result import ProgressSnapshot

from .samples.traced import Counter


class Quiet(RuleBasedStateMachine):
    """Never fails."""

    @rule(flag=st.booleans())
    def act(self, flag: bool) -> None: ...


@pytest.mark.parametrize(
    ("call", "options", "message"),
    [
        ("made", {"seed": "1"}, "seed is '1'; it must be a whole number"),
        ("made", {"seed": True}, "seed is True; it must be a whole number"),
        ("made", {"seed": -1}, "seed is -1; it must be a "),
        ("made", {"workers": 1.0}, "workers is 1.0; it must be a whole number"),
        ("made", {"workers": -1}, "workers is -1; it must be a "),
        ("made", {"max_checkpoints": -1}, "max_checkpoints is -1; it must be a "),
        ("made", {"max_memory": -1}, "max_memory is -1; it must be a "),
        ("made", {"checkpoint_prob": 1.5}, "checkpoint_prob is 1.5; it must be a "),
        ("made", {"fault_toggle_prob": "often"}, "fault_toggle_prob is 'often'; it must be a number"),
        ("made", {"fault_toggle_prob": math.nan}, "fault_toggle_prob is nan; it must be a number"),
        ("made", {"buggify_prob": None}, "buggify_prob is None; it must be a number"),
        ("made", {"rule_timeout": "long"}, "rule_timeout is 'long'; it must be a number"),
        (
            "made",
            {"checkpoint_strategy": "best"},
            "checkpoint_strategy is 'best'; it must be one of energy, uniform, recent",
        ),
        ("made", {"tuning": Tuning(value_reuse_prob=-0.1)}, "value_reuse_prob is -0.1; it must be a "),
        ("made", {"tuning": Tuning(seed_mutation_prob=2)}, "seed_mutation_prob is 2; it must be a "),
        ("made", {"on": Fleet("slurm", members=-1)}, "members is -1; it must be a "),
        ("made", {"on": "moon"}, "on is 'moon'; it must be `local:N`"),
        ("run", {"max_runs": 0}, "max_runs is 0; it must be a "),
        ("run", {"max_runs": 2.5}, "max_runs is 2.5; it must be a whole number"),
        ("run", {"max_time": 0}, "max_time is 0; it must be a "),
        ("run", {"max_time": math.nan}, "max_time is nan; it must be a number"),
        ("run", {"steps_per_run": 0}, "steps_per_run is 0; it must be a "),
        ("run", {"patience": -1}, "patience is -1; it must be a "),
        ("run", {"max_shrink_time": -1}, "max_shrink_time is -1; it must be a "),
        ("exhaustive", {"depth": 0}, "depth is 0; it must be a "),
        ("exhaustive", {"limit": 0}, "limit is 0; it must be a "),
        ("exhaustive", {"values": 0}, "values is 0; it must be a "),
        ("exhaustive", {"depth": "3"}, "depth is '3'; it must be a whole number"),
    ],
)
def test_wrong_options_are_named_with_what_they_may_be(call: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Explorer(Quiet, **options) if call == "made" else getattr(Explorer(Quiet), call)(**options)
    assert caught.value.message.startswith(message)


def test_the_hint_is_a_value_that_is_taken() -> None:
    with pytest.raises(ConfigError) as caught:
        Explorer(Quiet).run(steps_per_run="many")  # type: ignore[arg-type]
    assert caught.value.hint == "write a whole number from 1 to 10000, for example `steps_per_run=50`"


def test_attributes_of_a_plain_machine_are_its_own_whatever_their_names() -> None:
    class Plain(RuleBasedStateMachine):
        swarm, faults, rule_timeout, always_on, weight_caps, world, simulated = 12, 7, None, 5, "ha", "x", 3
        weights: Bundle[int] = Bundle("weights")

        @rule(target=weights)
        def weigh(self) -> int:
            return 1

        @rule(weight=weights)
        def use(self, weight: int) -> None:
            assert not weight

    assert len(Explorer(Plain).run(max_runs=20).failures) == 1


def test_a_run_ends_after_its_runs_and_its_steps() -> None:
    told: list[ProgressSnapshot] = []
    result = Explorer(Quiet, seed=7).run(max_runs=30, steps_per_run=4, progress=told.append)
    assert (result.total_runs, result.stopped_reason, result.rng_seed) == (30, "max_runs", 7)
    assert 30 <= result.total_steps <= 120
    assert len(told) == 30
    assert result.test_class == f"{__name__}:Quiet"


def test_a_seed_decides_what_is_found() -> None:
    results = [Explorer(Counter, seed=seed).run(max_runs=40, shrink=False) for seed in (1, 1, 2)]
    logs = [[failure.rule_log for failure in result.failures] for result in results]
    assert logs[0] == logs[1]
    assert logs[0]
    assert results[0].total_steps != results[2].total_steps


def test_other_bytes_on_the_same_path_are_not_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "echoed_bytes.py").write_text("def echo(data):\n    return data\n")
    program = importlib.import_module("echoed_bytes")

    class Echo(RuleBasedStateMachine):
        @rule(data=st.binary(min_size=4))
        def send(self, data: bytes) -> None:
            assert program.echo(data) == data

    result = Explorer(Echo, target_modules=["echoed_bytes"]).run(max_runs=200, record_traces=True)
    assert result.total_steps > 200
    assert result.unique_edges <= 2
    assert len(result.traces) == 1


def test_a_duration_is_measured_and_not_made_up() -> None:
    since = time.monotonic()
    result = Explorer(Quiet).run(max_runs=20)
    assert 0 < result.duration_seconds <= time.monotonic() - since


def test_patience_ends_what_brings_nothing_new() -> None:
    result = Explorer(Quiet).run(max_runs=500, patience=20)
    assert result.stopped_reason == "patience"
    assert result.total_runs < 500


def test_an_option_of_a_run_outweighs_that_of_the_explorer() -> None:
    explorer = Explorer(Counter, record_traces=True)
    assert explorer.run(max_runs=5, record_traces=False).traces == []


def test_all_sequences_of_a_small_scope_are_run() -> None:
    result = Explorer(Quiet).exhaustive(depth=2)
    assert result.stopped_reason == "exhausted"
    assert result.total_runs == 1 + 2 + 4, "the shorter ones too"
    assert any(note.startswith("All 7 rule sequences of up to 2 steps were run") for note in result.notes)


def test_a_scope_without_an_end_names_the_argument() -> None:
    class Endless(RuleBasedStateMachine):
        @rule(number=st.integers())
        def act(self, number: int) -> None: ...

    with pytest.raises(OrdealError, match="number") as caught:
        Explorer(Endless).exhaustive(depth=1)
    assert isinstance(caught.value, InfiniteStrategyError)
    assert Explorer(Endless).exhaustive(depth=1, values=3).total_runs == 1 + 3


# -- two threads ---------------------------------------------------------------------------------------------------


class Waiting(ChaosTest):
    """Lets another thread try while it runs."""

    faults: ClassVar[list[Fault]] = [LambdaFault("nothing", lambda: None, lambda: None)]
    begun, tried = threading.Event(), threading.Event()

    @rule()
    def wait(self) -> None:
        Waiting.begun.set()
        Waiting.tried.wait(30)


class Faulty(ChaosTest):
    faults: ClassVar[list[Fault]] = [LambdaFault("nothing", lambda: None, lambda: None)]

    @rule()
    def pay(self) -> None:
        pass


def test_a_second_thread_with_faults_or_targets_is_refused_and_a_plain_one_runs() -> None:
    thread = threading.Thread(target=lambda: Explorer(Waiting).run(max_runs=3))
    thread.start()
    try:
        assert Waiting.begun.wait(30)
        with pytest.raises(ConfigError, match="another thread of this process explores") as caught:
            Explorer(Faulty).run(max_runs=1)
        assert caught.value.hint is not None
        assert "isolate=True" in caught.value.hint
        with pytest.raises(ConfigError, match="another thread of this process explores"):
            Explorer(Faulty).exhaustive(depth=1)
        with pytest.raises(ConfigError, match="another thread of this process explores"):
            Explorer(Quiet, target_modules=[__name__]).run(max_runs=1)
        if has_gil():
            assert Explorer(Quiet).run(max_runs=1).total_runs == 1
        else:
            with pytest.raises(ConfigError, match="another thread of this process explores"):
                Explorer(Quiet).run(max_runs=1)
    finally:
        Waiting.tried.set()
        thread.join()
    assert Explorer(Faulty).run(max_runs=1).total_runs == 1


def test_an_exploration_inside_of_a_rule_is_of_the_same_thread() -> None:
    class Outer(Faulty):
        @rule()
        def explore(self) -> None:
            Explorer(Faulty).run(max_runs=1)

    assert Explorer(Outer).run(max_runs=2).failures == []
