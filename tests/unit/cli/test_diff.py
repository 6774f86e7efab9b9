"""``ordeal diff``: where two saved failures part, and what cannot be compared."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._base.trace_file import Trace
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult

from .conftest import Run

MACHINE = """
    import os
    from hypothesis import strategies as st
    from ordeal import ChaosTest, rule

    class Parted(ChaosTest):
        total = 0

        @rule(by=st.integers(0, 10))
        def add(self, by):
            self.total += by
            assert self.total < 30, "too much"

        @rule()
        def halve(self):
            self.total //= 2
            if self.total > 12:
                raise KeyError(self.total)

    def leave_a_mark():
        open("mark", "w").close()

    class Leaving(ChaosTest):
        @rule(code=st.integers(1, 100))
        def leave(self, code):
            os._exit(7)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the machines, and a trace of each failure."""
    folder = tmp_path_factory.mktemp("parted")
    (folder / "parted_machine.py").write_text(dedent(MACHINE))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        machines = importlib.import_module("parted_machine")
        save(Explorer(machines.Parted, seed=1).run(max_runs=300), folder)
    replace(Trace.load(folder / "KeyError.json"), test_class="parted_machine:Leaving").save(folder / "other.json")
    return folder


def save(result: ExplorationResult, folder: Path) -> None:
    for failure in result.failures:
        assert failure.trace is not None
        failure.trace.save(folder / f"{type(failure.error).__name__}.json")


@pytest.fixture(autouse=True)
def _there(found: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(found)
    monkeypatch.syspath_prepend(str(found))


def test_what_two_failures_have_in_common_is_shown_and_then_both_ends(run: Run) -> None:
    trace = Trace.load("AssertionError.json")
    replace(trace, steps=trace.taken_steps()[:-1], failure=None).save("shorter.json")
    code, out, _ = run("diff", "AssertionError.json", "shorter.json")
    *common, last = [f"add(by={step.text['by']})" for step in trace.taken_steps()]
    assert code == 1
    assert "\n".join([f"The same until step {len(common) + 1}:", *(f"     {call}" for call in common)]) in out
    assert f"\n  A: {last}\n  B: the run has ended\n" in out
    assert "A ends with AssertionError: too much\n  Traceback" in out
    assert "in add\n" in out
    assert out.endswith("B ends with no failure\n")


def test_a_failure_is_equal_to_itself_and_both_errors_of_two_are_in_the_json(run: Run) -> None:
    code, out, _ = run("diff", "KeyError.json", "KeyError.json")
    assert code == 0
    assert "Both do the same in each step.\n\nBoth end with KeyError: " in out
    code, out, _ = run("diff", "KeyError.json", "AssertionError.json", "--json")
    said = json.loads(out)
    assert (code, said["tool"], said["test_class"]) == (1, "diff", "parted_machine:Parted")
    assert [each.partition(":")[0] for each in said["errors"]] == ["KeyError", "AssertionError"]
    assert said["step"] == len(said["common"]) + 1
    assert said["what"][0] != said["what"][1]
    assert [" in halve" in said["tracebacks"][0], "in add" in said["tracebacks"][1]] == [True, True]


@pytest.mark.supervised
def test_what_ends_its_process_is_compared_without_running_it(run: Run, found: Path) -> None:
    machine = importlib.import_module("parted_machine").Leaving
    save(Explorer(machine, workers=1, isolate=True).run(max_runs=3), found)
    code, out, _ = run("diff", "ProcessExitError.json", "ProcessExitError.json")
    assert code == 0
    assert "Both end with ProcessExitError" in out


def test_a_function_that_only_the_file_names_is_not_called(run: Run) -> None:
    trace = Trace.load("KeyError.json")
    replace(trace, test_class="parted_machine:leave_a_mark").save("stranger.json")
    code, out, err = run("diff", "stranger.json", "stranger.json")
    assert (code, out) == (2, "")
    assert "`parted_machine:leave_a_mark` is a function, which ordeal calls only if your settings name it" in err
    assert not Path("mark").exists()


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("KeyError.json", "other.json"), "error: the first is a run of `parted_machine:Parted`, and the second of"),
        (("KeyError.json", "no.json"), "error: cannot read trace no.json: "),
        (("KeyError.json", "parted_machine.py"), "error: "),
        (("KeyError.json",), "error: missing argument"),
    ],
)
def test_wrong_use(run: Run, names: tuple[str, ...], said: str) -> None:
    code, out, err = run("diff", *names)
    assert (code, out) == (2, "")
    assert said in err
    assert "hint: " in err
