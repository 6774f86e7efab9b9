"""A search prints no notes."""

from collections.abc import Iterator

import pytest
from hypothesis import Verbosity, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal import Explorer


class Noting(RuleBasedStateMachine):
    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        note(f"drew {data.draw(st.integers())}")


@pytest.fixture
def verbose() -> Iterator[None]:
    before = settings()
    settings.register_profile("verbose for a test", verbosity=Verbosity.verbose)
    settings.load_profile("verbose for a test")
    yield
    settings.register_profile("before", parent=before)
    settings.load_profile("before")


@pytest.mark.usefixtures("verbose")
def test_a_search_prints_no_notes_in_a_verbose_profile(capsys: pytest.CaptureFixture[str]) -> None:
    Explorer(Noting, workers=1, seed=1).run(max_runs=5)
    assert not capsys.readouterr().out
    assert settings().verbosity is Verbosity.verbose
