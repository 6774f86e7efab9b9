"""``ordeal replay``: its outcomes, words and exit codes."""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import pdb
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from types import TracebackType
from typing import Any

import pytest

from ordeal.cli.replay import post_mortem
from ordeal.explore import Explorer
from ordeal.trace import Trace

from .conftest import Run, edit

MACHINES = """\
    import hypothesis.strategies as st
    from hypothesis import assume
    from hypothesis.stateful import Bundle, rule
    from ordeal import ChaosTest
    from ordeal.faults import LambdaFault

    LIMIT, ERROR, NEEDED = 9, ValueError, {"heat(1)"}

    class Jar(ChaosTest):
        faults = [LambdaFault(name, int, int) for name in ("heat(1)", "cold(2)")]
        coins = Bundle("coins")

        def __init__(self):
            super().__init__()
            self.total = 0

        @rule(target=coins, by=st.integers(0, 5))
        def add(self, by):
            print("talk")
            self.total += by
            if self.total > LIMIT and NEEDED <= {fault.name for fault in self.active_faults}:
                raise ERROR(f"{self.total} broke it \\x1b[2J")
            return by

        @rule(coin=coins, data=st.data())
        def look(self, coin, data):
            data.draw(st.integers(0, 3))
    """


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES), encoding="utf-8")


@pytest.fixture
def trace(capsys: pytest.CaptureFixture[str]) -> Trace:
    """A failing trace, not shrunk, saved as trace.json."""
    machines: Any = importlib.import_module("machines")
    (failure,) = Explorer(machines.Jar).run(max_runs=1, shrink=False).failures
    assert failure.trace is not None
    failure.trace.save("trace.json")
    capsys.readouterr()
    return failure.trace


def test_a_failure_that_comes_again_is_a_finding(run: Run, trace: Trace) -> None:
    code, out, err = run("replay", "trace.json")
    assert (code, out) == (1, "")
    assert trace.failure is not None
    message = trace.failure.error_message.replace("\x1b", "\\x1b")
    header = f"Replaying machines:Jar (run {trace.run_id}, {len(trace.steps)} steps)...\n"
    assert err.startswith(header)
    assert err.endswith(f"talk\nFailure reproduced: ValueError: {message}\n  At: machines.py:22 in Jar.add (rule)\n")


def test_the_line_of_a_trace_runs_without_a_file(run: Run, trace: Trace) -> None:
    code, _, err = run("replay", trace.to_line())
    assert (code, "Failure reproduced: ValueError: " in err, "Note: " in err) == (1, True, False)
    code, _, err = run("replay", trace.to_line()[:-9])
    assert (code, err.startswith("error: the line of a trace is damaged: ")) == (2, True)


def test_a_fixed_bug_is_no_finding(run: Run, trace: Trace) -> None:
    edit(LIMIT=10**6)
    code, _, err = run("replay", "trace.json")
    assert code == 0
    assert "Failure did not reproduce.\n  recorded: ValueError: " in err


def test_another_failure_is_a_finding_with_both_errors(run: Run, trace: Trace) -> None:
    edit(ERROR=KeyError)
    code, _, err = run("replay", "trace.json", "--shrink", "--ablate")
    assert code == 1
    assert "The trace fails differently now:\n  recorded: ValueError: " in err
    assert "\n  now: KeyError: " in err
    assert err.endswith("Neither shrunk nor ablated: the trace has to fail as recorded.\n")


def test_a_trace_of_a_class_that_changed_names_what_is_gone(run: Run, trace: Trace) -> None:
    trace.steps[-1].name = "put"
    trace.save("trace.json")
    code, out, err = run("replay", "trace.json")
    assert (code, out) == (2, "")
    assert (
        "error: the trace no longer applies to machines:Jar: it has no rule 'put'\n\nhint: it has: look, add\n" in err
    )
    code, out, again = run("replay", "trace.json", "--json")
    document = json.loads(out)
    assert (code, again) == (2, err)
    assert document["status"] == "no_longer_applies"
    assert document["reason"] == "the trace no longer applies to machines:Jar: it has no rule 'put'"
    assert document["recorded_error"].startswith("ValueError: ")


