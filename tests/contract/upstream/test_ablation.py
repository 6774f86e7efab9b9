"""Weak points of the public project, turned round: which faults a failure needs."""

from __future__ import annotations

import pytest

from ordeal.trace import Trace, TraceStep, ablate_faults

from ..projects import Project, explore

pytestmark = pytest.mark.slow

FAULTS = {
    "till.py": """
        def first(): return True
        def second(): return True
        def third(): return True
        def unused(): return True
    """,
    "chaos.py": """
        import till
        from ordeal import ChaosTest, rule
        from ordeal.faults import io

        class AnyOfThree(ChaosTest):
            faults = [io.return_empty(f"till.{name}") for name in ("first", "second", "third", "unused")]

            @rule()
            def check(self):
                till.unused()
                if not (till.first() and till.second() and till.third()):
                    raise ValueError("a till gave nothing")

        class Always(ChaosTest):
            faults = [io.return_empty("till.first")]

            @rule()
            def check(self):
                till.first()
                raise ValueError("it is broken anyway")
    """,
}


def with_all_on(project: Project, class_path: str) -> Trace:
    """A failing trace that switches on every fault of the class, and then checks."""
    machine = project.load(class_path)
    (failure,) = explore(machine, runs=100).failures
    trace = failure.trace
    assert trace is not None
    (check,) = (step for step in trace.steps if step.name == "check")
    trace.steps = [*(TraceStep("fault_toggle", f"+{fault.name}") for fault in machine.faults), check]
    return trace


def test_finding_21_three_faults_that_each_suffice_are_all_found(project: Project) -> None:
    project.write(FAULTS)
    assert ablate_faults(with_all_on(project, "chaos:AnyOfThree")) == {
        "return_empty(first)": True,
        "return_empty(second)": True,
        "return_empty(third)": True,
        "return_empty(unused)": False,
    }


def test_finding_21_no_fault_is_called_needless_unless_it_fails_without_any(project: Project) -> None:
    project.write(FAULTS)
    for class_path, said in (
        ("chaos:AnyOfThree", "Necessary faults: return_empty(first), return_empty(second)"),
        ("chaos:Always", "Bug reproduces without any faults."),
    ):
        with_all_on(project, class_path).save(project.root / "trace.json")
        done = project.python("-m", "ordeal", "replay", "trace.json", "--ablate")
        assert done.returncode == 1
        assert said in done.stderr
        assert ("without any faults" in done.stderr) == (class_path == "chaos:Always")
