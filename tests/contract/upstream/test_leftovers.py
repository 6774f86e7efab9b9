"""Weak points of the public project, turned round: what runs leave behind passes for no failure of the machine."""

from __future__ import annotations

import json

import pytest

from ..projects import Project

pytestmark = pytest.mark.slow

LEFTOVERS = {
    "registry.py": """
        NAMES = {}

        def add(name):
            if name in NAMES:
                raise KeyError(f"{name} is there already")
            NAMES[name] = len(NAMES)

        def check(total):
            if total > 12:
                raise ValueError("too much")
    """,
    "chaos.py": """
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, rule

        import registry

        class LeakingMachine(RuleBasedStateMachine):
            def __init__(self):
                super().__init__()
                self.total = self.added = 0

            @rule()
            def add(self):
                self.added += 1
                registry.add(f"name {self.added}")

            @rule(by=st.integers(0, 9))
            def pay(self, by):
                self.total += by
                registry.check(self.total)
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["registry"]
        max_runs = 30
        [[tests]]
        class = "chaos:LeakingMachine"
    """,
}
LEFTOVER_LINE = (
    "      Flaky: did not fail in a fresh process: something outside the machine (a module global, a file) is left over"
)


def test_finding_13_a_failure_that_leaked_state_makes_each_time_is_found_out_by_a_fresh_process(
    project: Project,
) -> None:
    project.write(LEFTOVERS)
    done = project.explore("--json")
    assert done.returncode == 1
    failures = {failure["error_type"]: failure for failure in json.loads(done.stdout)["results"][0]["failures"]}
    leaked, true = failures["KeyError"], failures["ValueError"]
    assert (leaked["flaky"], leaked["seed_path"]) == (True, None)
    assert leaked["count"] > 1
    assert (project.root / leaked["trace_path"]).is_file()
    assert (true["flaky"], true["flaky_reason"]) == (False, "")
    seeds = [path.relative_to(project.root).as_posix() for path in project.root.glob(".ordeal/seeds/*/*")]
    assert seeds == [true["seed_path"]]
    text = project.explore("--no-seeds")
    assert [line.startswith(LEFTOVER_LINE) for line in text.stdout.splitlines() if "Flaky:" in line] == [True]


@pytest.mark.nightly
def test_finding_13_the_same_seed_gives_the_same_report_with_a_fresh_process(project: Project) -> None:
    project.write(LEFTOVERS)
    first, second = (json.loads(project.explore("--json", "--no-seeds").stdout) for _ in range(2))
    for report in (first, second):
        for result in report["results"]:
            del result["timing"]
    assert first == second
    without = json.loads(project.explore("--json", "--no-seeds", "--no-confirm-fresh").stdout)
    (result,), (other,) = first["results"], without["results"]
    assert [failure["flaky"] for failure in other["failures"]] == [False] * len(result["failures"])
    assert [other[key] for key in ("total_steps", "unique_edges")] == [
        result[key] for key in ("total_steps", "unique_edges")
    ]


def test_finding_13_a_class_of_the_script_that_runs_is_explored_without_a_fresh_process(project: Project) -> None:
    project.write(
        {
            "script.py": """
                import subprocess
                from hypothesis.stateful import RuleBasedStateMachine, rule
                from ordeal import Explorer

                class Machine(RuleBasedStateMachine):
                    @rule()
                    def go(self):
                        raise ValueError

                del subprocess.Popen
                result = Explorer(Machine, workers=1).run(max_runs=5, confirm_fresh=True)
                print([failure.flaky for failure in result.failures], result.notes)
            """
        }
    )
    done = project.python("script.py")
    assert (done.stdout, done.stderr) == ("[False] ()\n", "")
