"""The state of several workers is written when all have said what they know, and read by as many or by others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordeal._engine.execution.machine import make_driver
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.state import ParallelState
from ordeal._engine.search.search import Search
from ordeal._engine.storage.state_file import write_state
from ordeal.errors import StateError
from ordeal.result import NoteKind

from ...samples.traced import Counter
from ...samples.triaged import settings_for, setup_for
from ..search.test_search import Log, run


def part_of(seed: int) -> bytes:
    """What a worker with a session of this seed knows after some runs."""
    search = Search(settings_for(Counter, session_seed=seed, max_runs=40), make_driver(Counter), [])
    run(search, Log())
    return search.session_state.part(search.progress, None)


def parts_of(workers: int, **options: Any) -> tuple[ParallelState, MergedProgress]:
    union = MergedProgress(setup_for(Counter).names)
    return ParallelState(settings_for(Counter, **options), union, WorkingFolder(union.note), workers), union


def test_workers_of_another_number_share_it_and_say_so(tmp_path: Path) -> None:
    path = tmp_path / "state"
    write_state(path, [part_of(10), part_of(11)])
    state, union = parts_of(3, resume_from=path)
    state.resume()
    assert (state.seeds, state.parts) == ([None] * 3, [b""] * 3)
    assert union.resumed_runs == 80
    assert len(union.findings) == 1
    assert "The resumed state was saved by 2 workers; 3 now share it." in union.notes


def test_another_seed_and_a_damaged_part_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    write_state(path, [part_of(10)])
    with pytest.raises(StateError, match="was explored with seed 42, not 7"):
        parts_of(1, resume_from=path, seed=7)[0].resume()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StateError):
        parts_of(1, resume_from=path)[0].resume()


def test_where_nobody_could_say_what_it_knew_that_is_noted_until_somebody_can(tmp_path: Path) -> None:
    path = tmp_path / "state"
    state, union = parts_of(1, save_state_to=path)
    state.save()
    (note,) = union.notes
    assert note == "The state was not saved: no worker sent its state."
    assert getattr(note, "kind", None) is NoteKind.STATE_NOT_SAVED
    assert not path.exists()
    state.keep(0, part_of(1))
    assert list(union.notes) == []


def test_a_part_that_cannot_be_read_in_the_end_is_noted() -> None:
    state, union = parts_of(3)
    state.parts = [part_of(1), b"rubbish", b""]
    state.take_in(lambda worker, run: 1_000 * worker + run)
    (note,) = union.notes
    assert note.startswith("The last state of a worker could not be read: ")
