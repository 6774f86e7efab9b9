"""A simulated file system keeps what was synced, loses of the rest what it is told, and fails where it is told."""

from __future__ import annotations

import copy
import errno
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from ordeal.errors import OrdealError
from ordeal.simulate import Clock, FileSystem, SimulationError


def nothing(most: int) -> int:
    return 0


def everything(most: int) -> int:
    return most


def answers(*numbers: int) -> Callable[[int], int]:
    """Answers with these numbers, one after the other, each at most what was asked for."""
    rest = iter(numbers)
    return lambda most: min(next(rest), most)


@pytest.fixture
def files() -> FileSystem:
    return FileSystem()


@pytest.fixture
def synced(files: FileSystem) -> FileSystem:
    """With one file that is durable."""
    files.write("/a", b"old text")
    files.sync()
    return files


def test_what_is_written_is_read(files: FileSystem) -> None:
    files.write("/d/a.txt", "naïve")
    files.append("/d/a.txt", b"!")
    files.append("/d/new", "n")
    assert files.read("/d/a.txt") == "naïve!".encode()
    assert files.read_text("d/../d/./a.txt") == "naïve!"
    files.write("/d/a.txt", "")
    assert files.read("/d/a.txt") == b""


@pytest.mark.parametrize(
    "path", ["/a/b", "a/b", "//a//b/", "///a/b", "c/../a/./b", "../../a/b", PurePosixPath("a/b"), "/../a/b"]
)
def test_a_path_has_many_forms(files: FileSystem, path: Any) -> None:
    files.write("/a/b", "x")
    assert files.read(path) == b"x"


def test_files_are_listed_by_prefix(files: FileSystem) -> None:
    for path in ["/logs/2", "/logs/1", "/logs/old/1", "/logbook", "/z"]:
        files.write(path, "")
    files.make_folders("/logs/empty")
    assert files.list_dir() == ["/logbook", "/logs/1", "/logs/2", "/logs/old/1", "/z"]
    assert files.list_dir("/logs/") == files.list_dir("logs/") == ["/logs/1", "/logs/2", "/logs/old/1"]
    assert files.list_dir("/none") == []


def test_rename_and_delete(files: FileSystem) -> None:
    files.write("/d/a", "a")
    files.write("/d/b", "b")
    files.rename("/d/a", "/d/b")
    files.rename("/d/b", "/d/b")
    assert (files.read_text("/d/b"), files.exists("/d/a")) == ("a", False)
    files.rename("/d", "/e")
    assert files.list_dir() == ["/e/b"]
    files.delete("/e/b")
    files.delete("/e")
    assert not files.exists("/e")


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda f: f.read("/none"), errno.ENOENT),
        (lambda f: f.read("/d"), errno.EISDIR),
        (lambda f: f.read("/d/a/x"), errno.ENOTDIR),
        (lambda f: f.write("/d", ""), errno.EISDIR),
        (lambda f: f.write("/d/a/x", ""), errno.ENOTDIR),
        (lambda f: f.delete("/d"), errno.ENOTEMPTY),
        (lambda f: f.delete("/none"), errno.ENOENT),
        (lambda f: f.delete("/"), errno.ENOTEMPTY),
        (lambda f: f.rename("/none", "/x"), errno.ENOENT),
        (lambda f: f.rename("/d/a", "/none/x"), errno.ENOENT),
        (lambda f: f.rename("/d", "/d/inside"), errno.EINVAL),
        (lambda f: f.rename("/d/a", "/e"), errno.EISDIR),
        (lambda f: f.rename("/e", "/d"), errno.ENOTEMPTY),
        (lambda f: f.rename("/e", "/d/a"), errno.ENOTDIR),
        (lambda f: f.rename("/", "/x"), errno.EBUSY),
        (lambda f: f.fsync("/none"), errno.ENOENT),
    ],
)
def test_errors_are_those_of_the_operating_system(
    files: FileSystem, act: Callable[[FileSystem], object], code: int
) -> None:
    files.write("/d/a", "a")
    files.make_folders("/e")
    before = files.list_dir()
    with pytest.raises(OSError, match=r"\[Errno \d+\]") as caught:
        act(files)
    assert caught.value.errno == code
    assert files.list_dir() == before


# -- crashes ----------------------------------------------------------------------------------------------------------


def test_what_is_not_synced_may_be_lost_or_kept(synced: FileSystem) -> None:
    synced.write("/a", "new")
    synced.write("/b", "b")
    kept = copy.deepcopy(synced)
    synced.crash(choose=nothing)
    assert (synced.list_dir(), synced.read_text("/a")) == (["/a"], "old text")
    kept.crash(choose=everything)
    assert [kept.read_text(path) for path in kept.list_dir()] == ["new", "b"]


