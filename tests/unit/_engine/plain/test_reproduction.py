"""The plain reproduction of a trace, with its processes."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from ordeal._engine.plain import reproduction
from ordeal.errors import TraceError
from ordeal.explore import Explorer
from ordeal.trace import Trace, plain

LIBRARY = """
    import os

    class Bank:
        def pay(self, cents):
            ...

    class Tilllib:
        def __init__(self):
            self.units = {}

        def take(self, name, units):
            self.units[name] = self.units.get(name, 1) - units

    class Till:
        def __init__(self, bank):
            self.bank, self.open = bank, 0

        def sell(self, cents):
            self.open += cents
            try:
                self.bank.pay(cents)
            except TimeoutError:
                return False
            self.open -= cents
            return True

    def booked(path):
        with open(path) as file:
            return [int(line) for line in file]
"""
TEST = """
    import contextlib
    import os
    import tempfile
    import hypothesis.strategies as st
    from hypothesis.stateful import invariant, rule
    from ordeal import ChaosTest
    from ordeal.faults import timing
    import tilllib

    class TillChaos(ChaosTest):
        faults = [timing.timeout("tilllib.Bank.pay")]

        def __init__(self):
            super().__init__()
            self.till = tilllib.Till(tilllib.Bank())

        @rule(cents=st.integers(1, 9))
        def sell(self, cents):
            self.till.sell(cents)

        @invariant()
        def nothing_is_open(self):
            assert self.till.open == 0, "money is lost"

    class Odd:
        def __getattribute__(self, name):
            raise OSError("no")

        def __repr__(self):
            raise OSError("no")

        def __call__(self, cents):
            return tilllib.Till(tilllib.Bank()).sell(cents)

    class OddChaos(ChaosTest):
        def __init__(self):
            super().__init__()
            self.odd, self.till = Odd(), tilllib.Till(tilllib.Bank())

        @rule()
        def go(self):
            assert self.odd(1)
            self.till.sell(self.odd)

    class NamedAlike(ChaosTest):
        def __init__(self):
            super().__init__()
            self.tilllib = tilllib.Tilllib()

        @rule(units=st.integers(1, 9))
        def take(self, units):
            self.tilllib.take("tea", units)

        @invariant()
        def none_is_owed(self):
            assert all(units >= 0 for units in self.tilllib.units.values())

    class Keeps(ChaosTest):
        def __init__(self):
            super().__init__()
            self.folder = tempfile.mkdtemp()
            self.till = tilllib.Till(f"{self.folder}/bank")

        @rule()
        def sell(self):
            with contextlib.suppress(AttributeError):
                self.till.sell(3)
            assert self.till.open == 0

    class Writes(ChaosTest):
        def __init__(self):
            super().__init__()
            self.path = os.path.join(tempfile.mkdtemp(), "book")

        @rule(cents=st.integers(1, 9))
        def damage(self, cents):
            with open(self.path, "a") as file:
                file.write(f"{cents} c\\n")

        @rule()
        def look(self):
            if os.path.exists(self.path):
                tilllib.booked(self.path)

    class Ends(ChaosTest):
        @rule()
        def go(self):
            os._exit(3) if "__ordeal_recorder__" in globals() else tilllib.Till(None).sell(1)
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("tilllib.py").write_text(dedent(LIBRARY), "utf-8")
    Path("test_till.py").write_text(dedent(TEST), "utf-8")


def trace_of(name: str) -> Trace:
    machines: Any = importlib.import_module("test_till")
    try:
        (failure,) = Explorer(getattr(machines, name), target_modules=["tilllib"]).run(max_runs=50).failures
    finally:
        for module in ("test_till", "tilllib"):
            del sys.modules[module]
    assert failure.trace is not None
    return failure.trace


@pytest.mark.forks
def test_a_fault_becomes_the_exception_that_it_raised() -> None:
    text = plain(trace_of("TillChaos"))
    error = "TimeoutError('Simulated timeout after 30.0s in tilllib.Bank.pay')"
    assert text == (
        '"""AssertionError: money is lost"""\n\n'
        "from tilllib import Bank, Till\nfrom unittest import mock\n\n"
        "till = Till(Bank())\n"
        f"with mock.patch('tilllib.Bank.pay', side_effect={error}):\n"
        "    till.sell(1)\n"
        "assert till.open == 0, 'money is lost'\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=600)
    assert done.stderr.endswith("AssertionError: money is lost\n")


@pytest.mark.forks
def test_what_a_dict_of_the_program_holds_is_compared_and_no_variable_is_called_like_a_module() -> None:
    assert plain(trace_of("NamedAlike")) == (
        '"""AssertionError"""\n\nfrom tilllib import Tilllib\n\n'
        "tilllib_1 = Tilllib()\ntilllib_1.take('tea', 2)\nassert tilllib_1.units['tea'] >= 0\n"
    )


@pytest.mark.forks
def test_no_temporary_folder_of_the_run_is_named() -> None:
    text = plain(trace_of("Keeps"))
    assert "\nfolder_1 = mkdtemp()\n" in text
    assert "\ntill = Till((folder_1 + '/bank'))\n" in text
    assert tempfile.gettempdir() not in text


@pytest.mark.forks
def test_what_the_test_writes_into_its_folder_is_written_again() -> None:
    text = plain(trace_of("Writes"))
    assert "\nfolder_1 = mkdtemp()\n" in text
    assert ".write('1 c\\n')\n" in text
    assert text.endswith("\nbooked((folder_1 + '/book'))\n")
    assert "exists" not in text


def test_an_object_that_raises_at_every_look_is_a_reason() -> None:
    with pytest.raises(TraceError, match="no plain Python for the trace of run"):
        plain(trace_of("OddChaos"))


@pytest.mark.forks
def test_where_the_recording_process_ends_it_says_so() -> None:
    with pytest.raises(TraceError, match="it could not be recorded: its process ended without an answer"):
        plain(trace_of("Ends"))


@pytest.mark.forks
def test_what_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = trace_of("TillChaos")
    Path("tilllib.py").write_text("import time\ntime.sleep(600)\n", "utf-8")
    monkeypatch.setattr(reproduction, "SECONDS_MAX", 0.5)
    assert "its process ended without an answer" in reproduction.reproduce(trace).reason


def test_a_trace_that_passes_has_none() -> None:
    with pytest.raises(TraceError, match="the trace does not fail"):
        plain(Trace(1, 42, "test_till:TillChaos"))
