"""Weak points of the public project, turned round: the command line repeats itself and obeys or refuses its file."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.warm_python import HASH_SEED

from ..projects import Project

pytestmark = pytest.mark.slow

QUEUE = {
    "queueing/__init__.py": "",
    "queueing/queue.py": """
        class Plain:
            pass

        class Queue:
            def __init__(self):
                self.items = []
                self.broken = False

            def put(self, key, weight):
                if self.broken and len(self.items) == 2:
                    raise ConnectionError(f"lost {key!r}")
                if weight > 0.75:
                    self.items.insert(0, key)
                else:
                    self.items.append(key)

            def take(self):
                if not self.items:
                    raise IndexError("take from an empty queue")
                return self.items.pop()

            def merge(self, table):
                for key in table:
                    if key in self.items and table[key]:
                        raise ValueError(f"{key!r} twice")
                    self.items.append(key)
    """,
    "chaos.py": """
        from hypothesis import strategies as st
        from ordeal import Bundle, ChaosTest, initialize, precondition, rule
        from ordeal.faults import LambdaFault

        from queueing import queue

        COLOURS = st.sampled_from(["red", "green", "blue"])

        class QueueChaos(ChaosTest):
            current = None
            keys = Bundle("keys")
            faults = [
                LambdaFault("broken link", lambda: QueueChaos.set_broken(True), lambda: QueueChaos.set_broken(False)),
                LambdaFault("slow link", lambda: None, lambda: None),
            ]

            @classmethod
            def set_broken(cls, broken):
                QueueChaos.broken = broken

            @initialize(size=st.integers(1, 9))
            def start(self, size):
                self.queue = queue.Queue()

            @rule(target=keys, key=st.text(max_size=3), weight=st.floats(0, 1))
            def put(self, key, weight):
                self.queue.broken = getattr(QueueChaos, "broken", False)
                self.queue.put(key, weight)
                return key

            @precondition(lambda self: len(self.queue.items) != 1)
            @rule()
            def take(self):
                self.queue.take()

            @rule(key=keys, data=st.data())
            def merge(self, key, data):
                table = data.draw(st.dictionaries(st.sampled_from(["alpha", "beta", key]), st.booleans(), max_size=3))
                self.queue.merge(table)

            # The text of a set follows the hash seed, that of a plain object its address.
            @rule(words=st.sets(COLOURS), nested=st.lists(st.frozensets(COLOURS), max_size=2))
            def look(self, words, nested):
                pass

            @rule(plain=st.builds(queue.Plain), call=st.sampled_from([queue.Queue.put, len]))
            def pass_on(self, plain, call):
                pass
    """,
}
SETTINGS = """
    [explorer]
    target_modules = ["queueing"]
    max_runs = 100
    max_time = 100
    workers = 1
    rule_swarm = {rule_swarm}
    [[tests]]
    class = "chaos:QueueChaos"
    steps_per_run = 20
    [report]
    format = "both"
    output = "out/report.json"
    traces = true
    traces_dir = "out/traces"