def test_fsync_of_a_file_keeps_its_content_but_not_its_name(synced: FileSystem) -> None:
    synced.write("/a", "new")
    synced.fsync("/a")
    synced.write("/b", "b")
    synced.fsync("/b")
    synced.crash(choose=nothing)
    assert (synced.list_dir(), synced.read_text("/a")) == (["/a"], "new")


def test_fsync_of_a_folder_keeps_names_but_no_content(synced: FileSystem) -> None:
    synced.write("/b", "b")
    synced.fsync("/")
    synced.crash(choose=nothing)
    assert synced.read_text("/b") == ""


def test_rename_is_undone_as_a_whole(synced: FileSystem) -> None:
    synced.write("/new", "new")
    synced.sync()
    synced.rename("/new", "/a")
    undone = copy.deepcopy(synced)
    undone.crash(choose=nothing)
    assert (undone.read_text("/a"), undone.read_text("/new")) == ("old text", "new")
    synced.fsync("/")
    synced.crash(choose=nothing)
    assert (synced.list_dir(), synced.read_text("/a")) == (["/a"], "new")


def test_names_survive_in_order(files: FileSystem) -> None:
    for path in "abc":
        files.write(path, "")
    files.delete("a")
    survivors = []
    for kept in range(5):
        crashed = copy.deepcopy(files)
        crashed.crash(choose=answers(kept))
        survivors.append("".join(crashed.list_dir()))
    assert survivors == ["", "/a", "/a/b", "/a/b/c", "/b/c"]


def test_fsync_of_a_folder_keeps_what_happened_before_elsewhere(files: FileSystem) -> None:
    files.make_folders("/d")
    files.write("/a", "")
    files.write("/d/x", "")
    files.write("/b", "")
    files.fsync("/d")
    files.crash(choose=nothing)
    assert files.list_dir() == ["/a", "/d/x"]


def test_deleted_file_comes_back_when_the_deletion_is_lost(synced: FileSystem) -> None:
    synced.delete("/a")
    synced.crash(choose=nothing)
    assert synced.read_text("/a") == "old text"


def test_torn_write_arrives_in_part(synced: FileSystem) -> None:
    synced.append("/a", "12345")
    whole = copy.deepcopy(synced)
    synced.crash(torn=True, choose=answers(0, 2))
    assert synced.read_text("/a") == "old text12"
    whole.crash(choose=answers(0, 2))
    assert whole.read_text("/a") == "old text"


def test_a_crash_asks_for_names_first_and_then_for_files_by_age(files: FileSystem) -> None:
    for path in ("/old", "/middle"):
        files.write(path, "x")
    files.sync()
    asked: list[int] = []
    for path, writes in (("/young", 5), ("/old", 1)):
        for _ in range(writes):
            files.append(path, "x")
    files.append("/middle", "")

    def choose(most: int) -> int:
        asked.append(most)
        return most

    files.crash(torn=True, choose=choose)
    assert asked == [1, 1, 5]


def test_crash_without_a_choice_goes_by_the_seed_and_by_nothing_else() -> None:
    def outcomes(rng_seed: int) -> list[int]:
        files = FileSystem(rng_seed=rng_seed)
        files.write("/a", "")
        files.sync()
        found = []
        for _ in range(20):
            files.append("/a", "x" * 100)
            files.crash(torn=True)
            found.append(len(files.read("/a")))
        return found

    first = outcomes(0)
    assert outcomes(0) == first != outcomes(1)
    added = [b - a for a, b in itertools.pairwise(first)]
    assert {0 < each < 100 for each in added} == {True, False}
    # Whoever changes the sequence changes the runs of everybody.
    assert first[:5] == [100, 149, 249, 251, 351]


@pytest.mark.parametrize("answer", [-1, 2, True, 0.5, None])
def test_choice_that_is_none_is_refused(files: FileSystem, answer: Any) -> None:
    files.write("/a", "")
    with pytest.raises(SimulationError, match=r"choose\(1\) returned") as caught:
        files.crash(choose=lambda most: answer)
    assert "from 0 to 1" in str(caught.value)


# -- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "error", "code"),
    [("readonly", PermissionError, errno.EACCES), ("full", OSError, errno.ENOSPC), ("broken", OSError, errno.EIO)],
)
@pytest.mark.parametrize("act", ["write", "append"])
def test_fault_of_writing(synced: FileSystem, act: str, fault: Any, error: type[OSError], code: int) -> None:
    synced.inject_fault("/a", fault)
    with pytest.raises(error) as caught:
        getattr(synced, act)("/a", "new")
    assert caught.value.errno == code
    assert caught.value.filename == "/a"
    if fault != "broken":
        assert synced.read_text("/a") == "old text"
    synced.clear_fault("a")
    synced.write("/a", "new")
    assert synced.read_text("/a") == "new"


