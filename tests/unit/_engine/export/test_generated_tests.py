"""Tests generated from traces: what they look like, and that pytest agrees with what the traces say."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tests.warm_python import run_module

import ordeal
from ordeal._engine.export.generated_tests import pack, replay_packed, unpack
from ordeal.errors import TraceError
from ordeal.explore import Explorer
from ordeal.trace import Trace, TraceFailure, TraceStep, generate_tests

pytestmark = pytest.mark.slow

PROJECT = {
    "shelf/__init__.py": "",
    "shelf/store.py": """\
        import dataclasses
        import enum

        broken = []

        class Size(enum.Enum):
            SMALL = 1
            LARGE = 2

        @dataclasses.dataclass
        class Box:
            label: str
            weight: float

        class Handle:
            def __init__(self, number):
                self.number = abs(number)

        def look(number):
            if number > 3:
                if number > 10:
                    return "many"
                return "some"
            return "few"
        """,
    "shelf/machines.py": """\
        import math
        import random
        import hypothesis.strategies as st
        from hypothesis import note
        from hypothesis.stateful import *
        from ordeal import ChaosTest
        from ordeal.faults import LambdaFault
        from shelf import store

        class Limit(RuleBasedStateMachine):
            def __init__(self):
                super().__init__()
                self.total = 0

            @initialize()
            def begin(self):
                store.look(5)

            @rule(by=st.integers(0, 5))
            def add(self, by):
                self.total += by
                store.look(self.total)

            @invariant()
            def small(self):
                assert self.total < 12, 'too \"\"\"big\\n\\\\'

        class Bundles(ChaosTest):
            a, b = Bundle("a"), Bundle("b")

            @rule(targets=(a, b), count=st.integers(0, 3))
            def make(self, count):
                return multiple(*range(count))

            @rule(target=b)
            def one(self):
                return 2

            @rule(x=consumes(a), y=b)
            def spend(self, x, y):
                store.look(4)
                if x == y == 2:
                    raise LookupError("two")

        class Drawing(ChaosTest):
            @rule(data=st.data())
            def ask(self, data):
                number = data.draw(st.integers(0, 100))
                store.look(number)
                if number > 20:
                    raise KeyError(number)

        class Faulty(ChaosTest):
            faults = [LambdaFault("break('x', 1)", lambda: store.broken.append(1), store.broken.clear)]

            @rule(n=st.integers(0, 20))
            def go(self, n):
                print(store.look(n))
                if store.broken:
                    raise ValueError("fault")

        class Asynchronous(ChaosTest):
            @rule(n=st.integers(0, 20))
            async def go(self, n):
                store.look(n)
                if n > 12:
                    raise RuntimeError("async")

        class Values(ChaosTest):
            @rule(f=st.just(math.nan), d=st.datetimes(), p=st.builds(store.Box, st.text(), st.floats()),
                  s=st.sampled_from(store.Size), n=st.integers(0, 3), f2=st.sampled_from([store.look, store.Box]))
            def go(self, f, d, p, s, n, f2):
                store.look(n)
                if math.isnan(f) and n == 2:
                    raise ZeroDivisionError

        class Opaque(ChaosTest):
            @rule(h=st.builds(store.Handle, st.integers(0, 30)))
            def go(self, h):
                store.look(h.number)
                if h.number == 13:
                    raise ArithmeticError("thirteen")

        class Noting(ChaosTest):
            @rule(n=st.integers(0, 20))
            def go(self, n):
                note("works in a run of Hypothesis only")
                store.look(n)
                if n == 13:
                    raise ArithmeticError("thirteen")

        class Chance(ChaosTest):
            @rule(n=st.integers(0, 20))
            def go(self, n):
                store.look(n)
                if n + random.randint(0, 5) > 20:
                    raise ArithmeticError("dice")

        class TestNamed(ChaosTest):
            @rule(n=st.integers(0, 20))
            def go(self, n):
                store.look(n)
                if n > 12:
                    raise RuntimeError("named like a test")

        class Slow(ChaosTest):
            rule_timeout = 0.1

            @rule()
            def go(self):
                while True:
                    pass
        """,
    "shelf/other.py": """\
        from hypothesis.stateful import RuleBasedStateMachine, rule

        class Limit(RuleBasedStateMachine):
            @rule()
            def add(self):
                raise OSError("other")

        class Outer:
            class Limit(Limit):
                pass
        """,
}
PLAIN = ["Limit", "Bundles", "Faulty", "Asynchronous", "Values", "TestNamed"]
REPLAYED = ["Drawing", "Opaque", "Noting", "Chance", "Slow"]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(dedent(text), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "shelf"]:
        del sys.modules[name]


def explored(name: str, module: str = "shelf.machines", seed: int = 42, **options: Any) -> list[Trace]:
    machine = getattr(importlib.import_module(module), name)
    runs = 2 if name == "Slow" else 100
    explorer = Explorer(machine, target_modules=["shelf.store"], seed=seed)
    return explorer.run(max_runs=runs, record_traces=True, **options).traces


def names_in(source: str) -> list[str]:
    return re.findall(r"^def (\w+)", source, re.MULTILINE)


def outcomes(folder: Path, source: str) -> dict[str, str]:
    """What pytest says of each test in ``source``."""
    (folder / "test_generated.py").write_text(source, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(ordeal.__file__).absolute().parents[1])}
    # An editable install is found by an import hook, which is there before pytest can rewrite its asserts.
    strict = ["-W", "error", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    quiet = ("-p", "no:cacheprovider", "-rA", "--tb=no", "-q", *strict, "test_generated.py")
    done = run_module("pytest", *quiet, environment=environment, folder=folder)
    return {
        name: word for word, name in re.findall(r"^(PASSED|FAILED) test_generated.py::(\w+)", done.stdout, re.MULTILINE)
    }


def test_pytest_agrees_with_every_trace(tmp_path: Path) -> None:
    traces = [trace for name in PLAIN + REPLAYED for trace in explored(name, max_shrink_time=2.0)]
    source = generate_tests(traces)
    seen = outcomes(tmp_path, source)
    tests = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert sorted(seen) == sorted(tests)
    assert seen == {name: "FAILED" if "_fail_" in name else "PASSED" for name in tests}
    assert sum(name.startswith("test_fail_") for name in tests) == len(PLAIN + REPLAYED)
    assert any(name.startswith("test_path_") for name in tests)
    rules = ("--select", "E4,E7,E9,F,W,UP,B,C4,SIM,PIE,RET", "--isolated", "--no-cache")
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *rules, "test_generated.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("name", PLAIN)
def test_a_failure_that_calls_can_say_is_calls(name: str) -> None:
    (failing, *_) = explored(name, max_shrink_time=2.0)
    source = generate_tests([failing])
    assert "machine = " in source
    assert "replay_packed" not in source


@pytest.mark.parametrize("name", REPLAYED)
def test_a_failure_that_calls_cannot_say_is_replayed_with_its_program_beside_it(name: str) -> None:
    (failing, *_) = explored(name, max_shrink_time=2.0)
    source = generate_tests([failing])
    assert f"    # state = {name}()\n" in source
    assert "replay_packed(trace, " in source


def test_faults_and_calls_have_the_documented_shape() -> None:
    (failing, *_) = explored("Faulty")
    failing.run_id, failing.edges_discovered = 42, 3
    assert generate_tests([failing]) == dedent('''\
        """Generated by ordeal explorer. Do not edit -- re-run ordeal explore to regenerate."""

        from shelf.machines import Faulty


        def test_fail_value_error_62c36c461db7():
            """Run 42, ValueError: fault, 2 steps, 3 new edges"""
            machine = Faulty()
            try:
                # activate fault: break('x', 1)
                for f in machine._faults:
                    if f.name == "break('x', 1)":
                        f.activate()
                machine.go(n=0)
            finally:
                machine.teardown()
        ''')


def test_invariants_are_checked_after_each_step_but_not_before_the_initialize_rules() -> None:
    (failing, *_) = explored("Limit")
    body = generate_tests([failing]).partition("\ndef ")[2]
    lines = [line.strip() for line in body.splitlines()]
    assert lines[2:7] == [
        "machine = Limit()",
        "try:",
        "machine.begin()",
        "check_invariants(machine)",
        "machine.add(by=2)",
    ]
    assert f'"""Run {failing.run_id}, AssertionError: too \\"\\"\\"big\\n\\\\, 4 steps' in body.replace("\\\\n", "\\n")


