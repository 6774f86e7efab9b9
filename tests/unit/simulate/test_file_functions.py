"""Inside of a file system's patch the program's own calls reach it, other paths stay real, and nothing stays behind."""

from __future__ import annotations

import builtins
import copy
import errno
import gc
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from os import replace as imported_replace
from pathlib import Path
from typing import Any

import pytest

from ordeal.simulate import Clock, FileSystem, SimulationError

# What is tested here are the calls that programs make, and the linter would have them all go through pathlib.
system, built_in = os, builtins

OS_NAMES = [name for name in dir(os) if callable(getattr(os, name))]


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """No test leaves anything of a patch behind."""

    def bound() -> list[Any]:
        return [builtins.open, io.open, imported_replace, *(getattr(os, name) for name in OS_NAMES)]

    before = bound()
    yield
    assert all(a is b for a, b in zip(before, bound(), strict=True))


@pytest.fixture
def files() -> Iterator[FileSystem]:
    """In place for the whole test, with a folder /d."""
    made = FileSystem()
    made.make_folders("/d")
    made.sync()
    with made.patch():
        yield made


def lose_all(files: FileSystem) -> None:
    files.crash(choose=lambda most: 0)


def test_pathlib_reads_and_writes(files: FileSystem) -> None:
    path = Path("/d/a.txt")
    path.write_text("text", encoding="utf-8")
    assert (path.read_text(encoding="utf-8"), path.read_bytes(), path.exists(), path.is_file()) == (
        "text", b"text", True, True,
    )  # fmt: skip
    assert path.stat().st_size == 4
    assert files.read_text("/d/a.txt") == "text"
    path.rename("/d/b.txt")
    assert not path.exists()
    Path("/d/b.txt").unlink()
    Path("/d/b.txt").unlink(missing_ok=True)
    assert list(Path("/d").iterdir()) == []


def test_folders_are_made_listed_walked_and_removed(files: FileSystem) -> None:
    Path("/d/x/y").mkdir(parents=True)
    Path("/d/x/y/f.log").touch()
    Path("/d/g.log").touch()
    assert system.listdir("/d") == ["g.log", "x"]
    assert sorted(Path("/d").glob("**/*.log")) == [Path("/d/g.log"), Path("/d/x/y/f.log")]
    assert list(system.walk("/d")) == [("/d", ["x"], ["g.log"]), ("/d/x", ["y"], []), ("/d/x/y", [], ["f.log"])]
    with system.scandir("/d") as entries:
        entry = next(entries)
    assert (entry.name, entry.path, os.fspath(entry), entry.is_file(), entry.is_dir()) == (
        "g.log", "/d/g.log", "/d/g.log", True, False,
    )  # fmt: skip
    assert (entry.is_symlink(), entry.is_junction(), entry.inode(), entry.stat().st_size) == (
        False, False, entry.stat().st_ino, 0,
    )  # fmt: skip
    shutil.rmtree("/d/x")
    assert system.listdir("/d") == ["g.log"]
    system.remove("/d/g.log")
    system.rmdir("/d")
    assert not Path("/d").is_dir()


@pytest.mark.parametrize("buffering", [-1, 0, 100])
def test_binary_file_moves_and_changes_in_place(files: FileSystem, buffering: int) -> None:
    with built_in.open("/d/a", "w+b", buffering=buffering) as file:
        file.write(b"hello")
        file.seek(1)
        file.write(b"E")
        file.seek(0)
        assert file.read() == b"hEllo"
        file.truncate(2)
        assert file.seek(0, os.SEEK_END) == 2
        file.seek(3)
        file.write(b"!")
    assert files.read("/d/a") == b"hE\0!"


def test_text_file_has_lines_and_an_encoding(files: FileSystem) -> None:
    with built_in.open("/d/a", "x", encoding="utf-16", newline="\r\n") as file:
        file.write("één\ntwee\n")
    with built_in.open("/d/a", encoding="utf-16") as file:
        assert list(file) == ["één\n", "twee\n"]
    with built_in.open("/d/b", "w", buffering=1) as file:
        file.write("line\n")
        assert files.read("/d/b") == b"line\n"
        assert (file.name, file.mode) == ("/d/b", "w")


