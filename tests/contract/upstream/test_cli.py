"""Weak points of the public project, turned round: the command line repeats itself and obeys or refuses its file."""

from __future__ import annotations

import json
import re
import shutil
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
