"""``ordeal seeds pull`` keeps what fails here, and leaves the rest in the store."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tests.unit.cli.conftest import Run

from ordeal._base.trace_file import TraceFailure, TraceStep
from ordeal.store import FailureReport, Outgoing, open_store
from ordeal.trace import Trace

MACHINE = """\
    from hypothesis.stateful import RuleBasedStateMachine, rule

    class Cup(RuleBasedStateMachine):
        @rule()
        def drop(self):
            raise KeyError("gone")

        @rule()
        def hold(self):
            pass
    """


def test_what_fails_here_becomes_a_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("pulled_cups.py").write_text(dedent(MACHINE), encoding="utf-8")
    with open_store("dir://shared", "code") as store:
        store.join()
        for test_class, step in (("pulled_cups:Cup", "drop"), ("pulled_cups:Cup", "hold"), ("os:Cup", "drop")):
            trace = Trace(7, 42, test_class, steps=[TraceStep("rule", step)])
            trace.failure = TraceFailure("KeyError", "'gone'", 1, "b")
            store.sync(Outgoing(failures=(FailureReport(f"{test_class} {step}", trace.to_json(), 1, 1),)))
    monkeypatch.setenv("ORDEAL_STORE", "dir://shared")
    monkeypatch.setattr("ordeal.cli.fleet.pull.LIMIT_SECONDS", 300.0)
    code, _, err = run("seeds", "pull", "pulled_cups:Cup")
    assert code == 1
    assert "1 new seed in .ordeal/seeds/, 1 not kept, as it does not fail here." in err
    assert "another class was refused: os:Cup" in err
    assert len(list(Path(".ordeal/seeds/Cup").iterdir())) == 1
    assert "1 known" in run("seeds", "pull", "dir://shared", "pulled_cups:Cup")[2]
    assert [run("seeds", *words)[0] for words in (["push"], ["pull"], ["pull", "--watch"])] == [2, 2, 2]