def test_target_modules_that_changed_are_mentioned(run: Run, trace: Trace) -> None:
    digest = hashlib.sha256(Path("machines.py").read_bytes()).hexdigest()
    replace(trace, targets={"machines": digest, "gone": digest}).save("trace.json")
    _, out, err = run("replay", "trace.json", "--json")
    assert err.endswith("Note: since the trace was recorded these changed: gone\n")
    assert json.loads(out)["changed_modules"] == ["gone"]


# --pdb


def test_the_debugger_opens_where_the_users_code_failed(
    run: Run, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("p self.total, by\nw\nup\nq\n"))
    code, out, err = run("replay", "trace.json", "--pdb")
    assert code == 1
    assert "Failure reproduced" in err
    assert "machines.py(22)add()\n-> raise ERROR" in out
    assert trace.failure is not None
    total = trace.failure.error_message.split()[0]
    assert f"(Pdb) ({total}, " in out
    assert "ordeal/driver.py" not in out
    assert "*** Oldest frame" in out


@pytest.mark.parametrize("rules", ["LIMIT=10**6", ""])
def test_without_a_failure_or_commands_there_is_nothing_to_debug(
    run: Run, trace: Trace, monkeypatch: pytest.MonkeyPatch, rules: str
) -> None:
    if rules:
        edit(LIMIT=10**6)
    else:
        monkeypatch.setattr("sys.stdin", None)
    code, out, err = run("replay", "trace.json", "--pdb")
    assert (code, out) == (0 if rules else 1, "")
    assert err.endswith("Not debugged: stdin is closed.\n") is not bool(rules)


def test_choices_that_fit_no_longer_are_mentioned(run: Run, trace: Trace) -> None:
    trace.steps[-1].choices["by"] = [77]
    trace.save("trace.json")
    _, _, err = run("replay", "trace.json")
    assert err.endswith(
        "Note: replaced 1 recorded choice that did not fit the strategies\n"
        f"Note: step {len(trace.steps)} ran as add(by=5), the trace has add(by=4)\n"
    )


def test_verbose_shows_each_step_with_arguments_results_and_draws(run: Run, trace: Trace) -> None:
    code, _, err = run("replay", "trace.json", "-v")
    assert code == 1
    lines = [line for line in err.splitlines() if line.lstrip()[:1].isdigit()]
    assert len(lines) == len(trace.steps)
    assert any(line.endswith("activate fault: heat(1)") for line in lines)
    assert any(". add(by=" in line and " -> coins_0 = " in line for line in lines)
    assert "Traceback (most recent call last):\n" in err
    assert ', in add\n    raise ERROR(f"' in err


def test_shrinking_and_ablating(run: Run, trace: Trace) -> None:
    code, out, err = run("replay", "trace.json", "--shrink", "--ablate", "-o", "small.json.zst")
    assert (code, out) == (1, "")
    small = Trace.load("small.json.zst")
    assert len(small.steps) < len(trace.steps)
    assert "Shrinking...\n" in err
    assert f"Shrunk to {len(small.taken_steps())} steps (from {len(trace.taken_steps())})\n" in err
    assert "\n  state = Jar()\n" in err
    assert "Saved: small.json.zst\nAblating faults...\n" in err
    assert err.endswith("Necessary faults: heat\n")
    assert run("replay", "small.json.zst")[0] == 1


def test_faults_that_are_not_needed(run: Run, trace: Trace) -> None:
    edit(NEEDED=set())
    _, _, err = run("replay", "trace.json", "--ablate")
    assert "Ablating faults...\n" in err
    assert "\nBug reproduces without any faults.\nUnnecessary faults: " in err
    replace(trace, steps=[step for step in trace.steps if step.kind == "rule"]).save("calm.json")
    _, _, err = run("replay", "calm.json", "--ablate")
    assert err.endswith("No fault toggles in trace.\n")


