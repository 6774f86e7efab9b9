"""`ordeal view`: the page of a saved failure, by its id or its file, and what is not a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
from ordeal.result.failure import failure_id

from .conftest import Run

MACHINE = """
from hypothesis.stateful import RuleBasedStateMachine, rule

class Lamp(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.lit = False

    @rule()
    def press(self):
        self.lit = not self.lit
        assert self.lit, "the lamp is out"
"""
BUCKET = "AssertionError in Lamp.press"


def trace(**changes: object) -> Trace:
    made = Trace(1, 42, "lamps:Lamp")
    made.steps = [TraceStep(kind="rule", name="press"), TraceStep(kind="rule", name="press")]
    made.failure = TraceFailure("AssertionError", "the lamp is out", 2, BUCKET)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamps.py").write_text(MACHINE)


@pytest.mark.slow
def test_a_failure_gets_its_page_by_id(run: Run) -> None:
    Path(".ordeal/traces").mkdir(parents=True)
    trace().save(".ordeal/traces/fail-run-1.json")
    name = failure_id(BUCKET)
    assert run("view", name[:6]) == (
        0,
        f".ordeal/report/failure-{name}.html\n",
        "Recording each step, and why it fails...\n",
    )
    page = Path(f".ordeal/report/failure-{name}.html").read_text("utf-8")
    for text in (
        "AssertionError: the lamp is out",
        "lamps:Lamp",
        "<dt>At</dt><dd><code>lamps.py:12</code> <small>in Lamp.press (rule)</small>",
        "<td>lit</td>",
    ):
        assert text in page


def test_a_function_that_only_the_file_names_is_not_called(run: Run) -> None:
    with Path("lamps.py").open("a") as file:
        file.write("\ndef leave_a_mark():\n    open('mark', 'w').close()\n")
    trace(test_class="lamps:leave_a_mark").save("stranger.json")
    assert run("view", "stranger.json", "-o", "page.html")[0] == 0
    assert not Path("mark").exists()
    assert "is a function, which ordeal calls only if your settings name it" in Path("page.html").read_text("utf-8")


def test_a_page_of_ordeal_is_replaced_and_another_file_is_not(run: Run) -> None:
    trace().save("failure.json")
    Path("page.html").write_text("<p>mine</p>")
    code, _, err = run("view", "failure.json", "-o", "page.html")
    assert (code, err.splitlines()[0]) == (2, "error: `-o` would replace page.html, which ordeal did not write")
    assert run("view", "failure.json", "-o", "page.html", "--on-exists", "number")[:2] == (0, "page-2.html\n")
    assert run("view", "failure.json", "-o", "page-2.html")[0] == 0
    assert run("view", "failure.json", "-o", "page-2.html", "--on-exists", "fail")[0] == 2
    assert run("view", "failure.json", "-o", "page.html", "--force")[:2] == (0, "page.html\n")


def test_a_trace_that_does_not_fail_is_refused(run: Run) -> None:
    trace(failure=None).save("fine.json")
    assert run("view", "fine.json") == (
        2,
        "",
        "error: the trace fine.json does not fail\n\nhint: name a failure: `ordeal replay` runs any trace\n",
    )


def test_nothing_saved_is_said(run: Run) -> None:
    code, _, err = run("view")
    assert (code, err.partition("\n")[0]) == (2, "error: no failure is saved here")
