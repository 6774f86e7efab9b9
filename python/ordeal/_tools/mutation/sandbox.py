"""A sandbox for judges: all that a mutant writes, deletes or starts disappears with it; nothing outside changes.

Where the system allows it, a judge and each fork of it get user, mount and process namespaces. All files are
read-only there; above the project and the folders of temporary files lies an overlay in memory, whose size is limited.
Elsewhere judges work in a copy of the project; Landlock, where Linux has it, makes all other files read-only. In both
cases folders of the user and of temporary files are in a scratch folder, and a reaper ends what a fork leaves behind.
"""

from __future__ import annotations

import ctypes
import dataclasses
import errno
import fcntl
import json
import os
import resource
import shutil
import signal
import site
import stat
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._base.interpreter import start
from ordeal._base.limits import KILL_SECONDS
from ordeal._engine.isolation.child import can_supervise
from ordeal._tools.mutation.interpreters.sitecustomize import TREE, move_imports, moved
from ordeal.errors import OrdealError

#: The largest copy of a project, in bytes: a few seconds of a disk that writes 500 MB a second.
COPY_BYTES_MAX = 2 << 30
_NOT_COPIED = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
_PREFIX = "ordeal-mutate-"
_PLACE = "place"
#: The folder next to ``place`` for what Python compiles; only forks that run the original write there.
BYTECODE = "bytecode"
_IN_HOME = "HOME/"
#: Folders of temporary files that programs use by name, and that of memory that processes share.
_TEMPORARY, _SHARED = ("/tmp", "/var/tmp"), "/dev/shm"
#: If set, judges work in a copy even where namespaces are allowed; if set to `plain`, without Landlock as well.
COPIES = "ORDEAL_MUTATE_COPY"
_CLONE = 0x40049409  # FICLONE: share the blocks of a file until either is written

# From `sys/mount.h` and `linux/mount.h`.
_BIND, _RECURSIVE, _PRIVATE = 1 << 12, 1 << 14, 1 << 18
_SETATTR, _SETATTR_RECURSIVE, _READ_ONLY, _AT_CWD = 442, 0x8000, 1, -100
_CAPSET_VERSION = 0x20080522
# From `linux/landlock.h` and `linux/prctl.h`.
_CREATE_RULES, _ADD_RULE, _RESTRICT, _BELOW, _ASK_VERSION, _NO_NEW_RIGHTS = 444, 445, 446, 1, 1, 38
#: To write, truncate, make, remove and move files; of the first versions each knows one right more.
_CHANGES, _RIGHTS_OF_FIRST, _SCOPES_SINCE, _SCOPE_OF_SIGNALS = 0x7FF2, 13, 6, 2

_OF_ATTRIBUTES = {"os.chmod", "os.chown", "os.removexattr", "os.setxattr", "os.utime"}