"""


def without_timing(value: Any) -> Any:
    """The document without what a clock measured."""
    if isinstance(value, dict):
        return {key: without_timing(item) for key, item in value.items() if key != "timing"}
    if isinstance(value, list):
        return [without_timing(item) for item in value]
    return value


def written(project: Project, *options: str, hash_seed: str = HASH_SEED) -> dict[str, str]:
    """All files that one exploration in a clean project writes, by path; only what a clock measured is taken out."""
    shutil.rmtree(project.root / ".ordeal", ignore_errors=True)
    shutil.rmtree(project.root / "out", ignore_errors=True)
    (project.root / "out").mkdir()
    done = project.explore(*options, hash_seed=hash_seed)
    assert done.returncode == 1, done.stderr
    return {
        re.sub(r"runs/[^/]+/", "runs/", str(path.relative_to(project.root))): json.dumps(
            without_timing(json.loads(path.read_text()))
        )
        for folder in ("out", ".ordeal")
        for path in sorted((project.root / folder).rglob("*.json"))
        if path.name != "status.json"
    }


@pytest.mark.nightly
@pytest.mark.parametrize("rule_swarm", ["false", "true"])
def test_finding_04_the_same_seed_writes_the_same_bytes_in_another_process_and_place(
    project: Project, rule_swarm: str
) -> None:
    settings = {"ordeal.toml": SETTINGS.format(rule_swarm=rule_swarm)}
    elsewhere = Project(project.root / "some/where/else")
    elsewhere.root.mkdir(parents=True)
    elsewhere.write(QUEUE | settings)
    second = written(elsewhere, "--seed", "42", hash_seed="31337")
    shutil.rmtree(project.root / "some")
    project.write(QUEUE | settings)
    first = written(project, "--seed", "42")
    assert list(first) == list(second)
    for name, text in first.items():
        assert second[name] == text, name
    report = json.loads(first["out/report.json"])["results"][0]
    assert {failure["error_type"] for failure in report["failures"]} == {"ConnectionError", "IndexError", "ValueError"}
    assert len([name for name in first if name.startswith("out/traces/")]) >= 3
    if rule_swarm == "false":
        assert written(project, "--seed", "43") != first, "another seed explores something else"


def test_finding_12_swarm_of_a_test_entry_has_an_effect(project: Project) -> None:
    project.write(QUEUE)
    settings = SETTINGS.format(rule_swarm="false").replace("max_runs = 100", "max_runs = 20")
    summaries = []
    for entry in (settings, settings.replace("steps_per_run = 20", "steps_per_run = 20\n    swarm = true")):
        project.write({"ordeal.toml": entry})
        report = json.loads(written(project, "--no-shrink", "--no-confirm-fresh")["out/report.json"])
        summaries.append(report["results"][0]["telemetry"]["swarm"]["summary"])
    assert summaries[0] == ""
    assert summaries[1] != ""


@pytest.mark.parametrize("section", ["explorer", "tests"])
def test_finding_12_a_rule_timeout_in_the_file_stops_a_rule_that_hangs(project: Project, section: str) -> None:
    lines = {"explorer": "", "tests": ""} | {section: "rule_timeout = 0.2"}
    project.write(
        {
            "stuck.py": """
                import time

                from ordeal import ChaosTest, rule

                class StuckChaos(ChaosTest):
                    rule_timeout = 50.0

                    @rule()
                    def wait(self):
                        time.sleep(30)
            """,
            "ordeal.toml": f"""
                [explorer]
                max_runs = 2
                max_time = 5
                workers = 1
                {lines["explorer"]}
                [[tests]]
                class = "stuck:StuckChaos"
                {lines["tests"]}
            """,
        }
    )
    done = project.explore("--no-shrink")
    assert done.returncode == 1, done.stderr
    assert "RuleTimeoutError" in done.stdout


GOOD = {
    "explorer": "max_runs = 3\nmax_time = 30\nworkers = 1",
    "tests": '[[tests]]\nclass = "small:SmallMachine"',
    "report": '[report]\nformat = "text"',
}


def toml(**parts: str) -> str:
    """A good file with some of its parts replaced."""
    chosen = GOOD | parts
    return f"[explorer]\n{chosen['explorer']}\n{chosen['tests']}\n{chosen['report']}\n"


# What is wrong with the file, and the words that the message must have.
WRONG_FILES = {
    "a time that is a text": (toml(explorer='max_time = "abc"'), ["max_time", "abc"]),
    "a negative time": (toml(explorer="max_time = -5"), ["max_time", "-5"]),
    "no runs": (toml(explorer="max_runs = 0"), ["max_runs", "0"]),
    "runs that are true": (toml(explorer="max_runs = true"), ["max_runs", "true"]),
    "a probability of seven": (toml(explorer="checkpoint_prob = 7.0"), ["checkpoint_prob", "7.0"]),
    "a negative probability": (toml(explorer="fault_toggle_prob = -0.1"), ["fault_toggle_prob", "-0.1"]),
    "a probability that is not a number": (toml(explorer="checkpoint_prob = nan"), ["checkpoint_prob", "nan"]),
    "a time without end": (toml(explorer="max_time = inf"), ["max_time", "inf"]),
    "no steps": (toml(explorer="steps_per_run = 0"), ["steps_per_run", "0"]),
    "no steps in an entry": (toml(tests=f"{GOOD['tests']}\nsteps_per_run = 0"), ["steps_per_run", "0"]),
    "negative workers": (toml(explorer="workers = -1"), ["workers", "-1"]),
    "an unknown strategy": (toml(explorer='checkpoint_strategy = "foo"'), ["checkpoint_strategy", "foo", "energy"]),
    "targets that are a text": (toml(explorer='target_modules = "small"'), ["target_modules", "small"]),
    "a target that does not exist": (toml(explorer='target_modules = ["smal"]'), ["smal"]),
    "an unknown key": (toml(explorer="max_tim = 3"), ["max_tim", "max_time"]),
    "an unknown section": (toml(report="[reports]\n"), ["reports", "report"]),
    "an unknown format": (toml(report='[report]\nformat = "xml"'), ["format", "xml", "json"]),
    "broken syntax": (toml(explorer="max_time = "), ["ordeal.toml"]),
    "no tests": (toml(tests=""), ["tests"]),
    "an entry without a class": (toml(tests="[[tests]]"), ["class"]),
    "a class without a colon": (toml(tests='[[tests]]\nclass = "small"'), ["class", "small", ":"]),
    "a module that does not exist": (toml(tests='[[tests]]\nclass = "smal:SmallMachine"'), ["smal"]),
    "a class that does not exist": (toml(tests='[[tests]]\nclass = "small:Machine"'), ["small", "Machine"]),
    "a class that is not a machine": (toml(tests='[[tests]]\nclass = "small:Plain"'), ["Plain"]),
    "a machine without rules": (toml(tests='[[tests]]\nclass = "small:Ruleless"'), ["Ruleless", "rule"]),
    "a module that raises": (toml(tests='[[tests]]\nclass = "raising:Machine"'), ["raising", "not today"]),
    "a module with a syntax error": (toml(tests='[[tests]]\nclass = "broken:Machine"'), ["broken"]),
}
SMALL = {
    "small.py": """
        from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

        class SmallMachine(RuleBasedStateMachine):
            @rule()
            def step(self):
                pass

        class Ruleless(RuleBasedStateMachine):
            @invariant()
            def fine(self):
                pass

        class Plain:
            pass
    """,
    "raising.py": "raise RuntimeError('not today')\n",
    "broken.py": "def half(:\n",
}


def assert_refused(project: Project, words: list[str], *options: str) -> None:
    """The command ends as wrong use: one error with a hint on stderr, and nothing on stdout."""
    done = project.explore(*options)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    error = re.search("^error: (.+)$", done.stderr, re.MULTILINE)
    hint = re.search("^hint: (.+)$", done.stderr, re.MULTILINE)
    assert error, done.stderr
    assert hint, done.stderr
    for word in words:
        assert word in error[1] + hint[1]


def test_finding_17_the_good_file_is_accepted(project: Project) -> None:
    project.write(SMALL)
    project.write({"ordeal.toml": toml()})
    done = project.explore()
    assert done.returncode == 0, done.stderr
    assert "No failures." in done.stdout


@pytest.mark.parametrize("problem", WRONG_FILES)
def test_finding_17_a_file_with_a_mistake_is_refused_with_a_hint(project: Project, problem: str) -> None:
    text, words = WRONG_FILES[problem]
    project.write(SMALL)
    project.write({"ordeal.toml": text})
    assert_refused(project, words)


def test_finding_17_a_file_that_is_not_there_is_refused_with_a_hint(project: Project) -> None:
    assert_refused(project, ["ordeal.toml"])
    assert_refused(project, ["other.toml"], "--config", "other.toml")


def test_finding_17_a_folder_or_a_file_of_bytes_is_refused_with_a_hint(project: Project) -> None:
    (project.root / "folder.toml").mkdir()
    assert_refused(project, ["folder.toml"], "--config", "folder.toml")
    Path(project.root / "bytes.toml").write_bytes(b"\xff\xfe[explorer]")
    assert_refused(project, ["bytes.toml"], "--config", "bytes.toml")


@pytest.mark.parametrize("option", ["--max-time=-5", "--max-time=0", "--max-time=abc", "--seed=-1", "--workers=-2"])
def test_finding_17_an_option_with_a_mistake_is_refused(project: Project, option: str) -> None:
    project.write(SMALL)
    project.write({"ordeal.toml": toml()})
    done = project.explore(option)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    name, _, value = option.partition("=")
    assert name in done.stderr
    assert value in done.stderr
    assert done.stdout == ""
