"""The chance of faults is the same in every run, and that of the tape where there is one."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal import ChaosTest, Explorer
from ordeal.faults import Fault, LambdaFault, io, randomness, timing
from ordeal.trace import Trace, replay

CHARGE = "shop_app.api.charge"


@pytest.fixture(autouse=True)
def _default_source() -> None:
    randomness.set_random(None)
    randomness.reset_default()


def test_the_default_gives_the_same_bytes_after_a_reset() -> None:
    first = [randomness.fault_bytes(8), randomness.fault_bytes(8)]
    assert first[0] != first[1]
    LambdaFault("any", int, int).reset()
    assert [randomness.fault_bytes(8), randomness.fault_bytes(8)] == first


def test_a_given_source_is_used_and_never_reseeded() -> None:
    expected = random.Random(7).randbytes(16)
    source = random.Random(7)
    assert randomness.set_random(source) is None
    first = randomness.fault_bytes(8)
    LambdaFault("any", int, int).reset()
    assert first + randomness.fault_bytes(8) == expected
    assert randomness.set_random(None) is source


GREET = [sys.executable, "-c", "print('greeting')"]


@pytest.mark.parametrize(
    ("make", "call"),
    [
        (lambda: io.corrupt_output(CHARGE), lambda api: [api.charge("kettle") for _ in range(3)]),
        (
            lambda: io.corrupt_stdout("greeting"),
            lambda _: subprocess.run(GREET, capture_output=True, check=True).stdout,
        ),
        (lambda: timing.jitter(CHARGE, 0.5), lambda api: [api.charge(10) for _ in range(3)]),
    ],
    ids=["corrupt_output", "corrupt_stdout", "jitter"],
)
def test_random_effects_are_the_same_in_two_runs(api: Any, make: Callable[[], Any], call: Callable[[Any], Any]) -> None:
    runs = []
    for fault in (make(), make()):
        fault.reset()
        with fault:
            runs.append(call(api))
    assert runs[0] == runs[1]


class Reader(ChaosTest):
    """Fails when corruption begins with a high byte, and when the fault of chance was met twice."""

    faults: ClassVar[list[Fault]] = [
        io.corrupt_output(CHARGE),
        timing.timeout("shop_app.api.Client.send").limited(probability=0.3),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    @rule()
    def read(self) -> None:
        if sys.modules["shop_app.api"].charge(b"abcd")[0] >= 240:
            raise ValueError("high byte")

    @rule()
    def send(self) -> None:
        try:
            sys.modules["shop_app.api"].Client().send("x")
        except TimeoutError:
            self.refused += 1
        if self.refused == 2:
            raise ValueError("refused twice")


def traces_of(seed: int) -> dict[str, Trace]:
    failures = Explorer(Reader, seed=seed).run(max_runs=400).failures
    return {str(failure.error): failure.trace for failure in failures if failure.trace is not None}


def test_chance_comes_from_the_tape_of_the_explorer(api: Any) -> None:
    first, second = traces_of(3), traces_of(3)
    assert set(first) == {"high byte", "refused twice"}
    for text, trace in first.items():
        assert trace.content_hash() == second[text].content_hash()
        for _ in range(3):
            assert str(replay(trace, Reader)) == text
    # Shrunk to the two calls that were met.
    assert [step.name for step in first["refused twice"].steps if step.kind == "rule"] == ["send", "send"]


def test_corruption_differs_between_runs_of_the_explorer(api: Any) -> None:
    seen: set[bytes] = set()

    class Watching(Reader):
        @rule()
        def read(self) -> None:
            seen.add(sys.modules["shop_app.api"].charge(b"abcd"))

    Explorer(Watching, seed=1).run(max_runs=50, shrink=False)
    assert len(seen) > 20


def test_an_occasion_decides_where_nothing_else_does() -> None:
    first = [randomness.fault_bytes(8, occasion="a #1"), randomness.fault_bytes(8, occasion="a #2")]
    randomness.fault_bytes(8)
    assert [randomness.fault_bytes(8, occasion="a #1"), randomness.fault_bytes(8, occasion="a #2")] == first
    assert first[0] != first[1]
    assert 30 < sum(randomness.fault_chance(0.5, occasion=f"a #{number}") for number in range(100)) < 70


class Threads(Reader):
    """Reads in a thread of its own, and remembers what it read and what the run decided meanwhile."""

    seen: ClassVar[list[Any]] = []

    @rule()
    def read(self) -> None:
        with ThreadPoolExecutor(1) as pool:
            answers = [pool.submit(sys.modules["shop_app.api"].charge, b"abcd").result() for _ in range(3)]
        self.seen.append(answers)
        if answers[1] != b"abcd":
            raise ValueError("damaged in a thread")


def test_chance_in_threads_is_replayed_and_leaves_the_tape_alone(api: Any) -> None:
    Threads.seen.clear()
    failures = Explorer(Threads, seed=1).run(max_runs=60).failures
    (failure,) = [failure for failure in failures if str(failure.error) == "damaged in a thread"]
    assert failure.trace is not None
    assert [step.name for step in failure.trace.steps] == [f"+corrupt_output({CHARGE})", "read"]
    assert [step.choices for step in failure.trace.steps] == [{}, {}]
    Threads.seen.clear()
    for _ in range(3):
        assert str(replay(failure.trace, Threads)) == "damaged in a thread"
    assert Threads.seen[0] == Threads.seen[1] == Threads.seen[2]


def test_threads_that_race_have_the_same_calls_met(api: Any) -> None:
    fault = io.return_empty(CHARGE).limited(probability=0.3)

    def missing() -> int:
        fault.reset()
        with fault, ThreadPoolExecutor(8) as pool:
            return list(pool.map(api.charge, range(200))).count(None)

    assert len({missing() for _ in range(5)}) == 1


def test_a_run_that_goes_on_from_a_checkpoint_decides_in_threads_as_the_whole_run(api: Any) -> None:
    fault = io.return_empty(CHARGE).limited(probability=0.3)

    def calls(count: int) -> list[Any]:
        with fault, ThreadPoolExecutor(1) as pool:
            return list(pool.map(api.charge, range(count)))

    fault.reset()
    whole = calls(20)
    fault.reset()
    fault.resume(12)
    assert [answer is None for answer in calls(8)] == [answer is None for answer in whole[12:]]


def test_chance_comes_from_the_choices_of_a_hypothesis_test(api: Any) -> None:
    seen: set[bytes] = set()
    fault = io.corrupt_output(CHARGE)

    @settings(max_examples=50, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.none())
    def read(_: None) -> None:
        with fault:
            damaged = api.charge(b"abcd")
        seen.add(damaged)
        assert damaged[0] < 240

    # The failing choices are replayed and shrunk: were chance not among them, Hypothesis would call the test flaky.
    with pytest.raises(AssertionError):
        read()
    assert len(seen) > 5


class Torn(ChaosTest):
    """Fails once its fault, which acts on half of the calls, has acted."""

    faults: ClassVar[list[Fault]] = [io.error_on_call("json.dumps").limited(probability=0.5)]

    @rule()
    def write(self) -> None:
        json.dumps(1)


def test_without_buggify_faults_have_their_chance_all_the_same() -> None:
    (failure,) = Explorer(Torn, buggify_prob=0.0).run(max_runs=50).failures
    assert isinstance(failure.error, OSError)
    assert failure.trace is not None
    assert isinstance(replay(failure.trace, Torn), OSError)
