"""Says with ``pytest -v`` how to repeat a failing test that drew from ``random``, in a run without a seed.

Each test then draws from its own seed; its numbers are as random as those that Python would begin with. Where the
project seeds ``random`` itself, its streams are left alone.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from ordeal import seed

if TYPE_CHECKING:
    from ordeal._pytest.session_seed import SessionSeed

State = tuple[Any, ...]

#: The generator makes this many words at a time, and a stream is followed for this many batches.
_WORDS = 624


class PlainRandom:
    """The plugin of a run with ``-v`` whose tests follow no seed. ``session`` has the seed and writes how to repeat.

    ``first`` is the state of ``random`` before any code of the project ran.
    """

    def __init__(self, session: SessionSeed, first: State) -> None:
        self._session = session
        self._is_ours = True
        self._began = first

    def _start(self, name: str) -> None:
        random.seed(seed.derive(self._session.seed, "random", name))
        self._began = random.getstate()

    def _continues(self) -> bool:
        """Return True if ``random`` has only been drawn from since it began: nothing has seeded it."""
        now, stream = random.getstate()[1][:_WORDS], random.Random(0)
        stream.setstate(self._began)
        for _ in range(200):
            if stream.getstate()[1][:_WORDS] == now:
                return True
            stream.getrandbits(32 * _WORDS)
        return False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Start the stream of the test."""
        self._is_ours = self._is_ours and self._continues()
        if self._is_ours:
            self._start(f"test {self._session.own_name(item)}")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> Generator[None, object, object]:
        """Start a stream for a fixture that several tests share, as a run with the seed does."""
        if not self._is_ours or fixturedef.scope == "function" or not self._continues():
            return (yield)
        began, of_test = self._began, random.getstate()
        self._start(self._session.fixture_name(fixturedef, request))
        try:
            return (yield)
        finally:
            if self._continues():
                self._began = began
                random.setstate(of_test)
            else:
                self._is_ours = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add to a failure how to repeat it, if the test drew from its stream."""
        report = yield
        if report.failed and self._is_ours and random.getstate() != self._began and self._continues():
            self._session.add_replay(report, item)
        return report


make_plugin = PlainRandom
