"""Has all tests run alike wherever they run, whatever the environment says."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings
from tests.warm_python import SAY_WHERE, VARIABLE, count_commands, warm_interpreter, warm_python
from tests.without_linux.left_out import reason_for

from ordeal._engine.isolation.child import can_supervise
from ordeal._hypothesis.randoms import give_own_generator

for _name in SAY_WHERE:
    os.environ.pop(_name, None)
count_commands()
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
        patch.setattr("ordeal.explore.usable_cpus", lambda: 1)
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what the list names, where there is no Linux."""
    if not can_supervise():
        for item in items:
            if reason := reason_for(item.nodeid, [mark.name for mark in item.iter_markers()]):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Have the collector of garbage leave alone what stays until the end, here and in all forks."""
    give_own_generator()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _warm_python() -> Iterator[None]:
    """Start the interpreter for the commands of tests, unless this process is one of several that share it."""
    if VARIABLE in os.environ:
        yield
        return
    with warm_interpreter() as place, pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, place)
        yield
        if warm_python.cache_info().currsize:
            warm_python().close()
