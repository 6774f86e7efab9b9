"""``open`` and functions of ``os`` that use the simulated file system of the innermost patch for its paths."""

from __future__ import annotations

import builtins
import errno
import glob
import io
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from ordeal.simulate import descriptors
from ordeal.simulate.descriptors import Files, SimulatedFile, absolute, check_arguments, flags_of, in_layers, os_error
from ordeal.simulate.disk import File, Folder
from ordeal.simulate.replacement import BoundPlaces


@dataclass(frozen=True, slots=True)
class FixedMount:
    """A file system that answers for the paths at ``root`` and below."""

    files: Files
    root: str

    def answers(self, path: str, where: str) -> bool:
        """Return True if a path is at the root or below; a relative one never is."""
        return self.root == "/" or (path.startswith("/") and f"{where}/".startswith(f"{self.root}/"))


@dataclass(frozen=True, slots=True)
class SimulatedPath:
    """A path in a simulated file system."""

    files: Files
    where: str


#: The file systems of the blocks and runs that are in progress, the innermost last. Each has a ``root``, the ``files``
#: that answer now, if any, and says by ``answers(path, where)`` whether a path belongs to it.
mounts: list[Any] = []


# -- who answers --------------------------------------------------------------------------------------------------


def _owner_of(number: object) -> Files | None:
    """Return the file system in which a descriptor is open."""
    if not isinstance(number, int) or number < descriptors.FIRST_DESCRIPTOR:
        return None
    for mount in reversed(mounts):
        files: Files | None = mount.files
        if files is not None and files.descriptors.is_open(number):
            return files
    return None


def _place(path: Any, dir_fd: int | None = None) -> SimulatedPath | None:
    """Return where a path or a descriptor is simulated, or None when it is on the real disk."""
    if isinstance(path, int):
        owner = _owner_of(path)
        return None if owner is None else SimulatedPath(owner, owner.descriptors.get(path).where)
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else ""
    # The real function reports what is wrong with an invalid path.
    if not isinstance(text, str) or not text or "\0" in text:
        return None
    if dir_fd is not None and not text.startswith("/"):
        owner = _owner_of(dir_fd)
        return (
            None if owner is None else SimulatedPath(owner, absolute(f"{owner.descriptors.get(dir_fd).where}/{text}"))
        )
    where = absolute(text)
    for mount in reversed(mounts):
        files = mount.files
        if files is not None and mount.answers(text, where):
            return SimulatedPath(files, where)
    return None


type Answer = Callable[..., Any]


def _on_path(real: Answer, simulated: Answer) -> Answer:
    """Return a function that calls ``simulated(place, ...)`` for simulated paths, and ``real`` for others."""

    def function(path: Any, *args: Any, dir_fd: int | None = None, **kwargs: Any) -> Any:
        place = _place(path, dir_fd)
        if place is None:
            return real(path, *args, **kwargs) if dir_fd is None else real(path, *args, dir_fd=dir_fd, **kwargs)
        try:
            return simulated(place, *args, **kwargs)
        except OSError as error:
            raise _about(error, path) from None

    return function


def _about(error: OSError, path: Any, other: Any = None) -> OSError:
    """Return the error with the path as the program wrote it, which may be relative."""
    if error.filename is not None and not isinstance(path, int):
        error.filename = os.fspath(path)
        if other is not None:
            error.filename2 = os.fspath(other)
    return error


def _on_descriptor(real: Answer, simulated: Answer) -> Answer:
    """Return a function that calls ``simulated(files, descriptor, ...)`` for simulated ones, else ``real``."""

    def function(number: Any, *args: Any) -> Any:
        # fsync() and others take a file object too.
        plain = number if isinstance(number, int) else number.fileno()
        owner = _owner_of(plain)
        return real(number, *args) if owner is None else simulated(owner, owner.descriptors.get(plain), *args)

    return function


def _close(number: int) -> None:
    owner = _owner_of(number)
    (_REAL["close"] if owner is None else owner.descriptors.close)(number)


# -- open ---------------------------------------------------------------------------------------------------------


