"""Which runs of a known bucket are kept: as few and as different as can be."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ordeal._engine.execution.driver import FAULT_OFF, FAULT_ON, INITIALIZE, RULE
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.triage.lookalikes import LACKING_MAX, NEW_MAX, Lookalikes, Reason, optional
from ordeal._native import Tape

from ...samples.triaged import origin


@dataclass
class Run:
    bucket: str
    tape: Tape
    origin: Provenance
    lookalike: Reason = ""


def tape_of(*steps: tuple[int, int]) -> Tape:
    return Tape.from_steps([(kind, target, at, []) for at, (kind, target) in enumerate(steps)])


def rules(*targets: int) -> Tape:
    return tape_of(*((RULE, target) for target in targets))


def run_of(tape: Tape, run_id: int = 1, bucket: str = "bucket") -> Run:
    return Run(bucket, tape, origin(run_id))


def offered(kept: Lookalikes[Run], run: Run, first: Tape, number: int | None, *, new: bool) -> bool:
    def lacks(codes: Collection[int]) -> bool:
        return not set(codes) <= set(run.tape.codes())

    return kept.offer(run.bucket, first, number, new=new, lacks=lacks, made=lambda: run) is not None


class TestOffer:
    def test_a_run_that_lacks_what_all_had_is_kept(self) -> None:
        kept: Lookalikes[Run] = Lookalikes()
        first = rules(0, 1, 2, 3)
        assert not offered(kept, run_of(rules(0, 1, 2, 3, 3)), first, 3, new=False)
        assert offered(kept, run_of(rules(0, 2, 3)), first, 5, new=False)
        assert not offered(kept, run_of(rules(2, 0, 3)), first, 6, new=False)
        assert offered(kept, run_of(rules(1, 3)), first, 7, new=False)
        assert [run.lookalike for run in kept.of("bucket")] == ["lacking"] * 2

    def test_so_is_one_without_a_fault_but_not_without_its_end(self) -> None:
        kept: Lookalikes[Run] = Lookalikes()
        first = tape_of((INITIALIZE, 0), (FAULT_ON, 1), (FAULT_OFF, 1), (RULE, 0))
        assert not offered(kept, run_of(tape_of((FAULT_ON, 1), (RULE, 0))), first, 3, new=False)
        assert offered(kept, run_of(rules(0)), first, 3, new=False)

    def test_ever_fewer_are_kept_for_their_number(self) -> None:
        kept: Lookalikes[Run] = Lookalikes()
        tapes = {number: rules(*[0] * number) for number in range(2, 40)}
        numbers = [
            number for number, tape in tapes.items() if offered(kept, run_of(tape, number), rules(0), number, new=False)
        ]
        assert numbers == [2, 4, 8, 16, 32]
        assert not offered(kept, run_of(rules(0)), rules(0), None, new=False)

    def test_those_with_new_code_are_compared_as_far_as_they_are_the_latest(self) -> None:
        kept: Lookalikes[Run] = Lookalikes()
        for number in range(20, 40):
            assert offered(kept, run_of(rules(*[0] * number), number), rules(0), None, new=True)
        assert [run.origin.run_id for run in kept.of("bucket")] == list(range(40 - NEW_MAX, 40))

    def test_many_that_lack_something_are_too_many(self) -> None:
        kept: Lookalikes[Run] = Lookalikes()
        first = rules(*range(30))
        taken = [offered(kept, run_of(rules(*range(last))), first, None, new=False) for last in range(29, 0, -1)]
        assert taken == [True] * LACKING_MAX + [False] * (29 - LACKING_MAX)

    def test_buckets_do_not_mix(self) -> None:
        kept: Lookalikes[Run] = Lookalikes()
        assert offered(kept, run_of(rules(0)), rules(0, 1), None, new=False)
        assert offered(kept, run_of(rules(0), bucket="other"), rules(0, 1), None, new=False)
        assert [len(kept.of(bucket)) for bucket in ("bucket", "other", "third")] == [1, 1, 0]


class TestAdd:
    def test_runs_of_an_earlier_process_count(self) -> None:
        before, after = Lookalikes[Run](), Lookalikes[Run]()
        first = rules(0, 1, 2)
        offered(before, run_of(rules(0, 2)), first, None, new=False)
        for run in before.all():
            after.add(run)
        assert not offered(after, run_of(rules(2, 0)), first, None, new=False)
        assert offered(after, run_of(rules(2)), first, None, new=False)

    def test_the_order_of_arrival_does_not_matter(self) -> None:
        runs = [run_of(rules(*[0] * number), number) for number in range(1, 6)]
        for run, reason in zip(runs, ("new", "numbered", "lacking", "new", "lacking"), strict=True):
            run.lookalike = reason  # type: ignore[assignment]
        orders = []
        for given in (runs, runs[::-1]):
            kept: Lookalikes[Run] = Lookalikes()
            for run in [*given, *given]:
                kept.add(run)
            orders.append([run.origin.run_id for run in kept.of("bucket")])
        assert orders == [[3, 5, 1, 4, 2]] * 2

    def test_those_that_became_failures_are_told(self) -> None:
        kept: Lookalikes[Run] = Lookalikes()
        offered(kept, run_of(rules(0)), rules(0, 1), None, new=False)
        assert kept.told() == []
        kept.all()[0].lookalike = ""
        assert kept.told() == kept.all()


def test_what_a_run_may_do_without_is_a_rule_or_the_start_of_a_fault() -> None:
    codes = tape_of((RULE, 1), (INITIALIZE, 1), (FAULT_ON, 1), (FAULT_OFF, 1)).codes()
    assert optional(codes) == {1 << 3 | RULE, 1 << 3 | FAULT_ON}
