"""Swarm weights: what is drawn, how it is picked, what the classes of machines may say, and what pytest makes of it."""

from __future__ import annotations

import copy
import hashlib
import pickle
import random
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, __version__, reproduce_failure, settings
from hypothesis.core import encode_failure
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from ordeal.chaos import ChaosTest
from ordeal.errors import MachineError, OrdealError
from ordeal.explore import Explorer, ProgressSnapshot, Tuning
from ordeal.faults import Fault
from ordeal.model import Pair, op
from ordeal.swarm import OpWeights, SwarmError, op_weights, ops_of
from ordeal.swarm.weights import SwarmOptions, swarm_options_of
from ordeal.trace import lower, replay

from .machines import QUICK, Filling, Seen, fault

OPS = ("put", "get", "drop", "list", "sweep")
#: What chi-squared with so many degrees of freedom exceeds once in a thousand.
CHI_SQUARED = {4: 18.467, 9: 27.877}


def chi_squared(counts: list[int], weights: list[int]) -> float:
    total, drawn = sum(weights), sum(counts)
    means = [drawn * weight / total for weight in weights]
    return sum((count - mean) ** 2 / mean for count, mean in zip(counts, means, strict=True))


class TestDraw:
    def test_the_law_is_that_of_the_core_for_a_seed_and_for_a_generator(self) -> None:
        assert op_weights(7, OPS) == op_weights(7, OPS)
        assert op_weights(random.Random(3), OPS) == op_weights(random.Random(3), OPS)
        assert len({op_weights(seed, OPS) for seed in range(50)}) == 50

    def test_a_generator_gives_one_number_for_the_draw_and_one_for_a_pick(self) -> None:
        rng, same = random.Random(5), random.Random(5)
        weights = op_weights(rng, OPS)
        weights.pick(rng)
        same.random()
        same.random()
        assert rng.getstate() == same.getstate()

    def test_caps_bases_and_always_on(self) -> None:
        for seed in range(300):
            drawn = op_weights(seed, OPS, caps={"put": 5}, always_on={"get"}, weights={"drop": 10}).weights
            assert drawn["put"] <= 5
            assert 1 <= drawn["get"] <= 100
            assert drawn["drop"] % 10 == 0
            assert drawn["list"] <= 100
            assert len([weight for weight in drawn.values() if weight]) >= 2


class TestPick:
    def test_what_is_left_out_is_never_picked(self) -> None:
        rng = random.Random(2)
        weights = OpWeights((("a", 0), ("b", 3), ("c", 0)))
        assert {weights.pick(rng) for _ in range(100)} == {"b"}
        assert weights.kept == ("b",)
        assert weights.left_out == ("a", "c")

    @pytest.mark.parametrize("drawn", [float("nan"), -0.5, 2.0])
    def test_a_generator_that_leaves_its_range_is_refused(self, drawn: float) -> None:
        class Odd:
            def random(self) -> float:
                return drawn

        with pytest.raises(ValueError, match="not from 0 to 1"):
            op_weights(1, OPS).pick(Odd())


class TestValue:
    def test_it_prints_what_it_is(self) -> None:
        weights = OpWeights((("put", 2), ("get", 18), ("drop", 0)))
        assert str(weights) == "get 18, put 2; without drop"
        assert repr(weights) == "OpWeights(get 18, put 2; without drop)"
        assert str(OpWeights((("put", 2),))) == "put 2"

    def test_it_is_frozen_and_may_be_copied(self) -> None:
        weights = op_weights(4, OPS)
        with pytest.raises(AttributeError):
            weights.entries = ()  # type: ignore[misc]
        for same in (copy.deepcopy(weights), pickle.loads(pickle.dumps(weights))):
            assert same == weights
            assert hash(same) == hash(weights)
            assert same.pick(random.Random(1)) == weights.pick(random.Random(1))


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "options", "message"),
        [
            ([], {}, "no operation to pick"),
            (["a", "b", "a"], {}, "'a' is given more than once"),
            (["a", 3], {}, "an operation is named 3"),
            (["a"], {"caps": {"b": 1}}, "caps names 'b', which is not an operation"),
            (["a"], {"caps": {"a": 0}}, "caps has 0 for 'a'"),
            (["a"], {"caps": {"a": True}}, "caps has True for 'a'"),
            (["a"], {"caps": 5}, "caps is 5"),
            (["a"], {"weights": {"a": -1}}, "weights has -1 for 'a'"),
            (["a"], {"weights": {"a": 1001}}, "weights has 1001 for 'a'"),
            (["a"], {"always_on": {"c"}}, "always_on names 'c'"),
            (["a"], {"always_on": "a"}, "always_on is 'a', not a set"),
        ],
    )
    def test_what_cannot_be_drawn_from_is_named(self, arguments: list[Any], options: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message) as raised:
            op_weights(1, arguments, **options)
        assert isinstance(raised.value, OrdealError)
        assert raised.value.hint

    @pytest.mark.parametrize("rng", [-1, 2**64, "seed", None, random.Random])
    def test_what_is_no_generator_is_named(self, rng: Any) -> None:
        with pytest.raises(SwarmError):
            op_weights(rng, OPS)

    @pytest.mark.parametrize("entries", [(("a", -1),), (("a", 1.5),), (("a", 2**40),), (("a",),), ("a",), "a", 3])
    def test_weights_are_names_with_numbers(self, entries: Any) -> None:
        with pytest.raises(SwarmError, match="has the weight") as raised:
            OpWeights(entries)
        assert raised.value.hint


