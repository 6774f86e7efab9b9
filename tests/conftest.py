"""Has all tests run alike wherever they run, whatever the environment says."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

DURATIONS = Path(__file__).with_name("durations.json")

# What tells Hypothesis of a continuous integration: it then draws the same in each run and keeps no examples; and what
# sets the seed of a session. Child processes inherit both.
for _name in (
    "BUILDKITE", "CI", "CIRCLECI", "CIRRUS_CI", "CODEBUILD_BUILD_ID", "GITHUB_ACTIONS", "GITLAB_CI",
    "HEROKU_TEST_RUN_ID", "ORDEAL_SEED", "TEAMCITY_VERSION", "TEST_SEED", "TF_BUILD",
    "__TOX_ENVIRONMENT_VARIABLE_ORIGINAL_CI", "bamboo.buildKey",
):  # fmt: skip
    os.environ.pop(_name, None)
# A machine that is busy, or under the sanitizers, takes its time.
settings.register_profile("patient", settings.get_profile("default"), deadline=None)
settings.load_profile("patient")

# A shell has what it runs in the background ignore Ctrl-C, and all that this starts. Those who press it here mean it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _one_core() -> Iterator[None]:
    """Have an Explorer to which nobody says how many workers it has explore here, wherever the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordeal.explore.usable_cores", lambda: 1)
        yield


@pytest.hookimpl(trylast=True)  # once it is known which tests run
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the slowest tests run first, so that no worker is left with one of them when the others are done.

    How long they take is in a file that ``make durations`` writes. Tests that it does not name come after those, in
    their usual order. Each worker begins with a part of the list, so each part begins with slow tests of its own.
    """
    seconds: dict[str, float] = json.loads(DURATIONS.read_text("utf-8"))
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(group_of(item), []).append(item)
    costs = [[seconds.get(short_name(item), 0.0) for item in group] for group in groups.values()]
    members = list(groups.values())
    items[:] = [
        item
        for part in dealt(costs, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
        for number in part
        for item in members[number]
    ]


def dealt(costs: list[list[float]], workers: int) -> list[list[int]]:
    """Which groups of tests each worker begins with, the slowest first, by the seconds that each of their tests takes.

    All workers have about as much to do, and as many tests as pytest-xdist gives them: an equal part of the list each.
    """
    tests = sum(map(len, costs))
    room = [(tests * (worker + 1)) // workers - (tests * worker) // workers for worker in range(workers)]
    load = [0.0] * workers
    parts: list[list[int]] = [[] for _ in range(workers)]
    for number in sorted(range(len(costs)), key=lambda number: -max(costs[number])):
        size = len(costs[number])
        fitting = [worker for worker in range(workers) if room[worker] >= size]
        worker = min(fitting or range(workers), key=lambda worker: (load[worker], -room[worker]))
        parts[worker].append(number)
        load[worker] += sum(costs[number])
        room[worker] -= size
    return parts


def pytest_collection_finish() -> None:
    """Have the collector of garbage leave alone what stays until the end, here and in all forks."""
    gc.freeze()


def group_of(item: pytest.Item) -> str:
    """What the tests have in common that must run one after the other: all else would set the same up again."""
    marker = item.get_closest_marker("together")
    if marker is None:
        return item.nodeid
    if marker.args:
        return f"{item.path}[{marker.args[0]}]"
    parameters = getattr(item, "callspec", None)
    return f"{item.path}[{parameters.id if parameters else ''}]"


def short_name(item: pytest.Item) -> str:
    """What a test is called wherever it lies."""
    return str(getattr(item, "originalname", None) or item.name)
