"""Twenty bugs, each a change to the text of one of the four systems, and the pairs that have one of them."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

from ordeal.model import Pair

from .pairs import CachePair, DequePair, DictPair, QueuePair


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: where ``right`` stands in the text of the system of ``pair``, there is ``wrong``."""

    name: str
    pair: type[Pair]
    right: str
    wrong: str

    def planted(self, folder: Path) -> type[Pair]:
        """The pair with the bug in its system, whose module is written to ``folder`` and loaded from there."""
        system = self.pair.impl
        text = Path(sys.modules[system.__module__].__file__ or "").read_text("utf-8")
        assert text.count(self.right) == 1, f"{self.name}: {self.right!r} stands {text.count(self.right)} times there"
        module = self.name.replace(" ", "_").replace(",", "")
        path = folder / f"{module}.py"
        path.write_text(text.replace(self.right, self.wrong), "utf-8")
        spec = importlib.util.spec_from_file_location(module, path)
        assert spec is not None
        assert spec.loader is not None
        loaded = sys.modules[module] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        body = {"__module__": self.pair.__module__, "impl": getattr(loaded, system.__name__)}
        return type(self.pair.__name__, (self.pair,), body)


MUTANTS = [
    Mutant("delete leaves no tombstone", DictPair, "self._slots[slot] = DELETED", "self._slots[slot] = EMPTY"),
    Mutant(
        "a tombstone ends the search", DictPair, "                continue\n", "                return free, None\n"
    ),
    Mutant("equal hashes are equal keys", DictPair, " and entry.key == key:", ":"),
    Mutant(
        "popitem leaves the slot",
        DictPair,
        "return last.key, self.pop(last.key)",
        "self._entries.pop()\n        self._size -= 1\n        return last.key, last.value",
    ),
    Mutant(
        "it grows one too late",
        DictPair,
        "len(self._entries) * 3 >= len(self._slots) * 2",
        "len(self._entries) > len(self._slots)",
    ),
    Mutant(
        "the wrong end is dropped",
        DequePair,
        "            self.pop()\n        self._grow",
        "            self.popleft()\n        self._grow",
    ),
    Mutant("it grows without unrolling", DequePair, "[*self, *[None]", "[*self._slots, *[None]"),
    Mutant("rotate goes right only", DequePair, "range(steps % self._size)", "range(abs(steps) % self._size)"),
    Mutant(
        "insert pushes out of a full one",
        DequePair,
        'raise IndexError("deque already at its maximum size")',
        "self.popleft()",
    ),
    Mutant("insert from the end is one off", DequePair, "max(0, at + self._size) if", "max(0, at + self._size + 1) if"),
    Mutant(
        "the wrong child goes up",
        QueuePair,
        "< self._heap[child]:\n                child += 1",
        "< self._heap[place]:\n                child += 1",
    ),
    Mutant(
        "the last child is overlooked", QueuePair, "if child + 1 < len(self._heap)", "if child + 2 < len(self._heap)"
    ),
    Mutant(
        "a moved entry keeps its old place",
        QueuePair,
        "            self._put(place, last)",
        "            self._heap[place] = last",
    ),
    Mutant(
        "update sifts up only",
        QueuePair,
        "(priority, key)\n        self._sift(place)",
        "(priority, key)\n        self._sift_up(place)",
    ),
    Mutant(
        "remove sifts down only",
        QueuePair,
        "last)\n            self._sift(place)",
        "last)\n            self._sift_down(place)",
    ),
    Mutant(
        "get is not a use",
        CachePair,
        "        self._unlink(link)\n        self._link_newest(link)\n        return link.value",
        "        return link.value",
    ),
    Mutant(
        "put again is not a use",
        CachePair,
        "link.value = value\n            self._unlink(link)",
        "link.value = value\n            return",
    ),
    Mutant(
        "resize drops one at most",
        CachePair,
        "while len(self._links) > self.capacity:",
        "if len(self._links) > self.capacity:",
    ),
    Mutant(
        "a deleted key stays in the ring",
        CachePair,
        "        self._unlink(link)\n        return True",
        "        return True",
    ),
    Mutant("only half of it is unlinked", CachePair, "        link.after.before = link.before\n", ""),
]
