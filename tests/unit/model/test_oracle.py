"""Oracles: wrong use is told before the first run, and all of them work with whatever else a machine can have."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal._engine.execution.machine import usable_definition
from ordeal.cli import main
from ordeal.config.options import CheckpointKind
from ordeal.errors import MachineError
from ordeal.explore import Explorer, Tuning
from ordeal.faults import LambdaFault
from ordeal.model import (
    DivergenceError,
    Idempotence,
    Incremental,
    Pair,
    RoundTrip,
    TwoImplementations,
    Undo,
    op,
)
from ordeal.trace import replay

from ..samples import oracles
from ..samples.machines import run
from ..samples.oracles import ORACLES, SOUND, Bag, Wrong


class Plain:
    """Equal to nothing but itself."""


@op()
def nothing(self: Any) -> None: ...


def made(base: type, **members: Any) -> Any:
    """A machine of an oracle, with one operation unless said otherwise."""
    return type("Made", (base,), {"impl": dict, "nothing": nothing, **members})


def loads_itself() -> type:
    class Made(RoundTrip):
        impl, dump = dict, str
        nothing = nothing

        def load(self, dumped: str) -> Any:
            return self.impl

    return Made


def builds_itself() -> type:
    class Made(Incremental):
        impl = dict
        nothing = nothing

        def scratch(self, source: Any) -> Any:
            return self.impl

    return Made


def explore(machine: Any, max_runs: int = 60, **options: Any) -> Any:
    return Explorer(machine, workers=1, **options).run(max_runs=max_runs)


def gives(value: Any) -> Any:
    return staticmethod(lambda _given: value)


MISSING = [
    (
        lambda: made(RoundTrip, impl=None, dump=str, load=str),
        "Made.impl is missing",
        "write for example `impl = MyStore` in the class body",
    ),
    (
        lambda: made(RoundTrip, impl=3, dump=str, load=str),
        "Made.impl is 3, which makes nothing",
        "write for example `impl = MyStore` in the class body",
    ),
    (
        lambda: made(RoundTrip, load=json.loads),
        "Made.dump is missing",
        "write `dump = json.dumps`, or `def dump(self, impl): return impl.to_text()` in the class body",
    ),
    (
        lambda: made(RoundTrip, dump=json.dumps),
        "Made.load is missing",
        "write `load = json.loads`, or `def load(self, dumped): return MyStore.from_text(dumped)` in the class body",
    ),
    (lambda: made(Undo), "Made.undo is missing", "write `def undo(self, done): self.impl.undo()` in the class body"),
    (
        lambda: made(Incremental),
        "Made.scratch is missing",
        "write `scratch = SortedList`, or `def scratch(self, source): return Index(source)` in the class body",
    ),
    (
        lambda: made(Incremental, scratch=list, source=3),
        "Made.source is 3, which makes nothing",
        "write what makes the collected input, such as `source = list`",
    ),
    (
        lambda: made(TwoImplementations),
        "Made.other is missing",
        "write for example `impl, other = FastStore, SlowStore` in the class body",
    ),
    (
        lambda: made(Idempotence, nothing=None),
        "Made has no operation",
        "write `@op(key=st.integers())` above `def put(self, key): self.impl.put(key)`",
    ),
    (lambda: made(Pair), "Made.model is missing", "write for example `impl, model = MyCache, dict` in the class body"),
]


@pytest.mark.parametrize(("make", "message", "hint"), MISSING, ids=[message for _, message, _ in MISSING])
def test_what_is_missing_is_told_before_the_first_run(make: Any, message: str, hint: str) -> None:
    for use in (usable_definition, lambda cls: cls(), Explorer):
        with pytest.raises(MachineError) as caught:
            use(make())
        assert (caught.value.message, caught.value.hint) == (message, hint)


def dump_method() -> type:
    class Made(RoundTrip):
        impl, load = dict, json.loads

        def dump(self) -> str:
            return ""

    return Made


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (
            lambda: made(RoundTrip, dump=json.dump),
            "Made.dump cannot be called with `impl` alone: it is dump(obj, fp, *, ",
            "write `dump = json.dumps`, or",
        ),
        (dump_method, "Made.dump cannot be called with `impl` alone: it is dump(self)", "write `dump = json.dumps`"),
        (lambda: made(RoundTrip, dump="json"), "Made.dump is 'json', which cannot be called", "write `dump = "),
        (
            lambda: made(Undo, undo=lambda a, b, c: None),
            "Made.undo cannot be called with `done` alone: it is <lambda>(a, b, c)",
            "write `def undo(self, done):",
        ),
        (
            lambda: made(Undo, undo_last=nothing),
            "Made.undo_last would replace the rule of Undo with that name",
            "give it another name",
        ),
        (lambda: made(RoundTrip, every=0), "Made.every is 0", "write a whole number from 1"),
        (
            lambda: made(TwoImplementations, errors={1: 2}),
            "Made.errors is {1: 2}, not exceptions by exceptions",
            "write the system's on the left",
        ),
    ],
)
def test_what_cannot_be_called_is_told_when_the_class_is_made(make: Any, message: str, hint: str) -> None:
    with pytest.raises(MachineError) as caught:
        make()
    assert caught.value.message.startswith(message)
    assert (caught.value.hint or "").startswith(hint)


def yields(impl: Any) -> Any:
    yield impl


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (lambda: made(RoundTrip, dump=gives(None), load=str), "Made.dump() returned None", "return the dumped text"),
        (lambda: made(RoundTrip, dump=str, load=gives(None)), "Made.load() returned None", "make a new system"),
        (
            loads_itself,
            "Made.load() returned self.impl, which equals itself",
            "make a new system",
        ),
        (
            lambda: made(RoundTrip, dump=str, load=str),
            "Made.load() returned a str, and operations are written for a dict",
            "write `reload = False`",
        ),
        (lambda: made(Incremental, scratch=gives(None)), "Made.scratch() returned None", "build a new system"),
        (
            builds_itself,
            "Made.scratch() returned self.impl",
            "build a new system",
        ),
        (lambda: made(Idempotence, view=gives(None)), "Made.view() returned None", "return what can be seen of `impl`"),
        (
            lambda: made(Idempotence, impl=Plain),
            "Made.impl makes a Plain, which is equal to nothing but itself",
            "write `view = list`, or `def view(self, impl): return impl.items()`",
        ),
        (
            lambda: made(Idempotence, view=lambda impl: (open, [yields(1)])),
            "Made.view() returned (<built-in function open>, [<generator",
            "return lists, dictionaries, texts and numbers",
        ),
    ],
)
def test_what_only_a_run_shows_is_no_finding(make: Any, message: str, hint: str) -> None:
    with pytest.raises(MachineError) as caught:
        explore(make(), 5)
    assert caught.value.message.startswith(message)
    assert (caught.value.hint or "").startswith(hint)


def test_a_function_is_written_as_a_method_or_named() -> None:
    class Named(Idempotence):
        impl = dict
        view: Any = json.dumps
        nothing = nothing

    class Built(Named):
        view: Any = len

    class Typed(Named):
        view: Any = list

    class Partial(Named):
        view: Any = functools.partial(json.dumps, indent=None)

    class Short(Named):
        view: Any = lambda impl: impl["a"]

    class Shorter(Named):
        own = 3
        view: Any = lambda self, impl: self.own + impl["a"]

    class Method(Named):
        def view(self, impl: Any) -> Any:
            return impl["a"]

    class Static(Named):
        @staticmethod
        def view(impl: Any) -> Any:
            return impl["a"]

    machines: list[Any] = [Named, Built, Typed, Partial, Short, Shorter, Method, Static]
    shown = [machine().view({"a": 1}) for machine in machines]
    assert shown == ['{"a": 1}', 1, ["a"], '{"a": 1}', 1, 4, 1, 1]


@pytest.mark.parametrize("oracle", SOUND, ids=lambda oracle: oracle.__name__)
def test_a_sound_system_passes_in_both_engines(oracle: Any) -> None:
    run(oracle, max_examples=5)
    assert explore(oracle, 30).failures == []


@pytest.mark.parametrize("wrong", ORACLES, ids=lambda wrong: wrong.machine.__name__)
def test_a_planted_bug_is_found_shrunk_and_replayed(wrong: Wrong, tmp_path: Path) -> None:
    result = explore(wrong.machine, 300, seed=4)
    failure = result.failures[0]
    assert failure.trace is not None
    assert [step.name for step in failure.trace.steps if step.kind == "rule"] == wrong.steps
    assert str(failure.error).splitlines()[0] == wrong.message
    assert isinstance(replay(failure.trace), DivergenceError)


def test_hypothesis_alone_finds_one_too() -> None:
    with pytest.raises(DivergenceError, match="after add was done again"):
        run(Bag, max_examples=20, shrink=False)


@pytest.mark.parametrize("wrong", ORACLES, ids=lambda wrong: wrong.machine.__name__)
@pytest.mark.forks
def test_it_makes_no_difference_how_states_are_reached(wrong: Wrong) -> None:
    seen = {}
    kind: CheckpointKind
    for kind in ("copy", "fork", "replay"):
        explorer = Explorer(
            wrong.machine, workers=1, tuning=Tuning(checkpoint_kind=kind), target_modules=[oracles.__name__]
        )
        result = explorer.run(max_runs=30, shrink=False)
        seen[kind] = str([result.total_runs, result.total_steps, [str(failure.error) for failure in result.failures]])
    assert len(set(seen.values())) == 1, seen


def test_two_operations_with_bugs_are_two_failures() -> None:
    class Both(Idempotence):
        impl: Any = list

        @op()
        def one(self) -> None:
            self.impl.append(1)

        @op()
        def two(self) -> None:
            self.impl.append(2)

    failures = explore(Both).failures
    assert sorted(failure.broken_by for failure in failures) == [["one"], ["two"]]


class Switched(list[Any]):
    """A list that is emptied while a fault is on."""

    fails = False


def _switch(on: bool) -> None:
    Switched.fails = on


def test_faults_and_plain_rules_work_too() -> None:
    class Faulty(Incremental):
        impl: Any = Switched
        scratch = Switched
        faults = [LambdaFault("loses", lambda: _switch(True), lambda: _switch(False))]  # noqa: RUF012

        @op(value=st.integers(0, 3))
        def add(self, value: int) -> None:
            self.source.append(value)
            if not Switched.fails:
                self.impl.append(value)

        @rule()
        def look(self) -> None: ...

    failure = explore(Faulty).failures[0]
    assert failure.trace is not None
    assert [step.kind for step in failure.trace.steps] == ["rule_swarm", "fault_toggle", "rule"]
    assert failure.broken_by == ["add"]


def test_the_command_line_ends_with_2_and_the_line_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong_oracle.py").write_text(
        "from ordeal.model import RoundTrip, op\n"
        "class Wrong(RoundTrip):\n    impl, load = dict, eval\n    @op()\n    def nothing(self): ...\n"
    )
    (tmp_path / "ordeal.toml").write_text('[[tests]]\nclass = "wrong_oracle:Wrong"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["explore", "--in-process", "--max-runs", "3"]) == 2
    told = capsys.readouterr().err
    assert "Wrong.dump is missing" in told
    assert "write `dump = json.dumps`" in told