def test_results_of_bundles_are_passed_on() -> None:
    (failing, *_) = explored("Bundles")
    body = generate_tests([failing])
    assert "made_by_step_1 = list(machine.make(count=3))" in body
    assert "machine.spend(x=made_by_step_1[2], y=made_by_step_1[2])" in body


def test_classes_of_one_name_are_told_apart_by_module() -> None:
    traces = [explored(name)[0] for name in ("Limit", "Faulty")] + [explored("Limit", "shelf.other")[0]]
    nested = replace(traces[2], test_class="shelf.other:Outer.Limit")
    source = generate_tests([*traces, nested])
    assert len(set(names_in(source))) == 4
    assert source.splitlines()[2:7] == [
        "import shelf.machines",
        "import shelf.other",
        "from ordeal.trace import check_invariants",
        "from shelf.machines import Faulty",
        "from shelf.other import Outer",
    ]
    assert "    machine = shelf.machines.Limit()\n" in source
    assert "    machine = shelf.other.Limit()\n" in source
    assert "    machine = Outer.Limit()\n" in source


def test_a_failure_has_one_test_with_one_name_whatever_run_met_it() -> None:
    (failing, *_) = explored("Faulty", seed=1)
    (another, *_) = explored("Faulty", seed=2)
    longer = replace(failing, steps=[TraceStep("fault_toggle", "-break('x', 1)"), *failing.steps])
    assert names_in(generate_tests([longer, replace(another, run_id=99), failing])) == names_in(
        generate_tests([another])
    )
    assert "2 steps" in generate_tests([longer, failing])
    assert "3 steps" in generate_tests([longer])


