"""What members found is confirmed, shrunk and saved at home while they go on."""

from __future__ import annotations

import io
import json
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._base.trace_file import TraceFailure, TraceStep
from ordeal._engine.execution.class_path import load_class
from ordeal._engine.parallel.fleet.plan import MemberTask
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.cli.fleet.home import _Home
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


@pytest.mark.forks
def test_a_failure_comes_home_once_and_shrunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("home_cups.py").write_text(dedent(MACHINE), encoding="utf-8")
    trace = Trace(7, 42, "home_cups:Cup", steps=[TraceStep("rule", name) for name in ("hold", "hold", "drop")])
    trace.failure = TraceFailure("KeyError", "'gone'", 3, "met there")
    run = {"steps_per_run": 1, "shrink": True, "max_shrink_time": 5.0, "patience": 0}
    task = MemberTask(fleet="f", test_class="home_cups:Cup", seconds=60.0, path=(), run=run)
    stream = io.StringIO()
    with open_store("dir://shared", "code") as member, open_store("dir://shared", "code") as store:
        assert member.join() == 0
        member.sync(Outgoing(failures=(FailureReport("met there", trace.to_json(), 3, 5, shrunk=False),)))
        home = _Home(task, store, load_class("home_cups:Cup"), SeedCorpus("seeds"))
        home.take(stream)
        home.take(stream)
        assert not member.lease("met there", 1.0)
        reports = {(report.steps, report.shrunk) for report in member.failures() if report.bucket != "met there"}
    (told,) = map(json.loads, stream.getvalue().splitlines())
    assert (told["error"], told["steps"]) == ("KeyError: 'gone'", 1)
    (seed,) = Path("seeds").rglob("seed-*.json")
    assert [step.name for step in Trace.load(seed).taken_steps()] == ["drop"]
    assert reports == {(1, True)}
