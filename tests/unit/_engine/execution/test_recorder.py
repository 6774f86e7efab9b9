"""What a person reads of a run: steps, arguments, draws, results, and the program they make."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, multiple, rule

from ordeal import ChaosTest
from ordeal._engine.execution.recorder import RunRecorder, render
from ordeal._engine.replay.loading import load_for_replay
from ordeal.explore import Explorer
from ordeal.trace import Trace, TraceStep, replay

from ...samples.traced import Everything


def recorded(machine: type[RuleBasedStateMachine], *steps: TraceStep) -> RunRecorder:
    loaded = load_for_replay(Trace(1, 42, "x:Y", steps=list(steps)), machine)
    recorder = RunRecorder()
    loaded.replayer.run(loaded.tape, recorder)
    recorder.finished_steps(loaded.tape, loaded.driver.definition)
    return recorder


def test_a_collection_that_holds_itself_is_shown_once_and_at_once() -> None:
    ring: list[Any] = [[number] for number in range(40)]
    for number, node in enumerate(ring):
        node += [ring[number - 1], {"next": ring[(number + 1) % 40]}]
    since = time.process_time()
    text = render(ring[0])
    assert time.process_time() - since < 0.1
    assert text.startswith("[0, [39, [38, ")
    loop: list[Any] = [1]
    loop.append((loop, {"it": loop}))
    assert render(loop) == "[1, ([...], {'it': [...]})]"
    assert render([[2], [2]]) == "[[2], [2]]"
    shared = [3]
    assert render([shared, shared]) == "[[3], [3]]"


def test_the_program_names_results_and_shows_draws() -> None:
    recorder = recorded(
        Everything,
        TraceStep("initialize", "first"),
        TraceStep("rule", "make", choices={"count": [2]}),
        TraceStep("rule", "make", choices={"count": [0]}),
        TraceStep("rule", "ask", choices={"words": [False], "(body)": [3, 1]}),
        TraceStep("rule", "spend", choices={"x": [0], "y": [1]}),
    )
    assert recorder.finished_program() == [
        "from ordeal.trace import drawn",
        "state = Everything()",
        "a_0 = state.first()",
        "a_1, a_2 = b_0, b_1 = state.make(count=2)",
        "state.make(count=0)",
        "state.ask(words=frozenset(), **drawn(state, 'ask', {'data': [], '(body)': [3, 1]}))  # draws: 3, 'y'",
        "state.spend(x=a_2, y=b_0)",
        "state.teardown()",
    ]
    assert [step.result for step in recorder.steps] == ["a_0 = 7", "a_1 = b_0 = 0, a_2 = b_1 = 1", "", "", ""]
    assert recorder.steps[3].draws == ["3", "'y'"]


def test_the_program_of_a_machine_that_cannot_be_made_ends_there() -> None:
    recorder = RunRecorder()
    recorder.making(RuleBasedStateMachine)
    assert recorder.finished_program() == ["state = RuleBasedStateMachine()"]


class Loud:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b", "a"}, "{'a', 'b'}"),
        (frozenset({2, 1}), "frozenset({1, 2})"),
        ([{"y", "x"}, (1,), {"k": {3, 2}}], "[{'x', 'y'}, (1,), {'k': {2, 3}}]"),
        (" at 0x7f00", "' at 0x7f00'"),
        (Loud(), "<Loud whose repr raises RuntimeError>"),
        ([Loud()], "<list whose repr raises RuntimeError>"),
        (10**5000, "<int whose repr raises ValueError>"),
        ("x" * 5_000, "'" + "x" * 1_999 + "..."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_text_of_values(value: Any, text: str) -> None:
    assert render(value) == text


def test_text_is_the_same_in_every_process() -> None:
    script = "from ordeal._engine.execution.recorder import render; print(render({str(i) for i in range(40)}))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.forks)], ids=["here", "apart"])
@pytest.mark.parametrize("ends", [False, True], ids=["raises", "ends"])
def test_the_names_of_a_program_are_valid_python(isolate: bool, ends: bool) -> None:
    class Odd(RuleBasedStateMachine):
        jars: Bundle[int] = Bundle("my jars")
        lids: Bundle[int] = Bundle("class")
        rest: Bundle[int] = Bundle("1st")

        @rule(targets=(jars, lids, rest), size=st.integers(0, 9))
        def make(self, size: int) -> Any:
            return multiple(size, size)

        @rule(jar=jars, lid=lids, other=rest)
        def use(self, jar: int, lid: int, other: int) -> None:
            if jar + lid + other > 6:
                if ends and isolate:
                    os._exit(3)
                raise ValueError(jar)

    (failure,) = Explorer(Odd, seed=3, workers=1, isolate=isolate).run(max_runs=60, shrink=False).failures
    assert "my_jars_0, my_jars_1 = class_0, class_1 = _1st_0, _1st_1 = state.make(" in failure.program
    compile(failure.program, "program", "exec")


class Price:
    """Refuses one amount, by mistake."""

    def __init__(self, cents: int) -> None:
        if cents == 7:
            raise ValueError("seven")
        self.cents = cents


class Pays(ChaosTest):
    """Fails while the argument of its rule is drawn."""

    @rule(price=st.builds(Price, st.integers(0, 20)))
    def pay(self, price: Price) -> None:
        assert price.cents >= 0


def test_a_failure_while_an_argument_is_drawn_has_its_step_and_comes_back_by_its_trace_and_its_program() -> None:
    (failure,) = Explorer(Pays, target_modules=[], workers=1).run(max_runs=200).failures
    assert failure.trace is not None
    assert not failure.flaky
    steps = [(step.name, step.choices) for step in failure.trace.steps if step.kind == "rule"]
    assert steps == [("pay", {"price": [7]})]
    error = replay(Trace.from_json(failure.trace.to_json()), Pays)
    assert isinstance(error, ValueError)
    with pytest.raises(ValueError, match="seven"):
        exec(failure.program, {"Pays": Pays})