class Base(ChaosTest):
    faults: ClassVar[list[Fault]] = [fault("one"), fault("two")]

    @initialize()
    def begin(self) -> None: ...

    @rule()
    def second(self) -> None: ...

    @rule()
    def first(self) -> None: ...

    def no_rule(self) -> None: ...


class Derived(Base):
    @rule()
    def third(self) -> None: ...

    second = None  # type: ignore[assignment]


class TestOpsOf:
    def test_it_names_the_rules_as_they_were_written(self) -> None:
        assert ops_of(Base) == ["second", "first"]
        assert ops_of(Derived) == ["first", "third"]
        assert ops_of(Base, exclude={"first"}) == ["second"]
        assert ops_of(object) == []

    def test_what_it_is_to_leave_out_must_be_there(self) -> None:
        with pytest.raises(SwarmError, match="exclude names 'begin'"):
            ops_of(Base, exclude=["begin"])


class TestDefinition:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ({"swarm": "size"}, "swarm is 'size', which is not a swarm distribution"),
            ({"swarm": 1}, "swarm is 1"),
            ({"weight_caps": {"nothing": 5}}, "weight_caps names 'nothing'"),
            ({"weight_caps": {"first": 0}}, "weight_caps has 0 for 'first'"),
            ({"always_on": {"begin"}}, "always_on names 'begin'"),
            ({"always_on": "first"}, "always_on is 'first'"),
            ({"weights": {"first": 0}}, "weights has 0"),
            ({"weights": {"_nemesis": 2}}, "weights names '_nemesis'"),
        ],
    )
    def test_a_class_that_says_something_else_is_refused(self, body: dict[str, Any], message: str) -> None:
        with pytest.raises(MachineError, match=message) as raised:
            type("Wrong", (Base,), body)
        assert raised.value.hint

    @pytest.mark.parametrize(
        ("swarm", "law"), [(True, "coins"), (False, "off"), ("coins", "coins"), ("sizes", "sizes")]
    )
    def test_a_class_names_its_law(self, swarm: Any, law: str) -> None:
        assert swarm_options_of(type("Named", (Base,), {"swarm": swarm})).distribution == law

    def test_an_operation_of_a_pair_has_a_weight(self) -> None:
        class Both(Pair):
            impl, model = list, list

            @op(weight=3)
            def clear(self) -> None: ...

            @op()
            def copy(self) -> None: ...

        class Other(Both):
            weights: ClassVar[Mapping[str, int]] = {"clear": 7}

        assert swarm_options_of(Both).bases == {"clear": 3, "copy": 1}
        assert swarm_options_of(Other).bases == {"clear": 7, "copy": 1}


class TestDecisions:
    """The law as it is drawn from single decisions, for Hypothesis."""

    def test_another_law_leaves_out_rules_as_hypothesis_does_and_never_all(self) -> None:
        rng = random.Random(7)
        options = SwarmOptions("off", ("a", "b", "c"), {"b": 5}, {}, frozenset({"c"}))
        drawn = [options.draw(lambda p: rng.random() < p, ["d"]) for _ in range(300)]
        assert {weights.kept for weights in drawn} >= {("a", "b", "c", "d"), ("b", "c", "d"), ("a", "c", "d")}
        assert all(weights.weights["b"] in (0, 5) and weights.weights["c"] == 1 for weights in drawn)


