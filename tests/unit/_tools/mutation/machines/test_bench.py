"""Replays of tapes on broken code: what fails, beside what, and which state differs first."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.unit._tools.mutation.machines import till

import ordeal._native as _native
from ordeal._tools.mutation.machines.bench import TraceReplayer, difference
from ordeal._tools.mutation.machines.evidence import Kill

Change = Callable[[till.Drawer, str, int], None]


@contextmanager
def broken(name: str, body: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(till.Drawer, name, body)
        yield


def first_kill(bench: TraceReplayer, tapes: list[_native.Tape]) -> Kill | None:
    with bench.running():
        kills = (bench.run(tape, number) for number, tape in enumerate(tapes))
        return next((kill for kill in kills if kill is not None), None)


def test_the_original_fails_nowhere_and_its_states_repeat(bench: TraceReplayer, tapes: list[_native.Tape]) -> None:
    assert first_kill(bench, tapes) is None
    with bench.running():
        states = bench.sketches(tapes[0])
        assert states is not None
        assert states == bench.sketches(tapes[0])
        assert bench.first_other(tapes[0], states) is None


def test_all_invariants_are_asked_at_the_failing_step(
    bench: TraceReplayer, tapes: list[_native.Tape], monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(self: till.Drawer, name: str, cents: int) -> None:
        self.coins[name] -= cents

    with broken("put", take, monkeypatch):
        kill = first_kill(bench, tapes)
    assert kill is not None
    assert (kill.kind, kill.by, kill.rule) == ("assertion", "invariant:coins_are_not_negative", "pay")
    assert set(kill.invariants) == {"coins_are_not_negative", "coins_are_right"}
    assert kill.asserted.startswith("till.py:")


def test_an_error_of_the_program_is_no_assertion(
    bench: TraceReplayer, tapes: list[_native.Tape], monkeypatch: pytest.MonkeyPatch
) -> None:
    with broken("put", lambda *_: [].pop(), monkeypatch):
        kill = first_kill(bench, tapes)
    assert kill is not None
    assert (kill.kind, kill.by, kill.rule, kill.invariants, kill.error) == (
        "exception",
        "rule:pay",
        "pay",
        (),
        "IndexError",
    )


def test_a_property_is_named(bench: TraceReplayer, tapes: list[_native.Tape], monkeypatch: pytest.MonkeyPatch) -> None:
    original = till.Drawer.give_back
    with broken("give_back", lambda self, cents: original(self, -cents), monkeypatch):
        kill = first_kill(bench, tapes)
    assert kill is not None
    assert kill.by == "property:something is given back"


def test_the_first_state_that_differs_is_found_though_nothing_fails(
    bench: TraceReplayer, tapes: list[_native.Tape], monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep(self: till.Drawer, cents: int) -> None:
        self.given_back -= cents

    with bench.running():
        states = bench.sketches(tapes[0])
        assert states is not None
        assert bench.repeats(tapes[0], states)
        with broken("give_back", keep, monkeypatch):
            assert bench.run(tapes[0], 0) is None
            assert not bench.repeats(tapes[0], states)
            other = bench.first_other(tapes[0], states)
            assert other is not None
        step, rule, state = other
        found = difference(7, step, (states[step][0], bench.state_at(tapes[0], step)), (rule, state))
    assert (found.trace, found.rule, found.path) == (7, "give_back", "drawer.given_back")
    assert int(found.mutant) == -int(found.original) < 0
    assert bench.state_at(tapes[0], step - 1)["drawer.given_back"] == "0"


def test_a_run_with_fewer_steps_differs(
    bench: TraceReplayer, tapes: list[_native.Tape], monkeypatch: pytest.MonkeyPatch
) -> None:
    with bench.running():
        states = bench.sketches(tapes[0])
        assert states is not None
        with broken("put", lambda *_: pytest.skip("enough"), monkeypatch):
            assert bench.run(tapes[0], 0) is None
            assert not bench.repeats(tapes[0], states)
            assert bench.first_other(tapes[0], states) is not None


class Marked(till.Till):
    """A till that is not the same twice."""

    numbers = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.mark = {next(self.numbers): 1}


def test_what_differs_from_run_to_run_is_found_and_not_compared(tapes: list[_native.Tape]) -> None:
    bench = TraceReplayer(Marked, str(Path(till.__file__).parent), 10.0)
    with bench.running():
        assert bench.unsteady(tapes[:2]) == ["mark"]
        states = bench.sketches(tapes[0])
        assert states is not None
        assert bench.repeats(tapes[0], states)


def test_another_order_is_told_by_the_parts_that_changed_places() -> None:
    found = difference(7, 2, ("pay", {"till[1]": "a", "till[2]": "b"}), ("pay", {"till[2]": "b", "till[1]": "a"}))
    assert (found.path, found.original, found.mutant) == ("till", "till[1]", "in another order: till[2]")