def test_appending_goes_to_the_end_wherever_it_stands(files: FileSystem) -> None:
    files.write("/d/a", "1")
    with built_in.open("/d/a", "a") as file:
        assert file.tell() == 1
        files.append("/d/a", "2")
        file.write("3")
    assert files.read("/d/a") == b"123"


def test_fsync_by_number_or_file_makes_durable(files: FileSystem) -> None:
    with built_in.open("/d/a", "w") as file:
        file.write("text")
        file.flush()
        system.fsync(file)
        file.write(" more")
        file.flush()
        system.fdatasync(file.fileno())
    folder = system.open("/d", os.O_RDONLY | os.O_DIRECTORY)
    system.fsync(folder)
    system.close(folder)
    lose_all(files)
    assert files.read_text("/d/a") == "text more"


def test_descriptors_do_what_they_do_in_the_operating_system(files: FileSystem) -> None:
    number = system.open("/d/a", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    assert system.write(number, b"hello") == 5
    assert system.lseek(number, -2, os.SEEK_CUR) == 3
    assert system.read(number, 10) == b"lo"
    system.ftruncate(number, 1)
    assert (system.fstat(number).st_size, system.stat(number).st_size) == (1, 1)
    with system.fdopen(number, "r+b") as file:
        assert file.fileno() == number
    with pytest.raises(OSError, match="Bad file descriptor"):
        system.read(number, 1)
    kept = system.open("/d/a", os.O_RDONLY | os.O_TRUNC)
    with built_in.open(kept, closefd=False) as file:
        assert file.read() == "h"
    assert [system.lseek(kept, *to) for to in ((3, os.SEEK_SET), (-1, os.SEEK_CUR), (4, os.SEEK_END))] == [3, 2, 5]
    assert system.open("/d/a", os.O_WRONLY | os.O_TRUNC) != number
    assert files.read("/d/a") == b""
    files.write("/d/a", "h")
    with built_in.open(system.open("/d/a", os.O_RDONLY), closefd=True) as file:
        assert file.read() == "h"


def test_atomic_writing_with_tempfile_works(files: FileSystem) -> None:
    with tempfile.NamedTemporaryFile("w", dir="/d", delete=False) as file:
        file.write("new")
    system.replace(file.name, "/d/a")
    number, name = tempfile.mkstemp(dir="/d")
    system.close(number)
    system.unlink(name)
    assert {path: files.read_text(path) for path in files.list_dir()} == {"/d/a": "new"}


def test_status_says_what_it_is_and_when_it_changed() -> None:
    clock = Clock(12.5)
    files = FileSystem(clock=clock)
    files.write("/a", "abc")
    with files.patch():
        status, folder = system.stat("/a"), system.lstat("/")
        system.utime("/a")
        system.chmod("/a", 0o600)
        assert system.access("/a", os.R_OK)
        assert not system.access("/b", os.R_OK)
    assert stat.S_ISREG(status.st_mode)
    assert stat.S_ISDIR(folder.st_mode)
    assert (status.st_size, status.st_mtime, status.st_mtime_ns) == (3, 12.5, 12_500_000_000)


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda: built_in.open("/none/a", "w"), errno.ENOENT),
        (lambda: built_in.open("/none"), errno.ENOENT),
        (lambda: built_in.open("/d"), errno.EISDIR),
        (lambda: built_in.open("/d", "w"), errno.EISDIR),
        (lambda: built_in.open("/d/a", "x"), errno.EEXIST),
        (lambda: system.open("/d/a", os.O_RDONLY | os.O_DIRECTORY), errno.ENOTDIR),
        (lambda: system.mkdir("/d"), errno.EEXIST),
        (lambda: system.rmdir("/d"), errno.ENOTEMPTY),
        (lambda: system.rmdir("/d/a"), errno.ENOTDIR),
        (lambda: system.unlink("/d"), errno.EISDIR),
        (lambda: system.symlink("/d/a", "/d/b"), errno.ENOTSUP),
        (lambda: system.link("/d/a", "/d/b"), errno.ENOTSUP),
        (lambda: system.ftruncate(system.open("/d/a", os.O_WRONLY), -1), errno.EINVAL),
        (lambda: system.ftruncate(system.open("/d/full", os.O_WRONLY), 9), errno.ENOSPC),
        (lambda: system.read(system.open("/d", os.O_RDONLY), 1), errno.EISDIR),
        (lambda: system.write(system.open("/d/a", os.O_RDONLY), b"x"), errno.EBADF),
        (lambda: system.read(system.open("/d/a", os.O_WRONLY), 1), errno.EBADF),
        (lambda: system.lseek(system.open("/d/a", os.O_RDONLY), -1, os.SEEK_SET), errno.EINVAL),
        (lambda: system.ftruncate(system.open("/d/a", os.O_RDONLY), 0), errno.EINVAL),
    ],
)
def test_errors_are_those_of_the_operating_system(files: FileSystem, act: Callable[[], object], code: int) -> None:
    files.write("/d/a", "a")
    files.write("/d/full", "a")
    files.inject_fault("/d/full", "full")
    with pytest.raises(OSError, match=r"\[Errno \d+\]") as caught:
        act()
    assert caught.value.errno == code