class TestExplorer:
    @pytest.mark.parametrize("isolate", [False, True])
    def test_the_failure_and_its_trace_keep_the_weights(self, isolate: bool) -> None:
        failure = Explorer(Filling, seed=1, isolate=isolate).run(max_runs=2000, max_time=600.0).failures[0]
        assert failure.trace is not None
        first, *steps = failure.trace.steps
        assert first.kind == "rule_swarm"
        assert set(first.params["weights"]) == {"put", "drain", "sell"}
        assert failure.weights == first.params["weights"]
        # What was left out costs a trace nothing: it names the rules that it takes.
        assert [step.name for step in steps] == ["put"] * 13

    def test_base_weights_hold_in_every_run(self) -> None:
        class Weighed(Seen):
            runs: ClassVar[list[Counter[str]]] = []
            swarm: ClassVar[bool | str] = False
            weights: ClassVar[Mapping[str, int]] = {"b": 8}

        Explorer(Weighed, checkpoint_prob=0.0, tuning=Tuning(swarm_policy="classic")).run(max_runs=200, max_time=600.0)
        counts = sum(Weighed.runs, Counter[str]())
        assert chi_squared([counts[name] for name in "abc"], [1, 8, 1]) < CHI_SQUARED[4]

    def test_a_failure_happens_under_hypothesis_alike(self) -> None:
        class Logged(Filling):
            logs: ClassVar[list[list[str]]] = []

            def __init__(self) -> None:
                super().__init__()
                self.logs.append([])

            @rule()
            def note(self) -> None:
                self.logs[-1].append("note")

            @rule()
            def drain(self) -> None:
                self.logs[-1].append("drain")
                super().drain()

            @rule()
            def put(self) -> None:
                self.logs[-1].append(f"put with {[fault.name for fault in self.active_faults]}")
                super().put()

        def stop(now: ProgressSnapshot) -> None:
            # A later failure would be shorter, and have only the rule that fails.
            if now.failures:
                raise KeyboardInterrupt

        explorer = Explorer(Logged, seed=1, workers=1)
        failure = explorer.run(max_runs=3000, max_time=600.0, shrink=False, progress=stop).failures[0]
        assert failure.trace is not None
        replay(failure.trace, Logged)
        logged = Logged.logs[-1]
        blob = encode_failure(lower(failure.trace, Logged))
        with pytest.raises(AssertionError, match="full"):
            run_state_machine_as_test(reproduce_failure(__version__, blob)(Logged), settings=settings(database=None))
        assert Logged.logs[-1] == logged
        assert len(set(logged)) > 2

    def test_it_goes_on_after_a_break_as_it_would_have_without(self, tmp_path: Path) -> None:
        def explored(runs: int, **files: Any) -> tuple[Any, ...]:
            result = Explorer(Filling, seed=9).run(max_runs=runs, max_time=600.0, shrink=False, **files)
            failures = [(failure.run_id, failure.rule_log, failure.count) for failure in result.failures]
            return result.total_steps, result.checkpoints_saved, failures

        whole = explored(900)
        assert whole[2]
        explored(100, save_state_to=tmp_path / "state")
        assert explored(900, resume_from=tmp_path / "state") == whole


class Plain(ChaosTest):
    names: ClassVar[list[str]] = []
    faults: ClassVar[list[Fault]] = [fault("one"), fault("two")]

    @rule()
    def a(self) -> None:
        self.names.append("a" + "".join(fault.name[0] for fault in self.active_faults))

    @rule()
    def b(self) -> None:
        self.names.append("b" + "".join(fault.name[0] for fault in self.active_faults))


class Coins(Plain):
    swarm: ClassVar[bool | str] = True


@pytest.mark.parametrize(
    ("cls", "rule_swarm", "digest"),
    [
        (Plain, False, "f305d29a3fe3060a"),
        (Plain, True, "cade8f32a98052d4"),
        (Coins, False, "3ea93f1d6f2d7644"),
    ],
)
def test_what_a_seed_explores_without_weights_is_pinned(cls: type[Plain], rule_swarm: bool, digest: str) -> None:
    Plain.names.clear()
    explorer = Explorer(cls, seed=3, rule_swarm=rule_swarm, tuning=Tuning(swarm_policy="classic"))
    explorer.run(max_runs=50, max_time=600.0, steps_per_run=20)
    assert hashlib.sha256(" ".join(Plain.names).encode()).hexdigest()[:16] == digest


class TestPytest:
    def test_it_finds_what_needs_weights_and_opens_the_swarm(self) -> None:
        with pytest.raises(AssertionError, match="full") as raised:
            run_state_machine_as_test(Filling, settings=settings(QUICK, max_examples=500))
        said = "\n".join(raised.value.__notes__)
        assert "(weights of this run): OpWeights(put 1, drain 1, sell 1, _nemesis 1)" in said
        assert all(name in said for name in ("(faults of this run): ['one',", "'two'", "'three'"))
        assert said.count("state.put()") == 13
        assert "state.drain()" not in said

    @pytest.mark.parametrize("swarm", [False, True, "hypothesis"])
    def test_rules_come_by_their_weights(self, swarm: Any) -> None:
        class Weighed(Seen):
            runs: ClassVar[list[Counter[str]]] = []
            weights: ClassVar[Mapping[str, int]] = {"b": 8}
            always_on: ClassVar[Collection[str]] = {"a", "b", "c"}

        Weighed.swarm = swarm
        run_state_machine_as_test(Weighed, settings=settings(QUICK, phases=[Phase.generate]))
        counts = sum(Weighed.runs, Counter[str]())
        # Near to 8 of 10: Hypothesis repeats parts of earlier runs too, and tries simple ones.
        assert counts["b"] > 0.5 * counts.total()
        assert min(counts.values()) > 0.04 * counts.total()

    @pytest.mark.nightly
    def test_subsets_of_all_sizes_come(self) -> None:
        Seen.runs.clear()
        many = settings(QUICK, max_examples=300, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
        run_state_machine_as_test(Seen, settings=many)
        alone = sum(len(run) == 1 for run in Seen.runs if run)
        assert 0.1 * len(Seen.runs) < alone < 0.55 * len(Seen.runs)
        assert sum(len(run) == 3 for run in Seen.runs) > 0.1 * len(Seen.runs)