def test_what_is_broken_can_be_neither_read_nor_synced(synced: FileSystem) -> None:
    synced.inject_fault("/a", "broken")
    for act in (synced.read, synced.fsync):
        with pytest.raises(OSError) as caught:  # noqa: PT011 - the code is looked at
            act("/a")
        assert caught.value.errno == errno.EIO
    with synced.patch():
        assert Path("/a").exists()
        with pytest.raises(OSError, match="Input/output error"):
            Path("/a").read_bytes()
        number = os.open("/a", os.O_RDWR)
        with pytest.raises(OSError, match="Input/output error"):
            os.fsync(number)
        with pytest.raises(OSError, match="Input/output error"):
            os.write(number, b"x")
        os.close(number)


def test_a_folder_is_full_with_all_that_is_in_it(files: FileSystem) -> None:
    files.write("/b/c/d", "old")
    files.write("/bc", "old")
    files.inject_fault("/b", "full")
    with pytest.raises(OSError, match="No space left"):
        files.write("/b/c/d", "new")
    files.write("/bc", "new")
    files.inject_fault("/", "full")
    with pytest.raises(OSError, match="No space left"):
        files.write("/bc", "newer")


def test_a_fault_of_the_whole_disk_is_for_the_program_alone(synced: FileSystem) -> None:
    synced.begin_fault("broken")
    synced.write("/a", "new")
    assert synced.read_text("/a") == "new"
    with synced.patch(), pytest.raises(OSError, match="Input/output error"):
        Path("/a").read_text()
    synced.end_fault("broken")
    with synced.patch():
        assert Path("/a").read_text() == "new"


def test_corrupt_file_reads_as_other_bytes_which_are_the_same_every_time() -> None:
    def reads() -> Iterator[bytes]:
        files = FileSystem()
        files.write("/a", b"\0" * 100)
        files.inject_fault("/a", "corrupt")
        yield from (files.read("/a"), files.read("/a"))
        files.clear_all_faults()
        yield files.read("/a")

    first, second, clean = reads()
    assert len(first) == len(second) == 100
    assert first != second
    assert clean == b"\0" * 100
    assert list(reads()) == [first, second, clean]


def test_missing_file_does_not_exist(synced: FileSystem) -> None:
    synced.inject_fault("/a", "missing")
    assert not synced.exists("/a")
    assert synced.list_dir() == []
    for act in (synced.read, synced.delete, synced.fsync, lambda path: synced.write(path, "")):
        with pytest.raises(FileNotFoundError):
            act("/a")
    synced.clear_fault("/a")
    assert synced.exists("/a")


def test_unknown_fault_is_refused_with_the_kinds(files: FileSystem) -> None:
    with pytest.raises(ValueError, match="'slow' is not a fault of a file") as caught:
        files.inject_fault("/a", "slow")  # type: ignore[arg-type]
    assert isinstance(caught.value, OrdealError)
    assert 'the kinds are "readonly", "full", "corrupt", "missing"' in str(caught.value)


def test_reset_brings_back_the_new_file_system(synced: FileSystem) -> None:
    synced.inject_fault("/b", "corrupt")
    synced.write("/b", "12345678")
    before = synced.read("/b")
    synced.reset()
    assert synced.list_dir() == []
    synced.write("/b", "12345678")
    assert synced.read("/b") == b"12345678"
    synced.inject_fault("/b", "corrupt")
    assert synced.read("/b") == before


# -- copies -----------------------------------------------------------------------------------------------------------


def test_copy_is_a_disk_of_its_own_in_the_same_state(synced: FileSystem) -> None:
    synced.make_folders("/d")
    synced.rename("/a", "/d/a")
    synced.append("/d/a", "!")
    other = copy.deepcopy(synced)
    other.write("/d/b", "b")
    other.crash(choose=everything)
    assert other.list_dir() == ["/d/a", "/d/b"]
    assert synced.list_dir() == ["/d/a"]
    synced.crash(choose=nothing)
    assert (synced.list_dir(), synced.read_text("/a")) == (["/a"], "old text")
    assert other.read_text("/d/a") == "old text!"


def test_copy_goes_on_with_the_same_chance(synced: FileSystem) -> None:
    synced.inject_fault("/a", "corrupt")
    synced.read("/a")
    other = copy.deepcopy(synced)
    assert other.read("/a") == synced.read("/a")


def test_times_of_files_are_those_of_the_clock() -> None:
    clock = Clock(5)
    files = FileSystem(clock=clock)
    assert files.now_s() == 5.0
    pair = copy.deepcopy((clock, files))
    pair[0].advance(1)
    assert (pair[1].now_s(), files.now_s()) == (6.0, 5.0)
