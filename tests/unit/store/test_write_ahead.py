"""What a member has to say outlives it, and is found by the next one and by nobody else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ordeal.store.backend import ShardName
from ordeal.store.shard import HEADER, SHARD_SIZE_MAX, framed
from ordeal.store.write_ahead import LeftBehind, WriteAhead, file_of, left_behind, private_folder

from ..samples.stores import python_process

PLACE = "0123abcd"
NAME = ShardName(3, "0123456789abcdef")
RECORD = framed(b"x" * 50)

KILLED = """
import os, sys
from pathlib import Path
from ordeal.store.write_ahead import WriteAhead

shard = WriteAhead(Path(sys.argv[1]))
shard.append(b"record")
shard.save()
print("saved", flush=True)
sys.stdin.read()
"""


def found(folder: Path, place: str = PLACE) -> list[LeftBehind]:
    return list(left_behind(folder, place))


def test_a_shard_is_the_same_in_memory_and_in_its_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, PLACE, NAME)
    kept, unkept = WriteAhead(path), WriteAhead()
    for shard in (kept, unkept):
        assert shard.append(RECORD)
        shard.save()
        assert shard.part(0, 10_000) == HEADER + RECORD
        assert shard.part(len(HEADER), 5) == RECORD[:5]
        assert shard.size == len(HEADER + RECORD)
    assert path.read_bytes() == HEADER + RECORD


def test_a_full_shard_takes_no_more() -> None:
    shard = WriteAhead(size_max=len(HEADER) + 2 * len(RECORD))
    assert [shard.append(RECORD) for _ in range(3)] == [True, True, False]
    assert shard.size == len(HEADER) + 2 * len(RECORD)


def test_the_file_of_a_killed_member_is_found_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    process = python_process(KILLED, file_of(tmp_path, PLACE, NAME))
    assert process.stdout is not None
    assert process.stdout.readline() == "saved\n"
    assert found(tmp_path) == []
    process.kill()
    process.communicate()
    (left,) = found(tmp_path)
    assert (left.name, left.data) == (NAME, HEADER + b"record")
    # Nobody else publishes it meanwhile.
    assert found(tmp_path) == []
    left.release(said=False)
    (left,) = found(tmp_path)
    left.release(said=True)
    assert list(tmp_path.iterdir()) == []


def test_what_was_said_leaves_no_file(tmp_path: Path) -> None:
    for said, names in ((True, []), (False, [file_of(tmp_path, PLACE, NAME)])):
        shard = WriteAhead(file_of(tmp_path, PLACE, NAME))
        shard.append(RECORD)
        shard.close(said=said)
        shard.close(said=said)
        assert list(tmp_path.iterdir()) == names


def test_what_a_full_disk_did_not_take_is_in_the_file_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(tmp_path, PLACE, NAME)
    shard = WriteAhead(path)
    shard.append(RECORD)
    write = os.pwrite
    monkeypatch.setattr("os.pwrite", lambda descriptor, data, offset: write(descriptor, data[:7], offset))
    shard.save()
    assert path.stat().st_size == len(HEADER) + 7

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    shard.save()
    assert "No space left on device" in shard.trouble
    assert str(path) in shard.trouble
    monkeypatch.undo()
    shard.append(RECORD)
    shard.save()
    assert shard.trouble == ""
    assert path.read_bytes() == HEADER + RECORD * 2


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / f"{PLACE}-{NAME}.txt").write_bytes(HEADER)
    (tmp_path / f"{PLACE}-3-0123456789abcdef.shard").write_bytes(HEADER)
    (tmp_path / f"ffffffff-{NAME}.shard").write_bytes(HEADER)
    os.mkfifo(file_of(tmp_path, PLACE, ShardName(4, NAME.token)))
    file_of(tmp_path, PLACE, ShardName(5, NAME.token)).mkdir()
    file_of(tmp_path, PLACE, ShardName(6, NAME.token)).symlink_to(tmp_path / f"ffffffff-{NAME}.shard")
    file_of(tmp_path, PLACE, ShardName(7, NAME.token)).write_bytes(b"something else")
    with file_of(tmp_path, PLACE, ShardName(8, NAME.token)).open("wb") as file:
        file.write(HEADER)
        file.truncate(SHARD_SIZE_MAX + 1)
    before = sorted(tmp_path.iterdir())
    assert found(tmp_path) == []
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_is_not_there_has_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        WriteAhead(tmp_path / "gone" / "file")


def test_the_private_folder_is_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert private_folder() == private_folder()
    assert private_folder().stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("taken", ["file", "link", "open folder"])
def test_a_folder_that_somebody_else_has_made_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: str
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    name = private_folder()
    name.rmdir()
    if taken == "file":
        name.touch()
    elif taken == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        name.symlink_to(tmp_path / "elsewhere")
    else:
        name.mkdir()
        name.chmod(0o777)
    assert private_folder() != name
    assert private_folder().stat().st_mode & 0o777 == 0o700
