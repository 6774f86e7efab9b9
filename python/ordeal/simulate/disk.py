"""The simulated disk: a tree of files and folders, which parts of it are durable, and what a crash leaves.

Two things are kept separate, as in a file system with a metadata journal. *Contents*: each file has its durable content
and the writes since; of these a crash keeps an initial part. *Names*: creations, renames and deletions go into one
journal for the disk, in order; of the unsynced entries a crash keeps an initial part. The two are independent, which is
the point: the name of a file may survive without its content.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ordeal.buggify import activated, buggify

Choose = Callable[[int], int]


class TapeNumbers:
    """Numbers made from decisions of the same source as those of buggify.

    That is the tape in the Explorer and in replays, and Hypothesis' choices in its tests. Elsewhere they depend only on
    the seed and on how many were drawn before. A counter is the whole state, because simulations are copied at every
    checkpoint. Not thread-safe.
    """

    __slots__ = ("_drawn", "_rng_seed")

    def __init__(self, rng_seed: int) -> None:
        self._rng_seed = rng_seed
        self._drawn = 0

    def up_to(self, most: int) -> int:
        """Draw a number from 0 to ``most``; it shrinks to 0."""
        return self._number(most.bit_length()) % (most + 1)

    def content(self, size: int) -> bytes:
        """Draw ``size`` bytes."""
        # 16 decisions choose a content of any size: each is a choice that the shrinker tries to remove.
        number = self._number(16)
        return hashlib.shake_128(f"{self._rng_seed}:{number}".encode()).digest(size)

    def _number(self, bits: int) -> int:
        self._drawn += 1
        seed = hashlib.sha256(f"{self._rng_seed}:{self._drawn}".encode()).digest()[:8]
        with activated(seed=int.from_bytes(seed)):
            return sum(buggify(0.5) << place for place in range(bits))


@dataclass(frozen=True, slots=True)
class Write:
    """``content`` put at ``offset``. A gap before it is filled with zeros."""

    offset: int
    content: bytes

    def apply(self, to: bytearray) -> None:
        """Apply it to the content of a file. Writing zero bytes beyond the end leaves no gap."""
        if not self.content:
            return
        to.extend(bytes(max(0, self.offset - len(to))))
        to[self.offset : self.offset + len(self.content)] = self.content

    def torn(self, size: int) -> Write:
        """Return the same write with only its first ``size`` bytes."""
        return Write(self.offset, self.content[:size])


@dataclass(frozen=True, slots=True)
class Resize:
    """The size of a file set to ``size``; what is added is zeros."""

    size: int

    def apply(self, to: bytearray) -> None:
        """Apply it to the content of a file."""
        del to[self.size :]
        to.extend(bytes(self.size - len(to)))


@dataclass(eq=False, slots=True)
class File:
    """A file: its content as the program sees it, and the durable part."""

    number: int
    modified_s: float
    content: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    unsynced: list[Write | Resize] = field(default_factory=list)

    def change(self, change: Write | Resize, now_s: float) -> None:
        """Apply ``change``, not durably."""
        if isinstance(change, Write) and not change.content:
            return
        change.apply(self.content)
        self.unsynced.append(change)
        self.modified_s = now_s

    def sync(self) -> None:
        """Make the content durable."""
        if self.unsynced:
            self.durable = bytes(self.content)
            self.unsynced.clear()

    def crash(self, choose: Choose, torn: Choose | None) -> None:
        """Keep the durable content and an initial part of the writes since, the last of them perhaps incomplete."""
        if not self.unsynced:
            return
        content = bytearray(self.durable)
        kept = choose(len(self.unsynced))
        for change in self.unsynced[:kept]:
            change.apply(content)
        if torn is not None and kept < len(self.unsynced):
            next_one = self.unsynced[kept]
            if isinstance(next_one, Write):
                next_one.torn(torn(len(next_one.content))).apply(content)
        self.content, self.durable = content, bytes(content)
        self.unsynced.clear()

    def __deepcopy__(self, memo: dict[int, Any]) -> File:
        # A disk is copied at every checkpoint, and deepcopy() takes ten times as long.
        copied = File(self.number, self.modified_s, self.content[:], self.durable, self.unsynced[:])
        memo[id(self)] = copied
        return copied


@dataclass(eq=False, slots=True)
class Folder:
    """A folder: its entries as the program sees them, and the durable ones."""

    number: int
    entries: dict[str, File | Folder] = field(default_factory=dict)
    durable: dict[str, File | Folder] = field(default_factory=dict)

    def __deepcopy__(self, memo: dict[int, Any]) -> Folder:
        copied = Folder(self.number)
        memo[id(self)] = copied
        copied.entries = {name: copy.deepcopy(node, memo) for name, node in self.entries.items()}
        copied.durable = {name: copy.deepcopy(node, memo) for name, node in self.durable.items()}
        return copied


@dataclass(frozen=True, slots=True)
class Naming:
    """The new value of a folder entry; None removes the name."""

    folder: Folder
    name: str
    node: File | Folder | None

    def __deepcopy__(self, memo: dict[int, Any]) -> Naming:
        return Naming(copy.deepcopy(self.folder, memo), self.name, copy.deepcopy(self.node, memo))


class Disk:
    """The tree and its journal. Names are single path components; the caller has checked that they are valid.

    Not thread-safe. A deep copy is a separate disk in the same state.
    """

    def __init__(self) -> None:
        self._numbers = 1
        self.root = Folder(self._numbers)
        # Each entry is applied completely or not at all: a rename removes one name and sets another.
        self._journal: list[tuple[Naming, ...]] = []

    def new_file(self, folder: Folder, name: str, now_s: float) -> File:
        """Make an empty file."""
        self._numbers += 1
        file = File(self._numbers, now_s)
        self._name(Naming(folder, name, file))
        return file

    def new_folder(self, folder: Folder, name: str, *, durable: bool = False) -> Folder:
        """Make an empty folder; a durable one has always existed."""
        self._numbers += 1
        made = Folder(self._numbers)
        if durable:
            folder.entries[name] = folder.durable[name] = made
        else:
            self._name(Naming(folder, name, made))
        return made

    def remove(self, folder: Folder, name: str) -> None:
        """Remove a name; its file lives on for those who have it open."""
        self._name(Naming(folder, name, None))

    def rename(self, folder: Folder, name: str, to_folder: Folder, to_name: str) -> None:
        """Move a name, replacing what had the new name."""
        node = folder.entries[name]
        self._name(Naming(folder, name, None), Naming(to_folder, to_name, node))

    def sync_folder(self, folder: Folder) -> None:
        """Make durable all naming up to the last in ``folder``: the journal is written in order."""
        last = max((i for i, entry in enumerate(self._journal, 1) if any(n.folder is folder for n in entry)), default=0)
        self._commit(last)

    def sync(self) -> None:
        """Make everything durable."""
        self._commit(len(self._journal))
        for file in self._files(self.root):
            file.sync()

    def crash(self, choose: Choose, torn: Choose | None) -> None:
        """Lose what is not durable except what ``choose`` keeps: it returns a number from 0 to its argument.

        It is called first for the naming, then for the writes of each file, older files first. ``torn`` returns in the
        same way how many bytes of the first lost write of a file survive; None for none.
        """
        if self._journal:
            self._commit(choose(len(self._journal)))
        self._journal.clear()
        self._forget_names(self.root)
        for file in sorted(self._files(self.root), key=lambda file: file.number):
            file.crash(choose, torn)

    def _name(self, *namings: Naming) -> None:
        for naming in namings:
            _set(naming.folder.entries, naming)
        self._journal.append(namings)

    def _commit(self, count: int) -> None:
        for entry in self._journal[:count]:
            for naming in entry:
                _set(naming.folder.durable, naming)
        del self._journal[:count]

    def _forget_names(self, folder: Folder) -> None:
        folder.entries = dict(folder.durable)
        for node in folder.entries.values():
            if isinstance(node, Folder):
                self._forget_names(node)

    def _files(self, folder: Folder) -> Iterator[File]:
        for node in folder.entries.values():
            if isinstance(node, Folder):
                yield from self._files(node)
            else:
                yield node


def _set(entries: dict[str, File | Folder], naming: Naming) -> None:
    if naming.node is None:
        entries.pop(naming.name, None)
    else:
        entries[naming.name] = naming.node