def _open(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Callable[[Any, int], int] | None = None,
) -> Any:
    place = _place(file)
    if place is None:
        return _REAL_OPEN(file, mode, buffering, encoding, errors, newline, closefd, opener)
    flags = flags_of(mode)
    # Before the file is made or truncated.
    check_arguments(file, mode, encoding, errors, newline, closefd)
    if isinstance(file, int):
        number = file
    elif opener is not None:
        number = opener(file, flags)
        if _owner_of(number) is not place.files:
            return _REAL_OPEN(number, mode, buffering, encoding, errors, newline)
    else:
        try:
            number = descriptors.open_descriptor(place.files, place.where, flags)
        except OSError as error:
            raise _about(error, file) from None
        try:
            place.files.descriptors.get(number).file()  # raises for a folder
        except OSError as error:
            place.files.descriptors.close(number)
            raise _about(error, file) from None
    raw = SimulatedFile(place.files, number, file, mode.replace("t", ""), closefd)
    try:
        if "a" in mode:
            raw.seek(0, os.SEEK_END)
        return in_layers(raw, mode, buffering, encoding, errors, newline)
    except BaseException:
        raw.close()
        raise


# -- functions of os on descriptors ---------------------------------------------------------------------------------


def _fsync(files: Files, descriptor: descriptors.Descriptor) -> None:
    files.check_works(descriptor.where)
    files.sync_node(descriptor.node)


def _accept(_files: Files, _descriptor: descriptors.Descriptor, *_: Any) -> None:
    """Accept modes and owners of files, without effect."""


# -- functions of os on paths ---------------------------------------------------------------------------------------


def _os_open(place: SimulatedPath, flags: int, mode: int = 0o777) -> int:
    del mode  # Only faults deny access to a simulated file.
    return descriptors.open_descriptor(place.files, place.where, flags)


def _stat(place: SimulatedPath, *, follow_symlinks: bool = True) -> os.stat_result:
    del follow_symlinks  # There are no symbolic links.
    return _status(place.files.node(place.where))


def _status(node: File | Folder) -> os.stat_result:
    is_file = isinstance(node, File)
    mode = stat.S_IFREG | 0o644 if is_file else stat.S_IFDIR | 0o755
    size, seconds = (len(node.content), node.modified_s) if isinstance(node, File) else (0, 0.0)
    times = {f"st_{kind}time": seconds for kind in "amc"} | {
        f"st_{kind}time_ns": round(seconds * 1e9) for kind in "amc"
    }
    whole = int(seconds)
    return os.stat_result((mode, node.number, 0, 1, 0, 0, size, whole, whole, whole), times)


def _access(place: SimulatedPath, mode: int, **_: Any) -> bool:
    return place.files.exists(place.where) and not (mode & os.W_OK and place.files.is_readonly(place.where))


def _mkdir(place: SimulatedPath, mode: int = 0o777) -> None:
    del mode
    place.files.new_folder(place.where)


def _rmdir(place: SimulatedPath) -> None:
    place.files.folder(place.where)
    place.files.delete(place.where)


def _unlink(place: SimulatedPath) -> None:
    place.files.file(place.where)
    place.files.delete(place.where)


def _attributes(place: SimulatedPath, *_: Any, **__: Any) -> None:
    """Accept modes, owners and times of files, without effect."""
    place.files.node(place.where)


def _list_attributes(place: SimulatedPath, **_: Any) -> list[str]:
    place.files.node(place.where)
    return []


def _refused(place: SimulatedPath, *_: Any, **__: Any) -> None:
    """Refuse what a simulated disk lacks: a current folder that changes."""
    place.files.node(place.where)
    raise os_error(errno.ENOTSUP, place.where)


def _refused_link(name: str) -> Answer:
    def function(source: Any, destination: Any, *args: Any, **kwargs: Any) -> None:
        place = _place(destination)
        if place is not None:
            raise os_error(errno.ENOTSUP, place.where)
        _REAL[name](source, destination, *args, **kwargs)

    return function


def _rename(source: Any, destination: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
    old, new = _place(source, src_dir_fd), _place(destination, dst_dir_fd)
    if old is None and new is None:
        _REAL["replace"](source, destination, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
    elif old is None or new is None or old.files is not new.files:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), source, None, destination)
    else:
        try:
            new.files.rename(old.where, new.where)
        except OSError as error:
            raise _about(error, source, destination) from None


def _getcwd() -> str:
    return "/" if any(mount.root == "/" and mount.files is not None for mount in mounts) else str(_REAL["getcwd"]())