def test_plain_calls_that_fail_elsewhere_are_no_test() -> None:
    (failing, *_) = explored("Faulty")
    assert failing.failure is not None
    elsewhere = replace(failing, failure=replace(failing.failure, bucket="ValueError in elsewhere"))
    assert "replay_packed(" in generate_tests([elsewhere])


def test_a_class_of_the_started_program_is_refused() -> None:
    (failing, *_) = explored("Faulty")
    failing.test_class = "__main__:Faulty"
    with pytest.raises(TraceError, match="no test can import __main__:Faulty"):
        generate_tests([failing])
    assert "from shelf.machines import Faulty\n" in generate_tests([failing], class_path="shelf.machines:Faulty")


@pytest.mark.parametrize("message", ['"""', "\\", "\n\t\x1b[2J", "\ud800", "é" * 500, '"', "'''\"\"\"\\"])
def test_no_message_breaks_out_of_its_docstring(message: str) -> None:
    (failing, *_) = explored("Faulty")
    failing.failure = TraceFailure('Odd"""Error', message, 2)
    source = generate_tests([failing])
    (function,) = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert (ast.get_docstring(function) or "").startswith(f'Run {failing.run_id}, Odd"""Error: ')
    assert max(map(len, source.splitlines())) < 130


def test_a_packed_trace_replays_and_a_damaged_one_says_so() -> None:
    (failing, *_) = explored("Faulty")
    machine = importlib.import_module("shelf.machines").Faulty
    assert unpack(pack(failing)).content_hash() == failing.content_hash()
    with pytest.raises(ValueError, match="fault"):
        replay_packed(pack(failing), machine)
    for damaged in ("", "é", "AAAA", pack(failing)[:-8], pack(failing)[4:]):
        with pytest.raises(TraceError, match="the trace in the test"):
            replay_packed(damaged, machine)