class NoVerdictError(OrdealError):
    """No verdict is possible: the tests fail without a mutant, or there are none, or they cannot be run."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Where judges work.

    Attributes:
        root: the project, which may be written as if it were a copy.
        scratch: a folder that is removed with the sandbox.
        folder: where commands begin, as they see it.
        limit: the most MiB that a fork may write.
        written: the folders outside that tests may write.
        is_isolated: namespaces are there; otherwise ``scratch`` has a copy of the project.
        passed: the paths of the project that are not copied.
    """

    root: str
    scratch: str
    folder: str
    limit: int
    written: tuple[str, ...]
    is_isolated: bool
    passed: tuple[str, ...] = ()

    @property
    def place(self) -> Path:
        """The folder that judges share with their caller; mutants cannot write there."""
        return Path(self.scratch, _PLACE)

    def seen(self, path: str | Path) -> str:
        """Return where judges see a file or folder of the project."""
        return str(path) if self.is_isolated else moved(str(path), self.root, self._tree)

    @property
    def _tree(self) -> str:
        return f"{self.scratch}/tree"

    def environment(self) -> dict[str, str]:
        """Return the variables of a process that judges."""
        home, temporary = f"{self.scratch}/home", f"{self.scratch}/tmp"
        found = {**os.environ, "HOME": home, "TMPDIR": temporary, "XDG_RUNTIME_DIR": temporary}
        found |= {f"XDG_{name.upper()}_HOME": f"{home}/.{name}" for name in ("cache", "config", "data", "state")}
        found |= {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        if site.ENABLE_USER_SITE:
            found["PYTHONUSERBASE"] = site.getuserbase()
        if not self.is_isolated:
            path = found.get("PYTHONPATH", "").split(os.pathsep)
            found["PYTHONPATH"] = os.pathsep.join(self.seen(each) if each else each for each in path)
            found[TREE] = f"{self.root}\n{self._tree}"
        return found

    def start(
        self, command: Sequence[str], more: Mapping[str, str], files: Mapping[str, bytes]
    ) -> subprocess.Popen[bytes]:
        """Start a command with more variables, and with other texts of files, as it sees them. ``end_all`` ends it."""
        put = self.place / "put"
        put.write_text(json.dumps({path: text.decode("latin-1") for path, text in files.items()}), "ascii")
        words = [sys.executable, "-m", __name__, str(self), str(os.getpid()), str(put), *command]
        return start(words, folder=Path(self.folder), environment={**self.environment(), **more})

    def __str__(self) -> str:
        """Return the text that ``enter`` takes."""
        return msgspec.json.encode(self).decode()


@contextmanager
def sandbox(folder: Path, passed: Sequence[str] = (), *, limit: int = 1024) -> Iterator[Sandbox]:
    """Make a sandbox of the project that holds a folder, and remove it after the block.

    ``passed`` are paths that are not replaced: those in the home folder begin with ``HOME/``, others are of the project
    and not copied, and absolute ones may be written. A fork may write ``limit`` MiB.

    Raises:
        NoVerdictError: a copy is needed that is too large, or cannot be made, or this system cannot supervise forks.
    """
    if not can_supervise():
        raise NoVerdictError("this system cannot isolate mutants", hint="use Linux 5.3 or newer")
    _remove_abandoned()
    scratch = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    lock = os.open(scratch, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        for name in (_PLACE, BYTECODE, "home", "tmp"):
            (scratch / name).mkdir(0o700)
        for inner in (each.removeprefix(_IN_HOME) for each in passed if each.startswith(_IN_HOME)):
            link = scratch / "home" / inner
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(Path.home() / inner)
        # The project is the repository that holds the folder, or the folder itself.
        above = (each for each in (folder.absolute(), *folder.absolute().parents) if (each / ".git").exists())
        root = next((each for each in above if each != each.parent), folder.absolute())
        written = tuple(each for each in passed if Path(each).is_dir() and not (root / each).is_relative_to(root))
        here = Sandbox(str(root), str(scratch), str(folder.absolute()), limit, written, is_isolated=True)
        if not can_isolate(here):
            here = dataclasses.replace(here, is_isolated=False, passed=tuple(str(root / each) for each in passed))
            _Copy(here).make()
            here = dataclasses.replace(here, folder=here.seen(folder.absolute()))
        yield here
    finally:
        _remove(scratch)
        os.close(lock)


def end_all(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started, which may be in other process groups."""
    for pid in [*descendants(process.pid), process.pid]:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _remove_abandoned() -> None:
    """Remove the folders of killed processes: nothing locks them any more."""
    for each in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - each.stat().st_mtime < KILL_SECONDS:  # it may be about to be locked
                continue
            handle = os.open(each, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(each)
            finally:
                os.close(handle)


def _remove(scratch: Path) -> None:
    """Remove a folder, also what a mutant has made unreadable, or a file."""
    if scratch.is_symlink() or scratch.is_file():
        scratch.unlink()
    for place, folders, _ in scratch.walk():
        for each in folders:
            with suppress(OSError):
                if not (place / each).is_symlink():
                    (place / each).chmod(0o700)
    shutil.rmtree(scratch, ignore_errors=True)


# A copy


class _Copy:
    """Copies a project, without caches, and with links to the folders of interpreters and to what is passed.

    Where there is a copy already, only what differs from the project is copied again.
    """

    def __init__(self, here: Sandbox) -> None:
        self._here, self._root, self._bytes = here, Path(here.root), 0

    def make(self) -> None:
        """Make the copy.

        Raises:
            NoVerdictError: it is too large, or cannot be made.
        """
        try:
            self._copy_folder(self._root, Path(self._here.seen(self._root)), ())
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            hint = "judge in a folder that can be read as a whole, or name what to leave out in `[mutations] pass`"
            raise NoVerdictError(f"the project cannot be copied: {one_line(what)}", hint=hint) from None

    def _copy_folder(self, source: Path, target: Path, within: tuple[Path, ...]) -> None:
        real = source.resolve()
        if real in within:  # a link to a folder that holds it
            return
        target.mkdir(0o700, exist_ok=True)
        target.chmod(0o700)
        for each in source.iterdir():
            if each.name not in _NOT_COPIED and str(each) != self._here.scratch:
                self._copy(each, target / each.name, (*within, real))

    def _copy(self, source: Path, target: Path, within: tuple[Path, ...]) -> None:
        if target.is_symlink() or (target.exists() and source.is_dir() != target.is_dir()):
            _remove(target)
        if str(source) in self._here.passed or (source / "pyvenv.cfg").exists():
            target.symlink_to(source.resolve())
        elif source.is_symlink() and self._stays(source):
            target.symlink_to(source.readlink())
        elif source.is_dir():
            self._copy_folder(source, target, within)
        elif source.is_file() and not (target.exists() and _known(source.stat()) == _known(target.stat())):
            target.unlink(missing_ok=True)
            self._copy_file(source, target)

    def _stays(self, link: Path) -> bool:
        """Return True if a link leads by a relative path to a place in the project, or nowhere."""
        is_inside = link.resolve().is_relative_to(self._root.resolve())
        return (is_inside and not link.readlink().is_absolute()) or not link.exists()

    def _copy_file(self, source: Path, target: Path) -> None:
        with source.open("rb") as here, target.open("wb") as there:
            try:
                fcntl.ioctl(there.fileno(), _CLONE, here.fileno())
            except OSError:
                self._bytes += os.fstat(here.fileno()).st_size
                if self._bytes > COPY_BYTES_MAX:
                    raise NoVerdictError(
                        f"the project has more than {COPY_BYTES_MAX >> 30} GiB, too much to copy; "
                        f"the last file was {one_line(str(source))}",
                        hint='name large folders that tests only read: `pass = ["data"]` in `[mutations]`',
                    ) from None
                shutil.copyfileobj(here, there, 1 << 20)
        shutil.copystat(source, target)


def _known(state: os.stat_result) -> tuple[int, int, int]:
    return state.st_size, state.st_mode, state.st_mtime_ns


def restore() -> None:
    """Bring back the files of a copy that mutants have changed or removed. No fork may run."""
    if _Current.sandbox is not None and not is_isolated():
        _Copy(_Current.sandbox).make()


# Namespaces


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]


def _called(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    words = (os.fsencode(source), os.fsencode(target), kind.encode() or None)
    _called(_libc().mount(*words, ctypes.c_ulong(flags), options.encode() or None))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _read_only(path: str, *, is_read_only: bool = True, recursive: bool = False) -> None:
    changes = _Attributes(*((_READ_ONLY, 0) if is_read_only else (0, _READ_ONLY)), 0, 0)
    flags = _SETATTR_RECURSIVE if recursive else 0
    words = (ctypes.c_int(_AT_CWD), os.fsencode(path), ctypes.c_uint(flags), ctypes.byref(changes))
    _called(_libc().syscall(_SETATTR, *words, ctypes.c_size_t(ctypes.sizeof(changes))))


@cache
def _covered(here: Sandbox) -> list[tuple[str, int, str]]:
    """Return the folders that may be written, with their modes and as an overlay has them.

    They are the project and those of temporary files, none within another.
    """
    found: list[Path] = []
    names = here.root, str(here.place.parents[1]), *_TEMPORARY, *here.written
    for each in sorted({Path(name).resolve() for name in names}):
        if each.is_dir() and not any(each.is_relative_to(above) for above in found):
            found.append(each)
    escapes = str.maketrans({each: f"\\{each}" for each in "\\,:"})
    return [(str(each), stat.S_IMODE(each.stat().st_mode), str(each).translate(escapes)) for each in found]


def _cover(here: Sandbox, *, kept: Sequence[str]) -> None:
    """Lay an overlay in memory over what may be written.

    The folders for judges are those below it, and read-only unless they are ``kept``.
    """
    # Each fork does this, and each object that it touches is a page that it copies.
    size, folder, handles = f"size={here.limit}m", os.getcwd(), list[int]()  # noqa: PTH109 - see above
    for name in (_PLACE, BYTECODE):
        handles.append(os.open(f"{here.scratch}/{name}", os.O_PATH))
    _mount("tmpfs", here.scratch, "tmpfs", 0, f"{size},mode=700")
    handles.append(os.open(here.scratch, os.O_PATH))
    for number, (each, mode, escaped) in enumerate(_covered(here)):
        upper, work = (f"/proc/self/fd/{handles[-1]}/{name}{number}" for name in ("upper", "work"))
        os.mkdir(upper)  # noqa: PTH102
        os.chmod(upper, mode)  # noqa: PTH101
        os.mkdir(work)  # noqa: PTH102
        _mount("overlay", each, "overlay", 0, f"lowerdir={escaped},upperdir={upper},workdir={work},userxattr")
    for name, handle in zip((_PLACE, BYTECODE), handles, strict=False):
        _mount(f"/proc/self/fd/{handle}", f"{here.scratch}/{name}", "", _BIND)
        _read_only(f"{here.scratch}/{name}", is_read_only=name not in kept)
    if os.path.isdir(_SHARED):  # noqa: PTH112
        _mount("tmpfs", _SHARED, "tmpfs", 0, f"{size},mode=1777")
    for handle in handles:
        os.close(handle)
    # What was the current folder lies below the overlay.
    os.chdir(folder)


def _new_namespaces() -> None:
    """Get mount and process namespaces; of processes, that is for the next fork."""
    user, group, flags = os.getuid(), os.getgid(), os.CLONE_NEWNS | os.CLONE_NEWPID
    try:
        os.unshare(flags)
    except PermissionError:
        os.unshare(flags | os.CLONE_NEWUSER)
        for name, text in ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1"):
            Path("/proc/self", name).write_text(text, "ascii")


def can_isolate(here: Sandbox) -> bool:
    """Return True if namespaces, overlays and all that belongs to them are allowed: a fork tries them."""
    if not hasattr(os, "unshare") or COPIES in os.environ:
        return False
    pid = fork()
    if pid == 0:
        code = 1
        try:
            _isolate(here)
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            apart = Apart()
            if apart.pid == 0:
                cover(is_original=False)
                os._exit(0)
            os.waitid(os.P_PID, apart.pid, os.WEXITED | os.WNOWAIT)
            code = apart.end()
        finally:
            os._exit(int(code != 0))
    return os.waitpid(pid, 0)[1] == 0


# In a judge


class _Current:
    """The sandbox that this process has entered; the children that it knows of, if it is the ``owner``.

    ``free`` are the bytes of the disk that were free then.
    """

    sandbox: Sandbox | None = None
    owner = 0
    known: set[int] = set()  # noqa: RUF012 - there is one of this process
    free = 0


def enter(text: str, parent: int) -> None:
    """Move this process into a sandbox, given as text, and end it with its parent.

    With namespaces it goes on as a fork. What was started waits for it, and ends as it does.
    """
    here = msgspec.json.decode(text, type=Sandbox)
    _native.die_with(parent)
    os.chdir(here.folder)
    if here.is_isolated:
        _isolate(here)
    else:
        move_imports(*os.environ[TREE].split("\n"))
        _Current.sandbox, _Current.free = here, shutil.disk_usage(here.scratch).free


def _isolate(here: Sandbox) -> None:
    """Enter new namespaces, where nothing can be written except what is covered."""
    parent = os.getppid()
    _new_namespaces()
    _native.die_with(parent)
    _go_on_in_fork()
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)
    _read_only("/", recursive=True)
    _mount("proc", "/proc", "proc")
    _cover(here, kept=(_PLACE, BYTECODE))
    _Current.sandbox = here
    # The first process of a namespace ignores most signals, and all others end with it.
    _go_on_in_fork()


def _go_on_in_fork() -> None:
    """Return in a fork, which ends with this process; wait here for its end, and end in the same way."""
    pid = fork()
    if pid == 0:
        _native.die_with(os.getppid())
        return
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def fork() -> int:
    """Fork this process, as ``os.fork`` does, without its warning: the threads that the fork loses are not needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


class Apart:
    """A fork of this process, and all that it starts, which ends with it.

    All signals must be blocked. In a sandbox with namespaces it has its own, whose first process does nothing.

    Attributes:
        pid: the number of the fork, as ``os.fork`` returns it; 0 in the fork.
    """

    def __init__(self) -> None:
        self._first = _native.start_first_process() if is_isolated() else 0
        if self._first:
            _enter_processes_of(self._first)
        if _Current.sandbox is not None and _Current.owner != os.getpid():
            _native.keep_orphans()  # a fork does not inherit this
            _Current.owner, _Current.known = os.getpid(), {*_children(os.getpid())}
        self.pid = fork()
        _Current.known.add(self.pid)
        if self.pid and self._first:
            _enter_processes_of(os.getpid())

    def end(self) -> int:
        """End it. Return the status of the fork, as ``os.waitpid`` gives it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        status = os.waitpid(self.pid, 0)[1]
        _Current.known.discard(self.pid)
        if self._first:
            _native.end_first_process(self._first)
        elif _Current.sandbox is not None:
            _end_orphans()
            free_disk(_Current.sandbox)
        return status


def is_isolated() -> bool:
    """Return True if this process has namespaces."""
    return _Current.sandbox is not None and _Current.sandbox.is_isolated


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have, the last ones first."""
    return [each for child in _children(pid) for each in (*descendants(child), child)]


def _end_orphans() -> None:
    """End what forks that have ended have left behind: all children of this process that it has not started."""
    while strangers := {*_children(os.getpid())} - _Current.known:
        for each in strangers:
            for pid in (*descendants(each), each):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(each, 0)


def free_disk(here: Sandbox) -> None:
    """Remove what forks have left in a copy, if half of the disk that was free is full."""
    if shutil.disk_usage(here.scratch).free >= _Current.free // 2:
        return
    for name in ("tree", "tmp", "home"):
        folder = Path(here.scratch, name)
        for each in folder.rglob("*"):
            with suppress(OSError):
                if not each.is_symlink() and (name != "tree" or not Path(here.root, each.relative_to(folder)).exists()):
                    each.unlink()


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    return []


def _enter_processes_of(pid: int) -> None:
    """Have the next forks be in the namespace of processes that another process is in."""
    handle = os.pidfd_open(pid)
    try:
        os.setns(handle, os.CLONE_NEWPID)
    finally:
        os.close(handle)


def write_anew(path: Path, text: bytes) -> None:
    """Write a file in the place of one that may be a link, or read-only."""
    path.unlink()
    path.write_bytes(text)


def cover(*, is_original: bool, is_free: bool = False) -> None:
    """In a fork: lay one more overlay over what may be written, so that it is gone with the fork.

    What a mutant writes is limited, and so are the rights of the fork.
    """
    here = _Current.sandbox
    if here is None:
        return
    if here.is_isolated:
        os.unshare(os.CLONE_NEWNS)
        _mount("proc", "/proc", "proc")
        _cover(here, kept=(BYTECODE,) if is_original else ())
        if os.getuid():
            # The rights that a user has in its own namespace and nowhere else: tests would see them.
            head, none = (ctypes.c_uint32 * 2)(_CAPSET_VERSION, 0), (ctypes.c_uint32 * 6)()
            _called(_libc().capset(head, none))
    else:
        _native.keep_orphans()
        if not is_free:
            _confine(here, *([BYTECODE] if is_original else []))
    if not is_original:
        size = here.limit << 20
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _confine(here: Sandbox, *kept: str) -> None:
    """Let this process change only files of the sandbox, and signal only what it starts, if Linux can (5.13, 6.12)."""
    call = _libc().syscall
    version = call(_CREATE_RULES, None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < 1 or os.environ.get(COPIES) == "plain":
        return
    rights = _CHANGES & (1 << min(_RIGHTS_OF_FIRST + version - 1, 15)) - 1
    scopes = [0, _SCOPE_OF_SIGNALS] if version >= _SCOPES_SINCE else []
    rules = struct.pack(f"={1 + len(scopes)}Q", rights, *scopes)
    ruleset = call(_CREATE_RULES, rules, ctypes.c_size_t(len(rules)), 0)
    _called(ruleset)
    written = ["/dev", *(f"{here.scratch}/{name}" for name in ("tree", "home", "tmp", *kept)), *here.written]
    for each in written:
        handle = os.open(each, os.O_PATH)
        _called(call(_ADD_RULE, ruleset, _BELOW, struct.pack("=Qi", rights, handle), 0))
        os.close(handle)
    _called(_libc().prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0))
    _called(call(_RESTRICT, ruleset, 0))
    os.close(ruleset)

    def refuse(event: str, given: tuple[Any, ...]) -> None:
        # Landlock does not know of these. A process that is not Python may still do them.
        if event in _OF_ATTRIBUTES:
            path = f"/proc/self/fd/{given[0]}" if isinstance(given[0], int) else os.fsdecode(given[0])
            if not any(Path(path).resolve().is_relative_to(each) for each in written):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    sys.addaudithook(refuse)


def main() -> None:
    """Run a command in a sandbox: ``SANDBOX PARENT PUT COMMAND...``. ``PUT`` is a file with the texts of others."""
    text, parent, put, *command = sys.argv[1:]
    enter(text, int(parent))
    for name, data in json.loads(Path(put).read_text("ascii")).items():
        write_anew(Path(name), data.encode("latin-1"))
    if _Current.sandbox is not None and not is_isolated():
        _confine(_Current.sandbox, _PLACE, BYTECODE)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
