"""FileSystem: files in memory that can fail and crash, for code that must keep its promises on a real disk."""

from __future__ import annotations

import copy
import errno
import os
import posixpath
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal, get_args

from ordeal.simulate.clock import Clock
from ordeal.simulate.descriptors import AnyPath, Descriptors, absolute, names_of, os_error
from ordeal.simulate.disk import Choose, Disk, File, Folder, Resize, TapeNumbers, Write
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.file_functions import FILE_PLACES, FixedMount, mounts
from ordeal.simulate.replacement import Replacement

FileFault = Literal["readonly", "full", "corrupt", "missing", "broken"]
#: What the whole disk may be.
DiskFault = Literal["full", "broken"]
_ERRORS = {"full": errno.ENOSPC, "broken": errno.EIO}


class FileSystem:
    """A file system in memory. It starts empty, and what is written is durable only after a sync.

    A ``path``, or ``where``, that is not absolute starts at ``/``. Where a disk would fail, methods raise OSError.
    ``with files.patch():`` makes it the file system of the program. It belongs in the machine, and is copied with it at
    checkpoints. Not thread-safe.
    """

    def __init__(self, *, clock: Clock | None = None, rng_seed: int = 0) -> None:
        """Files take their times from ``clock``; without one the times are 0.

        ``rng_seed`` fixes the bytes of a corrupt file, and what a ``crash()`` without ``choose`` leaves, unless a run
        of the Explorer or of Hypothesis decides that.
        """
        self._clock = clock
        self._rng_seed = rng_seed
        self.patches = 0
        self.reset()

    def reset(self) -> None:
        """Return to the state of a new file system: empty, no faults, nothing open, and random draws restarted."""
        self._disk = Disk()
        self._faults: dict[str, FileFault] = {}
        self._disk_faults: list[DiskFault] = []
        self._chance = TapeNumbers(self._rng_seed)
        self.descriptors = Descriptors()

    # -- files ----------------------------------------------------------------------------------------------------

    def write(self, path: AnyPath, content: bytes | str) -> None:
        """Replace the content of a file, making it and its parent folders if needed.

        ``str`` is written as UTF-8. Nothing is durable before ``fsync``. Raises OSError like ``open`` does.
        """
        where = absolute(path)
        self.make_folders(posixpath.dirname(where))
        file = self.open_file(where, create=True)
        self._check_file(where, "full", "broken")
        if file.content:
            file.change(Resize(0), self.now_s())
        file.change(Write(0, _encoded(content)), self.now_s())

    def append(self, path: AnyPath, content: bytes | str) -> None:
        """Append ``content`` to a file; create it and its parent folders if needed."""
        where = absolute(path)
        self.make_folders(posixpath.dirname(where))
        file = self.open_file(where, create=True)
        self._check_file(where, "full", "broken")
        file.change(Write(len(file.content), _encoded(content)), self.now_s())

    def read(self, path: AnyPath) -> bytes:
        """Return the content of a file. Raises OSError like ``open`` does."""
        where = absolute(path)
        file = self.file(where)
        self._check_file(where, "broken")
        return self._as_seen(where, bytes(file.content))

    def read_text(self, path: AnyPath) -> str:
        """Return the content of a file as UTF-8. Raises OSError, or UnicodeDecodeError."""
        return self.read(path).decode("utf-8")

    def exists(self, path: AnyPath) -> bool:
        """Return True if there is a file or folder of that name."""
        try:
            self.node(absolute(path))
        except OSError:
            return False
        return True

    def delete(self, path: AnyPath) -> None:
        """Delete a file, or an empty folder. Raises OSError."""
        where = absolute(path)
        node = self.node(where)
        if isinstance(node, Folder) and node.entries:
            raise os_error(errno.ENOTEMPTY, where)
        self._disk.remove(*self.parent(where))

    def rename(self, source: AnyPath, destination: AnyPath) -> None:
        """Rename ``source`` to ``destination``, which is replaced, as ``os.replace`` does. Raises OSError."""
        old, new = absolute(source), absolute(destination)
        node = self.node(old)
        folder, name = self.parent(old)
        to_folder, to_name = self.parent(new)
        if f"{new}/".startswith(f"{old}/"):
            if new == old:
                return
            raise os_error(errno.EINVAL, new)
        there = to_folder.entries.get(to_name)
        if isinstance(there, Folder):
            if isinstance(node, File):
                raise os_error(errno.EISDIR, new)
            if there.entries:
                raise os_error(errno.ENOTEMPTY, new)
        elif there is not None and isinstance(node, Folder):
            raise os_error(errno.ENOTDIR, new)
        self._disk.rename(folder, name, to_folder, to_name)

    def make_folders(self, path: AnyPath) -> None:
        """Make a folder and its parents if needed. Raises OSError when a file is in the way."""
        self.make_root(absolute(path), durable=False)

    def list_dir(self, prefix: str = "/") -> list[str]:
        """Return the sorted paths of all files, at any depth, that begin with ``prefix``."""
        start = prefix if prefix.startswith("/") else f"/{prefix}"
        found = self._paths(self._disk.root, "")
        return sorted(path for path in found if path.startswith(start) and self._faults.get(path) != "missing")

    # -- durability -----------------------------------------------------------------------------------------------

    def fsync(self, path: AnyPath) -> None:
        """Make the content of a file, or the names in a folder, durable. Raises OSError.

        A file's name is in its folder: without an fsync of that, a crash may lose the file however often it was synced.
        """
        where = absolute(path)
        node = self.node(where)
        self._check_file(where, "broken")
        self.sync_node(node)

    def sync(self) -> None:
        """Make everything durable, as a clean shutdown does."""
        self._disk.sync()

    def crash(self, *, torn: bool = False, choose: Choose | None = None) -> None:
        """Cut the power: what was not synced is lost, or part of it. Open files can no longer be used.

        Of the names that were made, moved and deleted without an fsync of the folder, an initial part survives. Of the
        writes to each file without an fsync, an initial part survives; with ``torn``, the next one in part.

        By default, what survives is part of the run of the Explorer or of Hypothesis: it replays, and shrinks towards
        losing everything. Elsewhere it depends on the seed and on how many random draws came before.

        Or ``choose(n)`` returns how many of ``n`` things survive, from 0 to ``n``: ``lambda n: 0`` loses everything,
        ``lambda n: n`` nothing. It is called for the names first, then for the writes of each file, the oldest first.

        Raises SimulationError, a ValueError, when ``choose`` returns something else.
        """
        chosen = self._chance.up_to if choose is None else _checked(choose)
        self.lose_power(chosen, chosen if torn else None)

    def lose_power(self, choose: Choose, torn: Choose | None) -> None:
        """Crash: ``choose`` decides how much survives, and ``torn`` how much of the first lost write."""
        self._disk.crash(choose, torn)
        self.descriptors.forget()

    # -- faults ---------------------------------------------------------------------------------------------------

    def inject_fault(self, path: AnyPath, fault: FileFault) -> None:
        """Let a path fail until ``clear_fault``, whether it exists or not; the last fault of a path counts.

        - ``"readonly"``: opening it for writing raises PermissionError;
        - ``"full"``: writing to it raises OSError with ENOSPC;
        - ``"broken"``: reading, writing and syncing it raises OSError with EIO;
        - ``"corrupt"``: reading it returns as many other bytes;
        - ``"missing"``: it does not exist.

        A folder that is ``"full"`` or ``"broken"`` is so with all that is in it: ``"/"`` stands for the disk.

        Raises SimulationError, a ValueError, for another kind.
        """
        if fault not in get_args(FileFault):
            kinds = ", ".join(f'"{kind}"' for kind in get_args(FileFault))
            raise SimulationError(f"{fault!r} is not a fault of a file", hint=f"the kinds are {kinds}")
        self._faults[absolute(path)] = fault

    def clear_fault(self, path: AnyPath) -> None:
        """Let a path work again, if it does not."""
        self._faults.pop(absolute(path), None)

    def clear_all_faults(self) -> None:
        """Let all paths work again."""
        self._faults.clear()

    def begin_fault(self, fault: DiskFault) -> None:
        """Apply ``fault``, such as a full disk, to the program, but not to the test, until ``end_fault(fault)``."""
        self._disk_faults.append(fault)

    def end_fault(self, fault: DiskFault) -> None:
        """Undo one ``begin_fault(fault)``."""
        self._disk_faults.remove(fault)

    # -- the program's file system --------------------------------------------------------------------------------

    def patch(self, root: AnyPath = "/") -> AbstractContextManager[FileSystem]:
        """Make this the file system of the program during a ``with`` block, for paths at ``root`` and below.

        It answers ``open``, the functions of ``os`` on files and folders, and so ``pathlib``, ``shutil`` and
        ``tempfile``. ``root`` exists. Other paths are on the real disk. With the root ``/``, the current folder of the
        program is ``/``; otherwise it is the real one. Blocks nest: the innermost one counts first.
        """
        where = absolute(root)
        self.make_root(where)
        return Replacement(self, FILE_PLACES, mounts, FixedMount(self, where))

    # -- for the functions of the program, which share the above -----------------------------------------------------

    def now_s(self) -> float:
        """Return the time to write on files."""
        return 0.0 if self._clock is None else self._clock.time()

    def node(self, where: str) -> File | Folder:
        """Return what an absolute path names. Raises OSError."""
        if self._faults.get(where) == "missing":
            raise os_error(errno.ENOENT, where)
        node: File | Folder = self._disk.root
        for name in names_of(where):
            if isinstance(node, File):
                raise os_error(errno.ENOTDIR, where)
            found = node.entries.get(name)
            if found is None:
                raise os_error(errno.ENOENT, where)
            node = found
        return node

    def file(self, where: str) -> File:
        """Return the file that an absolute path names. Raises OSError."""
        node = self.node(where)
        if isinstance(node, Folder):
            raise os_error(errno.EISDIR, where)
        return node

    def folder(self, where: str) -> Folder:
        """Return the folder that an absolute path names. Raises OSError."""
        node = self.node(where)
        if isinstance(node, File):
            raise os_error(errno.ENOTDIR, where)
        return node

    def parent(self, where: str) -> tuple[Folder, str]:
        """Return the folder of the last name in a path, and that name. Raises OSError."""
        above, name = posixpath.split(where)
        if not name:
            raise os_error(errno.EBUSY, where)
        if len(os.fsencode(name)) > 255:  # as on most real disks
            raise os_error(errno.ENAMETOOLONG, where)
        return self.folder(above), name

    def open_file(self, where: str, *, create: bool) -> File:
        """Return the file to write to; ``create`` makes it if it is missing. Raises OSError."""
        if self.is_readonly(where):
            raise os_error(errno.EACCES, where)
        folder, name = self.parent(where)
        if create and name not in folder.entries and self._faults.get(where) != "missing":
            return self._disk.new_file(folder, name, self.now_s())
        return self.file(where)

    def new_folder(self, where: str) -> None:
        """Make one folder. Raises OSError."""
        folder, name = self.parent(where)
        if name in folder.entries:
            raise os_error(errno.EEXIST, where)
        self._disk.new_folder(folder, name)

    def make_root(self, where: str, *, durable: bool = True) -> None:
        """Make the folders of a path, if needed; the root of a patch is durable, as it was there before the program."""
        folder, above = self._disk.root, ""
        for name in names_of(where):
            above = f"{above}/{name}"
            node = folder.entries.get(name)
            if isinstance(node, File):
                raise os_error(errno.ENOTDIR, above)
            folder = node if node is not None else self._disk.new_folder(folder, name, durable=durable)

    def is_readonly(self, where: str) -> bool:
        """Return True if a fault of the path forbids writing."""
        return self._faults.get(where) == "readonly"

    def check_space(self, where: str) -> None:
        """Raise OSError when nothing can be written to a path: the disk is full, or broken."""
        self.check_works(where)
        if "full" in self._disk_faults:
            raise os_error(errno.ENOSPC, where)
        self._check_file(where, "full")

    def check_works(self, where: str) -> None:
        """Raise OSError when the disk is broken for a path."""
        if "broken" in self._disk_faults:
            raise os_error(errno.EIO, where)
        self._check_file(where, "broken")

    def _check_file(self, where: str, *faults: DiskFault) -> None:
        """Raise OSError when a path, or a folder above it, has one of these faults."""
        if not self._faults:
            return
        names = names_of(where)
        for depth in range(len(names), -1, -1):
            found = self._faults.get("/" + "/".join(names[:depth]))
            for fault in faults:
                if found == fault:
                    raise os_error(_ERRORS[fault], where)

    def seen(self, where: str, content: bytes) -> bytes:
        """Return what a read of ``content`` gives. Raises OSError when the disk is broken."""
        self.check_works(where)
        return self._as_seen(where, content)

    def _as_seen(self, where: str, content: bytes) -> bytes:
        return self._chance.content(len(content)) if self._faults.get(where) == "corrupt" else content

    def sync_node(self, node: File | Folder) -> None:
        """Make ``node`` durable: the content of a file, or the names in a folder."""
        if isinstance(node, Folder):
            self._disk.sync_folder(node)
        else:
            node.sync()

    def _paths(self, folder: Folder, above: str) -> Iterator[str]:
        for name, node in folder.entries.items():
            if isinstance(node, Folder):
                yield from self._paths(node, f"{above}/{name}")
            else:
                yield f"{above}/{name}"

    def __deepcopy__(self, memo: dict[int, Any]) -> FileSystem:
        if self.patches:
            raise SimulationError(
                "a file system cannot be copied inside of its patch()",
                hint="enter patch() in each rule, not once for the whole machine",
            )
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied


def _encoded(content: bytes | str) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else bytes(content)


def _checked(choose: Choose) -> Choose:
    def chosen(most: int) -> int:
        kept: object = choose(most)
        if isinstance(kept, bool) or not isinstance(kept, int) or not 0 <= kept <= most:
            raise SimulationError(
                f"choose({most}) returned {kept!r}", hint=f"return how many survive, a whole number from 0 to {most}"
            )
        return kept

    return chosen
