"""The state of a search goes on where it was, and is refused where it belongs to another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.execution.machine import make_driver
from ordeal._engine.search.search import Search
from ordeal._engine.search.state import writable_snapshot
from ordeal._engine.storage.state_file import read_state
from ordeal.errors import StateError
from ordeal.result import NoteKind

from ...samples.traced import Counter
from ...samples.triaged import settings_for
from .test_search import Log, run


class Plain(RuleBasedStateMachine):
    @rule()
    def rest(self) -> None: ...


def searched(path: Path | None, machine: Any = Counter, **options: Any) -> Search:
    search = Search(settings_for(machine, save_state_to=path, **options), make_driver(machine), [])
    run(search, Log())
    return search


def test_a_state_that_cannot_be_saved_is_noted_once_and_forgotten_when_it_can(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    search = Search(settings_for(Plain, save_state_to=folder / "state", max_runs=1), make_driver(Plain), [])
    folder.write_text("a file where the folder should be")
    with pytest.raises(StateError):
        search.session_state.check()
    for _ in range(2):
        search.session_state.save(search.progress, None)
    (note,) = search.tally.notes
    assert note.startswith("The state was not saved: ")
    assert getattr(note, "kind", None) is NoteKind.STATE_NOT_SAVED
    folder.unlink()
    folder.mkdir()
    search.session_state.save(search.progress, None)
    assert list(search.tally.notes) == []
    assert len(read_state(folder / "state")) == 1


def test_a_saved_state_that_is_gone_is_written_once_more_and_one_that_is_there_is_not(tmp_path: Path) -> None:
    path = tmp_path / "state"
    search = searched(path, max_runs=2)
    whole = path.read_bytes()
    path.unlink()
    search.session_state.save_again(search.tally)
    assert path.read_bytes() == whole
    path.write_bytes(b"of somebody else")
    search.session_state.save_again(search.tally)
    assert path.read_bytes() == b"of somebody else"


def test_texts_of_properties_are_made_writable_and_the_rest_stays() -> None:
    row: dict[str, Any] = {"name": "\ud800", "hits": 3, "share": 0.5, "first": None, "holds": True}
    written = writable_snapshot({"always": [row], "never": []})
    assert written == {"always": [row | {"name": "\\ud800"}], "never": []}
