"""The state of a search goes on where it was, and is refused where it belongs to another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.execution.machine import make_driver
from ordeal._engine.search import state
from ordeal._engine.search.search import Search
from ordeal._engine.search.state import session_seed, writable_snapshot
from ordeal._engine.storage.state_file import read_state, write_state
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


def summary(search: Search) -> tuple[object, ...]:
    findings = [(each.bucket, each.count, each.tape.hash(), each.origin) for each in search.findings.all()]
    return search.tally.counts(), list(search.tally.notes), findings, search.progress.kind, search.totals().swarm


def test_one_that_was_interrupted_comes_to_the_same_as_one_without_a_break(tmp_path: Path) -> None:
    path = tmp_path / "state"
    searched(path, max_runs=30)
    resumed = searched(None, resume_from=path, max_runs=60)
    assert summary(resumed) == summary(searched(None, max_runs=60))
    assert len(resumed.findings) == 1
    assert resumed.progress.seconds_before > 0


@pytest.mark.parametrize(
    ("machine", "options", "message"),
    [
        (Plain, {}, "is one of .*:Counter, not of .*:Plain"),
        (Counter, {"seed": 7}, "was explored with seed 42, not 7"),
    ],
)
def test_the_state_of_another_exploration_is_refused(
    tmp_path: Path, machine: Any, options: dict[str, Any], message: str
) -> None:
    path = tmp_path / "state"
    searched(path, max_runs=5)
    with pytest.raises(StateError, match=message):
        searched(None, machine, resume_from=path, **options)


def test_a_state_of_several_workers_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "state"
    saved = searched(path, max_runs=5)
    write_state(path, [saved.session_state.part(saved.progress, None)] * 3)
    with pytest.raises(StateError, match="is one of 3 workers") as caught:
        searched(None, resume_from=path)
    assert "workers=3" in str(caught.value.hint)


def test_options_that_have_changed_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "state"
    searched(path, max_runs=5, steps_per_run=20)
    resumed = searched(None, resume_from=path, max_runs=6, steps_per_run=30)
    assert "steps_per_run is 30 since the resumed state was saved with 20." in resumed.tally.notes


def test_a_damaged_state_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    searched(path, max_runs=5)
    whole = path.read_bytes()
    for cut in (b"", whole[: len(whole) // 2], whole[:-1], bytes([whole[0] ^ 1]) + whole[1:]):
        path.write_bytes(cut)
        with pytest.raises(StateError):
            searched(None, resume_from=path)


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


def test_it_is_saved_when_it_is_due_and_not_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(state, "monotonic", lambda: now[0])
    path = tmp_path / "state"
    search = Search(settings_for(Plain, save_state_to=path), make_driver(Plain), [])
    saved = []
    for _ in range(10):
        search.session_state.save_when_due(search.progress, None)
        saved.append(path.exists())
        path.unlink(missing_ok=True)
        now[0] += state.PERIOD_SECONDS / 2
    assert saved == [False, False, True, False, True, False, True, False, True, False]


@pytest.mark.parametrize(
    ("seed", "read"), [(5, 5), (0, 0), (2**64 - 1, 2**64 - 1), (2**64, None), (-1, None), ("5", None), (None, None)]
)
def test_the_seed_of_a_session_is_one_that_it_can_have(tmp_path: Path, seed: Any, read: int | None) -> None:
    path = tmp_path / "state"
    searched(path, max_runs=1)
    ((header, _),) = read_state(path)
    header.options["session_seed"] = seed
    assert session_seed(header) == read


def test_texts_of_properties_are_made_writable_and_the_rest_stays() -> None:
    row: dict[str, Any] = {"name": "\ud800", "hits": 3, "share": 0.5, "first": None, "holds": True}
    written = writable_snapshot({"always": [row], "never": []})
    assert written == {"always": [row | {"name": "\\ud800"}], "never": []}
