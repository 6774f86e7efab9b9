"""Weak points of the public project, turned round: what is covered, what is a gap, and where gaps lead."""

from __future__ import annotations

import json

import pytest

from ..projects import Project, explore

pytestmark = pytest.mark.slow

DECOYS = [f"decoy{number}" for number in range(9)]


def swarm_project(branch: str) -> dict[str, str]:
    """Ten rules, one of which calls a module of its own; ``branch`` stands in its function."""
    decoys = "\n".join(
        f'    @rule()\n    def {name}(self):\n        self.called.append("{name}")\n        near.work(1)\n'
        for name in DECOYS
    )
    return {
        "plant/__init__.py": "",
        "plant/near.py": "def work(number):\n    return number\n",
        "plant/far.py": f"def work(number):\n    {branch}\n    return number\n",
        "checks/__init__.py": "",
        "checks/chaos.py": (
            "from hypothesis.stateful import RuleBasedStateMachine, rule\n\n"
            "from plant import far, near\n\n\n"
            "class PlantMachine(RuleBasedStateMachine):\n"
            "    runs = []\n\n"
            "    def __init__(self):\n        super().__init__()\n        self.called = []\n\n"
            f"{decoys}\n"
            '    @rule()\n    def reach(self):\n        self.called.append("reach")\n        far.work(1)\n\n'
            "    def teardown(self):\n        self.runs.append(self.called)\n"
        ),
    }


def lead_of_the_far_rule(project: Project) -> float:
    """How much more often the rule with a module of its own is active in a run than the others are on average.

    In a run of 50 steps a rule that is active is called, but for one case in 200. Over these runs the lead spreads by
    about 0.02 around its mean, which is 0.12 when gaps steer and 0 when they do not.
    """
    machine = project.load("checks.chaos:PlantMachine")
    for seed in range(1, 5):
        explore(
            machine, runs=2500, steps=100, seed=seed, target_modules=["plant"], rule_swarm=True, checkpoint_prob=0.0
        )
    long_runs = [set(called) for called in machine.runs if len(called) >= 50]
    assert len(long_runs) > 4000
    share = {name: sum(name in called for called in long_runs) / len(long_runs) for name in (*DECOYS, "reach")}
    return share["reach"] - sum(share[name] for name in DECOYS) / len(DECOYS)


def test_finding_14_a_gap_steers_the_swarm_to_the_rules_that_come_near_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The public project compared absolute paths with paths below the current folder, so be in the project.
    monkeypatch.chdir(project.root)
    project.write(swarm_project("if number > 99:\n        raise ValueError(number)"))
    assert lead_of_the_far_rule(project) > 0.06


@pytest.mark.nightly
def test_finding_14_without_gaps_no_rule_is_preferred(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    project.write(swarm_project("number += 0"))
    assert abs(lead_of_the_far_rule(project)) < 0.06


DEPOT = {
    # No __init__.py at the top nor in `far`: namespace packages.
    "depot/near.py": """
        LIMIT = 3

        def work(number):
            if number > LIMIT:
                return "much"
            return "little"
    """,
    "depot/far/unused.py": """
        def audit(rows):
            for row in rows:
                print(row)
    """,
    "depot/optional.py": """
        import a_package_that_is_not_installed

        def send(text):
            if not text:
                raise ValueError('say "something"')
    """,
    "depot/crashing.py": """
        raise RuntimeError("not to be imported")
    """,
    "depot/template.py": "def half(:\n",
    "depot/not-a-module/script.py": "if True:\n    pass\n",
    "chaos.py": """
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, rule

        from depot import near

        class DepotMachine(RuleBasedStateMachine):
            @rule(number=st.integers(0, 9))
            def work(self, number):
                near.work(number)
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["depot"]
        max_runs = 30
        workers = 1
        [[tests]]
        class = "chaos:DepotMachine"
    """,
}


def test_finding_15_paths_are_relative_to_the_folder_that_the_command_runs_in(project: Project) -> None:
    project.write(DEPOT)
    done = project.explore("--json")
    assert done.returncode == 0, done.stderr
    behavior = json.loads(done.stdout)["results"][0]["telemetry"]["behavior"]
    assert [gap["file"] for gap in behavior["coverage_gaps"]] == [
        "depot/crashing.py",
        "depot/far/unused.py",
        "depot/optional.py",
        "depot/optional.py",
    ]
    text = project.explore().stdout
    assert "Line coverage: 5/13 (38%)" in text
    assert "Not reached in 30 runs: 4 branch(es) in target modules" in text
    (suggestion,) = [line for line in text.splitlines() if "say" in line and "add: " in line]
    labels: list[str] = []
    eval(suggestion.partition("add: ")[2], {"reachable": labels.append})
    assert labels == ["depot/optional.py:6: raise ValueError('say \"something\"')"]