@pytest.mark.parametrize(
    ("mode", "options", "message"),
    [
        *((mode, {}, "invalid mode") for mode in ("", "b", "rw", "rr", "rbt", "r++", "U", "r ")),
        ("r", {"buffering": 0}, "unbuffered text"),
        *(
            ("rb", {name: value}, "binary mode")
            for name, value in (("encoding", "utf-8"), ("errors", "strict"), ("newline", "\n"))
        ),
    ],
)
def test_wrong_modes_are_value_errors(files: FileSystem, mode: str, options: dict[str, Any], message: str) -> None:
    files.write("/d/a", "a")
    with pytest.raises(ValueError, match=message):
        built_in.open("/d/a", mode, **options)


def test_file_keeps_to_its_mode_and_ends_when_closed(files: FileSystem) -> None:
    files.write("/d/a", "a")
    with built_in.open("/d/a", "rb", buffering=0) as file, pytest.raises(io.UnsupportedOperation):
        file.write(b"x")
    with built_in.open("/d/a", "ab", buffering=0) as file, pytest.raises(io.UnsupportedOperation):
        file.read(1)
    with pytest.raises(ValueError, match="closed file"):
        file.fileno()
    file.close()


# -- faults and crashes -----------------------------------------------------------------------------------------------


def test_faults_reach_the_program(files: FileSystem) -> None:
    path = Path("/d/a")
    path.write_text("text")
    files.inject_fault(path, "readonly")
    assert [system.access(path, mode) for mode in (os.R_OK, os.W_OK)] == [True, False]
    with pytest.raises(PermissionError):
        path.write_text("new")
    files.inject_fault(path, "full")
    with pytest.raises(OSError, match="No space left"), path.open("r+") as file:
        file.write("new")
    files.inject_fault(path, "corrupt")
    assert path.read_bytes() != b"text"
    files.inject_fault(path, "missing")
    assert not path.exists()
    assert list(Path("/d").iterdir()) == []
    with pytest.raises(FileNotFoundError):
        path.read_text()
    files.clear_all_faults()
    assert path.read_text() == "text"


def test_file_left_open_in_a_crash_does_nothing_any_more(files: FileSystem) -> None:
    file = built_in.open("/d/a", "w+")
    file.write("text")
    number = system.open("/d", os.O_RDONLY)
    files.crash(choose=lambda most: most)
    file.write("more")
    file.flush()
    file.truncate(0)
    assert file.read() == ""
    file.close()
    del file
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        system.fsync(number)
    assert files.read("/d/a") == b""


# -- where it reaches -------------------------------------------------------------------------------------------------


def test_other_paths_stay_real(tmp_path: Path) -> None:
    files = FileSystem()
    real = tmp_path / "real"
    here = system.getcwd()
    with files.patch("/simulated/data"):
        Path("/simulated/data/a").write_text("simulated")
        real.write_text("real")
        assert (system.getcwd(), real.read_text(), system.listdir(tmp_path)) == (here, "real", ["real"])
        with pytest.raises(OSError, match="cross-device") as caught:
            system.rename("/simulated/data/a", tmp_path / "b")
        assert caught.value.errno == errno.EXDEV
        system.rename(real, tmp_path / "b")
        with system.scandir(tmp_path) as entries:
            assert [entry.name for entry in entries] == ["b"]
        system.symlink(tmp_path / "b", tmp_path / "c")
        system.link(tmp_path / "b", tmp_path / "e")
        shutil.rmtree(tmp_path / "b", ignore_errors=True)
        number = system.open(tmp_path, os.O_RDONLY)
        assert system.stat("c", dir_fd=number).st_size == 4
        system.fsync(number)
        system.close(number)
    assert files.list_dir() == ["/simulated/data/a"]
    assert (tmp_path / "c").read_text() == "real"
    lose_all(files)
    assert files.exists("/simulated/data")


