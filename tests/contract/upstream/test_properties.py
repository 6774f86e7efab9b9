"""Weak points of the public project of the same name, turned round: names that are a module and a function."""

from __future__ import annotations

import pytest

from ..projects import Project

IMPORTS = (
    "import ordeal.buggify",
    "import ordeal.explore",
    "from ordeal import buggify",
    "from ordeal import explore",
    "from ordeal import report",
    "from ordeal.reporting import property_lines",
)
CHECK = """
from ordeal import always, buggify, explore, reachable, report, sometimes
import ordeal
assert buggify() is False and ordeal.buggify.is_active() is False
ordeal.buggify.activate(1.0)
assert buggify() is True and ordeal.buggify is buggify
assert explore.Explorer is ordeal.Explorer
assert report() == {"passed": [], "failed": []}
"""


@pytest.mark.parametrize("first", IMPORTS)
def test_finding_24_no_import_before_changes_what_a_name_means(project: Project, first: str) -> None:
    done = project.python("-c", "\n".join([first, *IMPORTS, CHECK]))
    assert done.returncode == 0, done.stderr


SERVICE = {
    "service.py": """
        from ordeal import buggify, sometimes

        class Queue:
            def __init__(self):
                self.items = []
                self.sent = 0

            def put(self, item):
                self.sent += 1
                if buggify():
                    sometimes(True, "a message is lost")
                    return
                self.items.append(item)
    """,
    "chaos.py": """
        from hypothesis import strategies as st

        from ordeal import ChaosTest, rule
        from service import Queue

        class QueueChaos(ChaosTest):
            def __init__(self):
                super().__init__()
                self.queue = Queue()

            @rule(item=st.integers())
            def put(self, item):
                self.queue.put(item)

            @rule()
            def count(self):
                assert len(self.queue.items) == self.queue.sent
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["service"]
        max_runs = 200
        max_time = 60

        [[tests]]
        class = "chaos:QueueChaos"
    """,
}


def test_a_failure_by_buggify_replays_in_a_fresh_process_without_any_option(project: Project) -> None:
    project.write(SERVICE)
    assert project.explore().returncode == 1
    (seed,) = sorted(project.root.glob(".ordeal/seeds/**/seed-*.json"))
    replayed = project.python("-m", "ordeal", "replay", str(seed))
    assert "Failure reproduced: AssertionError" in replayed.stdout + replayed.stderr
    assert replayed.returncode == 1
