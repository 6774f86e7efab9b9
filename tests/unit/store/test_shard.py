"""Shards are read as they were written, bit by bit, and of damage there are only refusals."""

from __future__ import annotations

import os
import random
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal.store.backend import ShardName
from ordeal.store.records import encode
from ordeal.store.shard import (
    FRAME_SIZE,
    HEADER,
    LOOKS_MAX,
    SHARD_SIZE_MAX,
    LeftBehind,
    ShardReader,
    WriteAhead,
    file_of,
    framed,
    left_behind,
    private_folder,
)

from ..samples.mutations import mutated
from ..samples.stores import python_process
from .samples import SAMPLES

SHARD = HEADER + b"".join(framed(encode(content)) for content in SAMPLES)


def read(data: bytes, step: int) -> tuple[list[bytes], list[str]]:
    """All that a reader gets of a shard which grows by ``step`` bytes at a time, and all that it complains of."""
    reader, got, said = ShardReader(), [], []
    for end in [*range(step, len(data), step), len(data)]:
        size = reader.wanted(end)
        if size:
            found, refusal = reader.feed(data[reader.offset : reader.offset + size])
            got += [frame[FRAME_SIZE:] for frame in found]
            said += [refusal] if refusal else []
    return got, said


@given(st.lists(st.binary(max_size=50)), st.integers(1, 100))
def test_a_shard_that_grows_is_read_whole(contents: list[bytes], step: int) -> None:
    data = HEADER + b"".join(map(framed, contents))
    assert read(data, step) == (contents, [])


def test_records_are_read_beyond_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal.store.shard.CHUNK_SIZE", 10)
    contents = [b"x" * 100, b"", b"y" * 5]
    data = HEADER + b"".join(map(framed, contents))
    reader, got = ShardReader(), []
    while size := reader.wanted(len(data)):
        got += reader.feed(data[reader.offset : reader.offset + size])[0]
    assert got == list(map(framed, contents))


def test_a_shard_without_records_is_not_read() -> None:
    assert not ShardReader().wanted(len(HEADER))


def test_thousands_of_mutated_shards_give_what_was_written_or_refusals() -> None:
    rng = random.Random(1)
    written = {encode(content) for content in SAMPLES}
    damaged = 0
    for _ in range(4_000):
        data = mutated(rng, SHARD, SHARD)
        got, said = read(data, rng.choice([7, 100, 10_000]))
        # What passes its checksum was written, perhaps elsewhere in the shard.
        assert written.issuperset(got)
        assert len(said) <= 1
        damaged += bool(said)
    assert damaged > 1_000


@pytest.mark.parametrize("at", range(len(HEADER), len(HEADER) + 16))
def test_damage_in_the_frame_of_a_record_is_seen_at_once(at: int) -> None:
    data = bytearray(SHARD)
    data[at] ^= 0x80
    got, said = read(bytes(data), len(data))
    assert got == []
    assert len(said) == 1


def test_a_length_beyond_the_limit_is_not_waited_for() -> None:
    frame = struct.pack("<I8s", 2**32 - 1, bytes(8))
    data = HEADER + frame + struct.pack("<I", zlib.crc32(frame))
    assert "4294967295 bytes" in read(data, len(data))[1][0]


def test_an_unharmed_length_is_waited_for() -> None:
    for end in range(len(SHARD)):
        _, said = read(SHARD[:end], 10_000)
        assert said == []


def test_damage_is_looked_at_again_a_few_times_and_when_the_shard_grows() -> None:
    reader = ShardReader()
    data = HEADER + bytes(40)
    looks = 0
    for _ in range(10):
        if size := reader.wanted(len(data)):
            looks += 1
            reader.feed(data[reader.offset : reader.offset + size])
    assert looks == 1 + LOOKS_MAX
    assert reader.wanted(len(data) + 1) > 0


def test_what_could_not_be_read_is_said_once_and_tried_again() -> None:
    reader = ShardReader()
    assert reader.wanted(len(SHARD))
    assert [reader.stop("denied") for _ in range(3)] == ["denied", "", ""]
    assert reader.wanted(len(SHARD))
    got, said = reader.feed(SHARD)
    assert (len(got), said) == (len(SAMPLES), "")


PLACE = "0123abcd"
NAME = ShardName(3, "0123456789abcdef")
RECORD = framed(b"x" * 50)

KILLED = """
import os, sys
from pathlib import Path
from ordeal.store.shard import WriteAhead

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