# -- folders --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """What ``os.scandir`` yields for one name."""

    name: str
    path: str
    status: os.stat_result

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return True if it is a folder."""
        del follow_symlinks
        return stat.S_ISDIR(self.status.st_mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return True if it is a file."""
        del follow_symlinks
        return stat.S_ISREG(self.status.st_mode)

    def is_symlink(self) -> bool:
        """Never."""
        return False

    def is_junction(self) -> bool:
        """Never."""
        return False

    def inode(self) -> int:
        """The number of the file or folder."""
        return self.status.st_ino

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return its size and times, as they were when the folder was read."""
        del follow_symlinks
        return self.status

    def __fspath__(self) -> str:
        return self.path


class Entries:
    """The entries of a folder, one by one, like ``os.scandir``."""

    def __init__(self, entries: list[FolderEntry]) -> None:
        self._entries: Iterator[FolderEntry] = iter(entries)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> FolderEntry:
        return next(self._entries)

    def close(self) -> None:
        """Yield no more entries."""
        self._entries = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _entries(place: SimulatedPath, path: Any) -> dict[str, File | Folder]:
    """Return the contents of a folder by name, sorted, though no real file system promises that."""
    try:
        entries = place.files.folder(place.where).entries
    except OSError as error:
        raise _about(error, path) from None
    return {name: entries[name] for name in sorted(entries) if place.files.exists(f"{place.where}/{name}")}


def _listdir(path: Any = ".") -> list[str]:
    place = _place(path)
    if place is None:
        return list(_REAL["listdir"](path))
    return list(_entries(place, path))


def _scandir(path: Any = ".") -> Any:
    place = _place(path)
    if place is None:
        return _REAL["scandir"](path)
    start = "" if isinstance(path, int) else f"{os.fspath(path).rstrip('/')}/"
    return Entries([FolderEntry(name, f"{start}{name}", _status(node)) for name, node in _entries(place, path).items()])


# -- the table ------------------------------------------------------------------------------------------------------

_BY_PATH: dict[str, Answer] = {
    "open": _os_open, "stat": _stat, "lstat": _stat, "access": _access, "mkdir": _mkdir, "rmdir": _rmdir,
    "unlink": _unlink, "remove": _unlink, "chmod": _attributes, "chown": _attributes, "utime": _attributes,
    "listxattr": _list_attributes, "chdir": _refused,
}  # fmt: skip
_BY_DESCRIPTOR: dict[str, Answer] = {
    "read": descriptors.read,
    "write": lambda files, descriptor, content: descriptors.write(files, descriptor, bytes(content)),
    "lseek": lambda _, descriptor, offset, whence: descriptors.seek(descriptor, offset, whence),
    "fstat": lambda _, descriptor: _status(descriptor.node),
    "ftruncate": descriptors.resize,
    "fsync": _fsync,
    "fdatasync": _fsync,
    "fchmod": _accept,
    "fchown": _accept,
}
_WHOLE: dict[str, Answer] = {
    "rename": _rename, "replace": _rename, "link": _refused_link("link"), "symlink": _refused_link("symlink"),
    "getcwd": _getcwd, "listdir": _listdir, "scandir": _scandir, "close": _close,
}  # fmt: skip
_REAL_OPEN: Any = io.open
# Not every system has all of them.
_REAL: dict[str, Answer] = {
    name: getattr(os, name) for name in (*_BY_PATH, *_BY_DESCRIPTOR, *_WHOLE) if hasattr(os, name)
}
_OF_OS: dict[str, Answer] = {
    **{name: _on_path(_REAL[name], function) for name, function in _BY_PATH.items() if name in _REAL},
    **{name: _on_descriptor(_REAL[name], function) for name, function in _BY_DESCRIPTOR.items() if name in _REAL},
    **_WHOLE,
}
# Path.glob of Python 3.13 refers to the function itself; other versions look it up in os.
GLOBBER: Any = getattr(glob, "_StringGlobber", None)
_CAPTURED = {(GLOBBER, "scandir"): staticmethod(_scandir)} if getattr(GLOBBER, "scandir", None) is os.scandir else {}
FILE_PLACES = BoundPlaces(
    {
        (builtins, "open"): _open,
        (io, "open"): _open,
        **{(os, name): function for name, function in _OF_OS.items()},
        **_CAPTURED,
    }
)
