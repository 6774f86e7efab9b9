"""``ordeal replay``: its outcomes, words and exit codes."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from ordeal.explore import Explorer
from ordeal.trace import Trace

from .conftest import Run

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
    (failure,) = Explorer(machines.Jar).run(max_runs=100, shrink=False).failures
    assert failure.trace is not None
    failure.trace.save("trace.json")
    capsys.readouterr()
    return failure.trace


def edit(**settings: Any) -> None:
    """Change the code under test."""
    machines: Any = importlib.import_module("machines")
    for name, value in settings.items():
        setattr(machines, name, value)


def test_a_failure_that_comes_again_is_a_finding(run: Run, trace: Trace) -> None:
    code, out, err = run("replay", "trace.json")
    assert (code, out) == (1, "")
    assert trace.failure is not None
    message = trace.failure.error_message.replace("\x1b", "\\x1b")
    header = f"Replaying machines:Jar (run {trace.run_id}, {len(trace.steps)} steps)...\n"
    assert err.startswith(header)
    assert err.endswith(f"talk\nFailure reproduced: ValueError: {message}\n")


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


def test_a_passing_trace_passes(run: Run, trace: Trace) -> None:
    replace(trace, steps=[], failure=None).save("path.json")
    code, _, err = run("replay", "path.json")
    assert code == 0
    assert err.endswith("(run 1, 0 steps)...\nNo failure, as recorded.\n")


def test_a_trace_of_a_class_that_changed_names_what_is_gone(run: Run, trace: Trace) -> None:
    trace.steps[-1].name = "put"
    trace.save("trace.json")
    code, out, err = run("replay", "trace.json", "--json")
    assert (code, out) == (2, "")
    assert (
        "error: the trace no longer applies to machines:Jar: it has no rule 'put'\n\nhint: it has: look, add\n" in err
    )


def test_choices_that_fit_no_longer_are_mentioned(run: Run, trace: Trace) -> None:
    trace.steps[-1].choices["by"] = [77]
    trace.save("trace.json")
    _, _, err = run("replay", "trace.json")
    assert err.endswith("Note: 1 recorded choice fit the strategies no longer; others took their place\n")


def test_verbose_shows_each_step_with_arguments_results_and_draws(run: Run, trace: Trace) -> None:
    code, _, err = run("replay", "trace.json", "-v")
    assert code == 1
    lines = [line for line in err.splitlines() if line.lstrip()[:1].isdigit()]
    assert len(lines) == len(trace.steps)
    assert any(line.endswith("activate fault: heat(1)") for line in lines)
    assert any(". add(by=" in line and " -> coins_0 = " in line for line in lines)
    assert "Traceback (most recent call last):\n" in err
    assert ', in add\n    raise ERROR(f"' in err


def test_verbose_shows_what_was_drawn_inside_a_rule(run: Run, trace: Trace) -> None:
    steps = [step for step in trace.steps if step.name == "add"][:1]
    look = next(step for step in trace.steps if step.name == "look")
    look.choices = {"coin": [0], "(body)": [3]}
    replace(trace, steps=[*steps, look]).save("look.json")
    _, _, err = run("replay", "look.json", "-v")
    assert "  2. look(coin=coins_0, data=data(...))  # draws: 3\n" in err


def test_shrinking_and_ablating(run: Run, trace: Trace) -> None:
    code, out, err = run("replay", "trace.json", "--shrink", "--ablate", "-o", "small.json.zst")
    assert (code, out) == (1, "")
    small = Trace.load("small.json.zst")
    assert len(small.steps) < len(trace.steps)
    assert "Shrinking...\n" in err
    assert f"Shrunk to {len(small.steps)} steps (from {len(trace.steps)})\n  state = Jar()\n" in err
    assert "Saved: small.json.zst\nAblating faults...\n" in err
    assert err.endswith("Necessary faults: heat(1)\n")
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
    assert document["necessary_faults"] == {"heat(1)": True}


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["gone.json"], "cannot read trace gone.json: No such file or directory", None),
        (["machines.py"], "machines.py is not JSON", None),
        ([], "missing argument 'TRACE'", "`ordeal replay --help` lists the options"),
        (["trace.json", "-o", "x.json"], "`-o` saves the shrunk trace, and nothing is shrunk", "add `--shrink`"),
        (["trace.json", "--shrnk"], "no option named `--shrnk`", "did you mean `--shrink`?"),
    ],
)
def test_wrong_use(run: Run, arguments: list[str], error: str, hint: str | None) -> None:
    code, out, err = run("replay", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {error}")
    assert (f"hint: {hint}" in err) is (hint is not None)


def test_a_trace_that_cannot_be_saved_is_an_error(run: Run, trace: Trace) -> None:
    Path("file").write_text("")
    code, _, err = run("replay", "trace.json", "--shrink", "-o", "file/small.json")
    assert code == 2
    assert "error: cannot write trace file/small.json: " in err


def test_help_has_one_line_for_each_option(run: Run) -> None:
    code, out, err = run("replay", "--help")
    assert (code, err) == (0, "")
    options = out.split("Options:\n")[1].split("\n\n")[0].splitlines()
    assert all(line.startswith("  -") for line in options)
    assert [line for line in options if "(default: " not in line] == [
        "  -h, --help         Show this message and exit."
    ]
