"""Replays from fresh machines: what they tell, and that time limits hold."""

from __future__ import annotations

from ordeal.bench import make_bench
from ordeal.driver import Status
from ordeal.trace import Trace, TraceStep

from .traced import Counter, Everything, Faulty, failing, toggled


def test_a_replay_tells_status_bucket_and_the_steps_that_ran() -> None:
    trace = failing(Counter)
    bench = make_bench(trace)
    replayed = bench.replayer.run(bench.tape)
    assert replayed.outcome.status is Status.FAILED
    assert replayed.bucket.startswith("ValueError in Counter.add: raise ValueError(")
    assert len(replayed.tape) == len(bench.tape) == len(trace.steps)
    assert (replayed.misaligned, replayed.rejected) == (0, 0)


def test_steps_that_cannot_run_are_left_out_and_counted() -> None:
    bench = make_bench(Trace(1, 42, "x:Y", steps=[TraceStep("rule", "make"), TraceStep("rule", "spend")]), Everything)
    replayed = bench.replayer.run(bench.tape)
    assert (replayed.outcome.status, replayed.rejected, len(replayed.tape)) == (Status.DONE, 2, 0)


def test_a_confirmation_is_two_replays() -> None:
    bench = make_bench(failing(Counter))
    first, second = bench.replayer.confirm(bench.tape)
    assert first.bucket == second.bucket


def test_shrinking_without_time_gives_the_tape_back_unfinished() -> None:
    bench = make_bench(failing(Counter, shrink=False))
    bucket = bench.replayer.run(bench.tape).bucket
    shrunk = bench.replayer.shrink(bench.tape, bucket, 0.0)
    assert not shrunk.finished
    assert shrunk.tape.hash() == bench.tape.hash()


def test_shrinking_ticks_for_every_candidate() -> None:
    bench = make_bench(failing(Counter, shrink=False))
    ticks: list[int] = []
    shrunk = bench.replayer.shrink(bench.tape, bench.replayer.run(bench.tape).bucket, 60.0, lambda: ticks.append(1))
    assert shrunk.finished
    assert len(ticks) == shrunk.candidates > 0


def test_ablation_without_time_says_nothing_of_any_fault() -> None:
    bench = make_bench(toggled(Faulty, "one(a)", "two(b)", "three(c)"))
    bucket = bench.replayer.run(bench.tape).bucket
    assert bench.replayer.ablate(bench.tape, bucket, 0.0) is None
    assert bench.replayer.ablate(bench.tape, bucket) == {"one(a)": True, "two(b)": True, "three(c)": False}