def test_json_holds_the_outcome(run: Run, trace: Trace) -> None:
    code, out, _ = run("replay", "trace.json", "--json", "--shrink", "--ablate", "-o", "small.json")
    document = json.loads(out)
    assert code == 1
    assert {key: document[key] for key in ("tool", "test_class", "trace_path", "status", "run_id", "rng_seed")} == {
        "tool": "replay",
        "test_class": "machines:Jar",
        "trace_path": "trace.json",
        "status": "reproduced",
        "run_id": trace.run_id,
        "rng_seed": 42,
    }
    assert document["error_type"] == "ValueError"
    assert document["recorded_error"] == f"ValueError: {document['error_message']}"
    assert document["trace_steps"] == len(document["steps"]) == len(trace.steps)
    assert document["shrunk_path"] == "small.json"
    assert document["shrunk_steps"] == len(Trace.load("small.json").steps)
    assert document["necessary_faults"] == {"heat": True}


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["truncated.json"], "truncated.json is not JSON that can be read: ", "name a trace"),
        (["gone.json"], "cannot read trace gone.json: No such file or directory", "name a file of the traces"),
        (["machines.py"], "machines.py is not JSON", "name a trace"),
        ([], "no failure is saved here", "`ordeal explore` saves those that it finds"),
        (["0123"], "no saved failure has the id `0123`", "nothing is saved here"),
        (["trace.json", "--plain", "-", "--json"], "`--plain -` and `--json` both write to stdout", "write `--plain F"),
        (["trace.json", "--pdb", "--json"], "`--pdb` and `--json` both write to stdout", "drop one of them"),
        (["trace.json", "-o", "x.json"], "`-o` saves the shrunk trace, and nothing is shrunk", "add `--shrink`"),
        (["trace.json", "--shrnk"], "no option named `--shrnk`", "did you mean `--shrink`?"),
    ],
)
def test_wrong_use(run: Run, arguments: list[str], error: str, hint: str | None) -> None:
    Path("truncated.json").write_bytes(Trace(1, 42, "elsewhere:Machine").to_json()[:-40])
    code, out, err = run("replay", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {error}")
    assert (f"hint: {hint}" in err) is (hint is not None)
    assert "Traceback" not in err


def test_a_trace_of_another_project_names_what_is_missing(run: Run) -> None:
    Trace(1, 42, "elsewhere:Machine").save("foreign.json")
    code, out, err = run("replay", "foreign.json")
    assert (code, out) == (2, "")
    assert "\nerror: no module named `elsewhere`\n\nhint: run `ordeal` in the folder that holds the package" in err
    Trace(1, 42, "machines:Lid").save("foreign.json")
    assert "\nerror: `machines` has no `Lid`\n\nhint: " in run("replay", "foreign.json")[2]
    Trace(1, 42, "machines:LIMIT").save("foreign.json")
    assert "\nerror: `machines:LIMIT` is of type int, not a rule machine\n" in run("replay", "foreign.json")[2]


def test_a_trace_that_cannot_be_saved_is_an_error(run: Run, trace: Trace) -> None:
    Path("file").write_text("")
    code, _, err = run("replay", "trace.json", "--shrink", "-o", "file/small.json")
    assert code == 2
    assert "error: cannot write trace file/small.json: " in err


def run_in(module: str, body: str, **names: Any) -> Any:
    """A function ``f`` of the module ``module``, made from the lines of ``body``."""
    namespace: dict[str, Any] = {"__name__": module, **names}
    exec(f"def f():\n    {body}\n", namespace)
    return namespace["f"]


def opened_at(call: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules of the frames that the debugger is shown for what ``call`` raises, outermost first."""
    shown: list[TracebackType | None] = []
    monkeypatch.setattr(pdb, "post_mortem", shown.append)
    try:
        call()
    except ZeroDivisionError as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        post_mortem(error)
    (tb,) = shown
    modules = []
    while tb is not None:
        modules.append(tb.tb_frame.f_globals["__name__"])
        tb = tb.tb_next
    return modules


def test_frames_of_what_ran_the_code_are_left_out_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = run_in("hypothesis.core", "1 / 0")
    own = run_in("shop.till", "g()", g=inside)
    between = run_in("ordeal.chaos", "g()", g=own)
    outer = run_in("shop", "g()", g=between)
    engine = run_in("ordeal._engine.execution.driver", "g()", g=outer)
    assert opened_at(engine, monkeypatch) == ["shop", "ordeal.chaos", "shop.till"]
