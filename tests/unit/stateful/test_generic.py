"""Rule machines, old and new: types as strategies, and machines that say what comes next, in both engines."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import hypothesis.stateful
import pytest
from hypothesis import Phase, reproduce_failure, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from ordeal import stateful
from ordeal._engine.execution.class_path import load_class
from ordeal.errors import MachineError
from ordeal.stateful import GenericStateMachine, RuleBasedStateMachine, run_state_machine_as_test
from ordeal.trace import Trace, generate_tests, replay

from .engines import QUIET, Run, both_engines, explored, under_hypothesis


def test_what_hypothesis_still_has_is_its_own() -> None:
    for name in ("Bundle", "consumes", "multiple", "precondition"):
        assert getattr(stateful, name) is getattr(hypothesis.stateful, name)
    assert issubclass(RuleBasedStateMachine, hypothesis.stateful.RuleBasedStateMachine)


# ---------------------------------------------------------------------------------------------------------------------
# Generic machines


class Counter(GenericStateMachine):
    """Counts up, or down where it can, and breaks at five. It does not call the constructor of its base."""

    def __init__(self, start: int = 0) -> None:
        self.count = start

    def steps(self) -> st.SearchStrategy[str]:
        return st.sampled_from(["up", "down"] if self.count else ["up"])

    def execute_step(self, step: str) -> Any:
        self.count += 1 if step == "up" else -1
        assert self.count != 5
        return "ignored"


class Logged(GenericStateMachine):
    """Writes down what is called."""

    log: list[str] = []  # noqa: RUF012 - all machines share it

    def __init__(self) -> None:
        self.log.append("(")

    def steps(self) -> st.SearchStrategy[int]:
        self.log.append("?")
        return st.integers(0, 3)

    def execute_step(self, step: int) -> None:
        self.log.append("s")

    def check_invariants(self) -> None:
        self.log.append("i")

    def teardown(self) -> None:
        self.log.append(")")


@pytest.mark.parametrize("run", [under_hypothesis, lambda machine: explored(machine, checkpoint_prob=0.0)])
def test_the_loop_is_as_documented(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Logged, "log", [])
    run(Logged)
    runs = "".join(Logged.log).split("(")[1:]
    assert len(runs) >= 10
    # The Explorer asks a last time, to see whether there is a step at all.
    assert all(re.fullmatch(r"i(\?si)*\??\)", one) for one in runs), runs


PROGRAM = [
    "state = Counter()",
    *["state.execute_step(step='up')"] * 5,
    "state.teardown()",
]


class TestGeneric:
    @pytest.mark.parametrize("checkpoint_prob", [0.0, 0.9])
    def test_it_shrinks_under_the_explorer(self, checkpoint_prob: float) -> None:
        result = explored(Counter, checkpoint_prob=checkpoint_prob)
        assert [failure.program.splitlines() for failure in result.failures] == [PROGRAM]
        assert result.snapshot_kind == "copy"

    @both_engines
    def test_a_factory_may_pass_arguments(self, run: Run) -> None:
        run(lambda: Counter(1000))
        with pytest.raises(AssertionError):
            run(lambda: Counter(4))

    @both_engines
    def test_a_teardown_that_fails_is_a_failure(self, run: Run) -> None:
        class Leaky(Counter):
            def execute_step(self, step: str) -> None:
                self.count += 1

            def teardown(self) -> None:
                if self.count > 1:
                    raise ResourceWarning(self.count)

        with pytest.raises(ResourceWarning):
            run(Leaky)

    @both_engines
    def test_an_invariant_that_fails_is_a_failure_and_is_torn_down(self, run: Run) -> None:
        ended: list[int] = []

        class Checked(Counter):
            def check_invariants(self) -> None:
                assert self.count < 2, "too many"

            def teardown(self) -> None:
                ended.append(self.count)

        with pytest.raises(AssertionError, match="too many"):
            run(Checked)
        assert 2 in ended

    def test_a_checkpoint_copies_the_machine(self) -> None:
        made: list[Counter] = []

        class Patient(Counter):
            def __init__(self) -> None:
                super().__init__(10)
                made.append(self)

            def steps(self) -> st.SearchStrategy[str]:
                return st.sampled_from(["up", "down"] if self.count > 6 else ["up"])

            def execute_step(self, step: str) -> None:
                assert self.count >= 6
                super().execute_step(step)

        result = explored(Patient, runs=60, checkpoint_prob=0.9)
        assert result.failures == []
        assert len(made) < 60

    def test_a_trace_replays_and_becomes_a_test(self, tmp_path: Path) -> None:
        (failure,) = explored(Counter).failures
        assert failure.trace is not None
        failure.trace.save(tmp_path / "trace.json")
        trace = Trace.load(tmp_path / "trace.json")
        assert trace.test_class == f"{__name__}:Counter"
        source = generate_tests([trace])
        assert source.count("machine.execute_step(step='up')") == 5
        space: dict[str, Any] = {}
        exec(source, space)
        (name,) = [name for name in space if name.startswith("test_fail_assertion_error")]
        with pytest.raises(AssertionError):
            space[name]()

    def test_what_the_explorer_finds_plain_hypothesis_finds_at_once(self, tmp_path: Path) -> None:
        class Rare(GenericStateMachine):
            def __init__(self) -> None:
                self.count = 0

            def steps(self) -> st.SearchStrategy[int]:
                return st.integers(0, 3)

            def execute_step(self, step: int) -> None:
                self.count += 1
                assert self.count < 6

        Rare.TestCase.settings.database = InMemoryExampleDatabase()
        assert explored(Rare, corpus_dir=tmp_path).failures
        Rare.TestCase.settings.phases = [Phase.reuse]
        with pytest.raises(AssertionError):
            Rare.TestCase("runTest").debug()

    def test_decorators_of_hypothesis_on_the_class_hold(self) -> None:
        drawn: list[list[int]] = []

        def make() -> Any:
            @seed(3)
            class Seeded(GenericStateMachine):
                def __init__(self) -> None:
                    drawn[-1].append(-1)

                def steps(self) -> st.SearchStrategy[int]:
                    return st.integers()

                def execute_step(self, step: int) -> None:
                    drawn[-1].append(step)

            Seeded.TestCase.settings = settings(QUIET, derandomize=False, max_examples=5)
            return Seeded

        for _ in range(2):
            drawn.append([])
            make().TestCase("runTest").debug()
        assert drawn[0] == drawn[1]

    def test_a_failure_can_be_reproduced_by_its_blob(self) -> None:
        with pytest.raises(AssertionError) as caught:
            run_state_machine_as_test(Counter, settings(QUIET, print_blob=True))
        blob = "\n".join(caught.value.__notes__).partition("@reproduce_failure(")[2].partition(")")[0]
        version, _, encoded = blob.partition(", ")

        # Hypothesis knows the test by the source of its class.
        again: Any = reproduce_failure(version.strip("'"), encoded.removeprefix("b").strip("'").encode())(
            type("Again", (Counter,), {"__module__": __name__})
        )
        with pytest.raises(AssertionError):
            again.TestCase("runTest").debug()


class Countdown(GenericStateMachine):
    """Comes to an end after three steps; what happens then is noted."""

    ends: list[int] = []  # noqa: RUF012 - all machines share it

    def __init__(self) -> None:
        self.left = 3

    def steps(self) -> st.SearchStrategy[Any]:
        return st.just("tick") if self.left else st.nothing()

    def execute_step(self, step: str) -> None:
        assert step == "tick"
        self.left -= 1

    def teardown(self) -> None:
        self.ends.append(self.left)


class TestEnd:
    def test_a_machine_without_a_first_step_is_told_of(self) -> None:
        class Idle(Countdown):
            def steps(self) -> st.SearchStrategy[Any]:
                return st.nothing()

        assert "ended before its first step" in explored(Idle).notes[0]
        under_hypothesis(Idle)


class TestWrongUse:
    @pytest.mark.parametrize(
        ("given", "said", "hint"),
        [
            (None, "returned None, which is not a strategy", "where no step is left, `return st.nothing()`"),
            (["up"], "returned ['up'], which is not a strategy", "one of several values is `st.sampled_from(values)`"),
            (
                int,
                "returned <class 'int'>, which is not a strategy",
                'write for example `return st.tuples(st.just("add")',
            ),
        ],
    )
    @both_engines
    def test_steps_that_are_no_strategy(self, run: Run, given: Any, said: str, hint: str) -> None:
        class Odd(Counter):
            def steps(self) -> Any:
                return given

        with pytest.raises(MachineError) as caught:
            run(Odd)
        assert caught.value.message == f"Odd.steps() {said}"
        assert caught.value.hint is not None
        assert hint in caught.value.hint

    @both_engines
    def test_a_method_that_is_missing(self, run: Run) -> None:
        class Half(GenericStateMachine):
            def steps(self) -> st.SearchStrategy[int]:
                return st.integers()

        with pytest.raises(MachineError) as caught:
            run(Half)
        assert caught.value.message == "Half has no execute_step()"
        assert "`execute_step(self, step)`" in str(caught.value.hint)
        with pytest.raises(MachineError, match=r"GenericStateMachine has no steps\(\)"):
            run(GenericStateMachine)
        with pytest.raises(MachineError, match=r"Half has no execute_step\(\)"):
            run(functools.partial(Half))

    @both_engines
    def test_a_method_that_nothing_would_await(self, run: Run) -> None:
        class Late(Counter):
            async def execute_step(self, step: str) -> None:  # type: ignore[override]
                """Never runs."""

        with pytest.raises(MachineError, match=r"Late\.execute_step\(\) is `async def`"):
            run(Late)

    @both_engines
    def test_what_makes_no_machine(self, run: Run) -> None:
        with pytest.raises(MachineError, match=r"^`.*<lambda>` made a int, which is not a rule machine"):
            run(lambda: 3)
        with pytest.raises(MachineError):
            run(3)

    @both_engines
    def test_an_error_in_steps_is_a_failure(self, run: Run) -> None:
        class Lost(Counter):
            def steps(self) -> st.SearchStrategy[str]:
                if self.count == 2:
                    raise LookupError("no steps known")
                return super().steps()

        with pytest.raises(LookupError, match="no steps known"):
            run(Lost)

    def test_an_error_in_steps_replays_from_a_trace(self, tmp_path: Path) -> None:
        class Lost(Counter):
            def steps(self) -> st.SearchStrategy[str]:
                assert self.count < 2, "no steps known"
                return super().steps()

        (failure,) = explored(Lost).failures
        assert failure.trace is not None
        failure.trace.save(tmp_path / "trace.json")
        trace = Trace.load(tmp_path / "trace.json")
        assert len(trace.taken_steps()) == 2
        assert isinstance(replay(trace, Lost), AssertionError)


class TestClassPath:
    def test_a_misspelled_one_is_suggested(self) -> None:
        with pytest.raises(MachineError) as caught:
            load_class(f"{__name__}:Countre")
        assert caught.value.hint == f"did you mean `{__name__}:Counter`?"
