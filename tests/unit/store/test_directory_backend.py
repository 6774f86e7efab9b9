"""A folder that members share: what is in it, who may do what at the same time, and hostile files in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ordeal.errors import StoreError
from ordeal.store import Entry, FailureReport, Outgoing, Store, open_store

from ..samples.stores import NAMESPACE, folder_of, python_process

NOTHING = Outgoing()

RACE = """
import sys
from ordeal.store import Entry, FailureReport, Outgoing, open_store

store = open_store(sys.argv[1], "race")
sys.stdin.readline()
number = int(sys.argv[2])
for step in range(20):
    store.sync(Outgoing((Entry(f"{number} {step}".encode(), (number * 1000 + step,)),)))
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"dir://{tmp_path / 'shared'}"


def member(url: str) -> Store:
    return open_store(url, NAMESPACE)


def entry(name: str) -> Outgoing:
    return Outgoing((Entry(name.encode()),))


def test_processes_that_start_at_once_share_nothing_but_what_they_find(url: str) -> None:
    members = [python_process(RACE, url, number) for number in range(4)]
    for each in members:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    assert [each.communicate()[0] for each in members] == [""] * 4
    assert open_store(url, "race").edges() == {number * 1000 + step for number in range(4) for step in range(20)}


def test_each_member_writes_a_file_of_its_own(url: str) -> None:
    a, b = member(url), member(url)
    a.sync(entry("x"))
    b.sync(entry("y"))
    before = {path: path.read_bytes() for path in (folder_of(a) / "shards").iterdir()}
    a.sync(entry("z"))
    # Shards only grow.
    assert len(before) == 2
    assert all(path.read_bytes().startswith(data) for path, data in before.items())


def test_the_path_may_be_relative_or_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    member("dir://below/shared").sync(entry("x"))
    member("dir://~/shared").sync(entry("x"))
    assert (tmp_path / "below/shared").is_dir()
    assert (tmp_path / "home/shared").is_dir()


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written") as caught:
        open_store(f"dir://{tmp_path / 'file'}", NAMESPACE)
    assert caught.value.hint is not None


def test_a_folder_that_was_moved_away_pauses_and_what_waits_is_published_when_it_is_back(
    url: str, tmp_path: Path
) -> None:
    a = member(url)
    a._clock = lambda: 0.0
    a.sync(entry("x"))
    shared = folder_of(a)
    shared.rename(tmp_path / "away")
    got = [a.sync(entry(f"y{number}")) for number in range(2)]
    assert all("No such file" in each.paused for each in got)
    (tmp_path / "away").rename(shared)
    assert a.sync(NOTHING).paused == ""
    assert {each.tape for each in member(url).sync(NOTHING).entries} == {b"x", b"y0", b"y1"}


def test_a_member_whose_shard_was_deleted_publishes_all_of_it_again(url: str) -> None:
    a = member(url)
    a.sync(entry("x"))
    for path in (folder_of(a) / "shards").iterdir():
        path.unlink()
    b = member(url)
    a.sync(entry("y"))
    assert {each.tape for each in b.sync(NOTHING).entries} == {b"x", b"y"}


def test_stores_are_merged_by_copying_one_over_the_other(tmp_path: Path) -> None:
    for name in ("here", "there"):
        store = member(f"dir://{tmp_path / name}")
        store.sync(Outgoing((Entry(name.encode()),), frozenset({len(name)}), (FailureReport("K", b"{}", 3, 2),)))
    shutil.copytree(tmp_path / "there", tmp_path / "here", dirs_exist_ok=True)
    merged = member(f"dir://{tmp_path / 'here'}")
    assert {each.tape for each in merged.sync(NOTHING).entries} == {b"here", b"there"}
    assert merged.edges() == {4, 5}
    assert merged.failures() == [FailureReport("K", b"{}", 3, 4)]


def test_a_write_that_was_cut_off_is_completed(url: str) -> None:
    a, b = member(url), member(url)
    a.sync(entry("x" * 1000))
    (path,) = [path for path in (folder_of(a) / "shards").iterdir() if path.stat().st_size > 1000]
    os.truncate(path, 500)
    assert b.sync(NOTHING).entries == ()
    a.sync(NOTHING)
    assert len(b.sync(NOTHING).entries) == 1


def test_a_full_disk_pauses(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = member(url), member(url)
    a._clock = lambda: 0.0
    write = os.pwrite
    monkeypatch.setattr("os.pwrite", lambda descriptor, data, offset: write(descriptor, data[:20], offset))
    assert "the disk may be full" in a.sync(entry("x" * 1000)).paused
    monkeypatch.undo()
    a.sync(NOTHING)
    got = b.sync(NOTHING)
    assert (len(got.entries), got.refused) == (1, 0)


# -- hostile files --


def test_files_of_other_kinds_are_not_waited_for(url: str) -> None:
    a, b = member(url), member(url)
    shards = folder_of(a) / "shards"
    os.mkfifo(shards / "0123456789000050.shard")
    (shards / "0123456789000051.shard").symlink_to("/dev/zero")
    (shards / "0123456789000052.shard").mkdir()
    (shards / "0123456789000053.shard").symlink_to("0123456789000053.shard")
    (shards / "999999999999999999999.shard").touch()
    (shards / "notes.txt").write_text("of somebody")
    with (shards / "0123456789000054.shard").open("wb") as file:
        file.truncate(2**40)
    b.sync(entry("x"))
    got = a.sync(NOTHING)
    assert len(got.entries) == 1
    assert got.paused == ""
    assert got.refused >= 3


def test_a_shard_that_is_a_link_is_not_written_through(url: str, tmp_path: Path) -> None:
    a = member(url)
    a._clock = lambda: 0.0
    a.sync(entry("x"))
    (path,) = (folder_of(a) / "shards").iterdir()
    precious = tmp_path / "precious"
    precious.write_bytes(path.read_bytes()[:3])
    path.unlink()
    path.symlink_to(precious)
    assert a.sync(entry("y")).paused
    assert precious.stat().st_size == 3
