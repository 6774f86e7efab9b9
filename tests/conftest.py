"""Has all tests run alike wherever they run, whatever the environment says."""

from __future__ import annotations

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the slowest tests run first, so that no worker is left with one of them when the others are done.

    How long they take is in a file that ``make durations`` writes. Tests that it does not name come after those, in
    their usual order.
    """
    seconds: dict[str, float] = json.loads(DURATIONS.read_text("utf-8"))
    longest: dict[str, float] = {}
    for item in items:
        group = group_of(item)
        longest[group] = max(longest.get(group, 0.0), seconds.get(short_name(item), 0.0))
    first = {group: number for number, group in enumerate(longest)}
    items.sort(key=lambda item: (-longest[group_of(item)], first[group_of(item)]))


def group_of(item: pytest.Item) -> str:
    """What the tests have in common that must run one after the other: all else would set the same up again."""
    if item.get_closest_marker("together") is None:
        return item.nodeid
    parameters = getattr(item, "callspec", None)
    return f"{item.path}[{parameters.id if parameters else ''}]"


def short_name(item: pytest.Item) -> str:
    """What a test is called wherever it lies."""
    return str(getattr(item, "originalname", None) or item.name)