def test_relative_paths_start_at_the_simulated_root(files: FileSystem) -> None:
    Path("a").write_text("a")
    assert Path("a").absolute() == Path("/a")
    assert system.getcwd() == "/"
    assert files.list_dir() == ["/a"]
    assert system.listdir() == ["a", "d"]


def test_opener_that_opens_a_real_file_gives_that(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_text("real")
    with (
        FileSystem().patch("/simulated"),
        built_in.open("/simulated/a", opener=lambda path, flags: system.open(real, flags)) as file,
    ):
        assert file.read() == "real"


def test_path_of_bytes_is_real(tmp_path: Path) -> None:
    files = FileSystem()
    with files.patch(tmp_path):
        Path(tmp_path / "a").write_text("")
        assert system.listdir(os.fsencode(tmp_path)) == []
    assert files.list_dir() == [str(tmp_path / "a")]


def test_blocks_nest(files: FileSystem) -> None:
    inner = FileSystem()
    with inner.patch("/inner"):
        Path("/inner/a").write_text("")
        Path("/d/b").write_text("")
    assert inner.list_dir() == ["/inner/a"]
    assert files.list_dir() == ["/d/b"]


def test_root_that_is_a_file_is_refused_with_nothing_patched() -> None:
    files = FileSystem()
    files.write("/a", "")
    with pytest.raises(NotADirectoryError), files.patch("/a"):
        pytest.fail("entered")


def test_file_system_is_not_copied_while_in_use(files: FileSystem) -> None:
    with pytest.raises(SimulationError, match=r"inside of its patch\(\)") as caught:
        copy.deepcopy(files)
    assert "in each rule" in str(caught.value)


def test_shutil_copies_with_all_that_belongs_to_a_file(files: FileSystem) -> None:
    Path("/d/a").write_text("a")
    shutil.copy("/d/a", "/d/b")
    shutil.copy2("/d/a", "/d/c")
    shutil.copytree("/d", "/e")
    assert files.list_dir("/e") == ["/e/a", "/e/b", "/e/c"]
    assert system.listxattr("/d/a") == []


def test_arguments_are_checked_before_a_file_is_emptied(files: FileSystem) -> None:
    Path("/d/a").write_text("a")
    with pytest.raises(ValueError, match="binary mode doesn't take an encoding"):
        built_in.open("/d/a", "wb", encoding="utf-8")
    with pytest.raises(ValueError, match="Cannot use closefd=False with file name"):
        built_in.open("/d/a", "w", closefd=False)
    assert files.read_text("/d/a") == "a"


FAILING: dict[str, Callable[[], object]] = {
    "open": lambda: built_in.open("d/x/y", "w"),
    "stat": lambda: system.stat("d/x/y"),
    "pathlib": lambda: Path("d/x/y").touch(),
    "mkdir": lambda: system.mkdir("d/x/y"),
    "listdir": lambda: system.listdir("d/x/y"),
    "scandir": lambda: system.scandir("d/x/y"),
    "replace": lambda: system.replace("d/x/y", "d/z"),
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_name_the_path_as_the_program_wrote_it(files: FileSystem, name: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        FAILING[name]()
    two = name == "replace"
    assert (caught.value.filename, caught.value.filename2) == ("d/x/y", "d/z" if two else None)
    assert str(caught.value).endswith("'d/x/y' -> 'd/z'" if two else "'d/x/y'")


def test_names_that_no_disk_takes_are_refused(files: FileSystem) -> None:
    with pytest.raises(ValueError, match="null byte"):
        built_in.open("/d/a\0b", "w")
    with pytest.raises(OSError, match="File name too long"):
        Path("/d/" + "é" * 128).touch()
    Path("/d/" + "a" * 255).touch()
    assert len(files.list_dir()) == 1


def test_current_folder_cannot_be_changed_to_a_simulated_one(files: FileSystem) -> None:
    with pytest.raises(OSError, match="not supported"):
        system.chdir("/d")
    with pytest.raises(FileNotFoundError):
        system.chdir("/x")
