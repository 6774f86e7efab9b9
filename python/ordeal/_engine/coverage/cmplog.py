"""Observes comparisons in the target modules during a replay: the values that their branches wait for.

Other runs pay nothing for it. For one replay, functions with a branch that went only one way get code that reports each
operand, and get their own code back afterwards.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial, partialmethod
from itertools import islice
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import ordeal._native as _native
from ordeal._base.code_objects import codes_in
from ordeal._base.limits import INTEGER_BITS_MAX
from ordeal._base.regular_file import real_path
from ordeal._engine.coverage.comparison_rewrite import (
    ComparisonSite,
    ComparisonSites,
    Fixed,
    Kind,
    PatternValue,
    find_comparisons,
    operands_in,
    with_calls,
)
from ordeal._engine.coverage.function_source import SourceFile, read_source
from ordeal._engine.coverage.targets import Target

#: The kinds of comparison, as the core numbers them.
EQUAL, ORDER, PREFIX, SUFFIX, INSIDE = range(5)
#: Notes of one comparison; the replay has another limit.
NOTES_PER_SITE_MAX = 8
#: Items of a collection that are searched for a value.
ITEMS_MAX = 12
#: Longer texts are not noted.
LENGTH_MAX = 4096

#: Only values of exactly these types are noted, because looking at them runs no code of the program.
_PLAIN = frozenset({int, float, str, bytes})
#: The types that two values may have to be compared.
_COMPARED = frozenset({*zip(_PLAIN, _PLAIN, strict=True), (int, float), (float, int)})
#: Collections whose first items are noted; for a mapping, the keys.
_IN_ORDER = frozenset({list, tuple, dict, defaultdict, OrderedDict})
_NOTHING = object()

Scalar = int | float | str | bytes


class Cmplog:
    """Observes the comparisons of ``targets`` in replays. ``monitor`` knows what has run, and is paused meanwhile.

    Functions are observed once they are rewritten: one at a time, because that takes as long as many steps. Those that
    an earlier process has ``rewritten`` are rewritten as soon as they have run.
    """

    def __init__(self, targets: Sequence[Target], monitor: _native.Monitor, rewritten: Sequence[str] = ()) -> None:
        self._sources = {source.path: source.module_name for target in targets for source in target.sources()}
        self._monitor = monitor
        self._files: dict[str, _WatchedFile | None] = {}
        self._met = 0  # code objects that have run
        self._waiting: list[CodeType] = []  # those that are not rewritten, the newest last
        self._watched: list[_WatchedFunction] = []
        self._rewritten = frozenset(rewritten)
        self._next: tuple[_WatchedFile, CodeType] | None = None  # to rewrite
        # For file names in code; relative ones are resolved against this folder, wherever the program goes.
        self._real_path = cache(partial(real_path, folder=real_path(os.curdir)))

    @property
    def watches(self) -> bool:
        """Whether any function is rewritten."""
        return bool(self._watched)

    def price(self) -> int | None:
        """Return the length, in characters, of the function to rewrite next; None if there is none.

        It is the newest one with an undecided comparison.
        """
        met = self._monitor.codes(self._met)
        if self._next is not None and not met:
            return self._next[0].source.chars_of(self._next[1])
        self._met += len(met)
        for code in met:
            file = self._file_of(code) if self._rewritten else None
            outer = None if file is None else file.outermost(code)
            if file is not None and outer is not None and _name_of(outer) in self._rewritten:
                self._rewrite(file, outer)
        self._waiting += met
        while self._waiting:
            code = self._waiting[-1]
            file = self._file_of(code)
            outer = None if file is None else file.outermost(code)
            branches = self._monitor.branch_sides(code)
            is_open = branches is not None and (not branches or not all(both for _, both in branches))
            if file is not None and outer is not None and is_open:
                self._next = file, outer
                return file.source.chars_of(outer)
            self._waiting.pop()
        self._next = None
        return None

    def rewrite(self) -> str:
        """Rewrite the function that ``price`` measured; return its name."""
        assert self._next is not None
        (file, outer), self._next = self._next, None
        self._rewrite(file, outer)
        return _name_of(outer)

    def _rewrite(self, file: _WatchedFile, outer: CodeType) -> None:
        found = find_comparisons(file.source.source_of(outer), outer.co_filename, outer.co_flags)
        functions = file.take(outer)
        if found is not None:
            self._watched.append(_WatchedFunction(found, functions))

    def _file_of(self, code: CodeType) -> _WatchedFile | None:
        path = self._real_path(code.co_filename)
        if path not in self._files:
            module = sys.modules.get(self._sources.get(path, ""))
            source = read_source(path)
            if module is None or source is None:
                self._files[path] = None
            else:
                functions = (f for f in _functions_of(module) if self._real_path(f.__code__.co_filename) == path)
                self._files[path] = _WatchedFile(source, functions)
        return self._files[path]

    def gather(self, replay: Callable[[_native.Replay], object], tape: _native.Tape) -> list[_native.ComparisonTuple]:
        """Return the comparisons of a replay of ``tape``: how many steps had begun, relation, left, right."""
        source = _native.Replay(tape)
        notes = _ComparisonNotes(source)
        swapped: list[tuple[FunctionType, CodeType, CodeType]] = []
        try:
            for watched in self._watched:
                for function in watched.functions:
                    own = function.__code__
                    branches = self._monitor.branch_sides(own)
                    if branches is None:
                        continue
                    watching = watched.watching(own, [at for at, both in branches if both], notes)
                    if watching is not None:
                        swapped.append((function, own, watching))
                        function.__code__ = watching
            replay(source)
        finally:
            for function, own, watching in reversed(swapped):
                if function.__code__ is watching:
                    function.__code__ = own
            for watched in self._watched:
                watched.end()
        return notes.taken()


class _WatchedFile:
    """A file of the targets, and its ``functions``."""

    def __init__(self, source: SourceFile, functions: Iterable[FunctionType]) -> None:
        self.source = source
        self._functions = defaultdict[str, list[FunctionType]](list)  # by the name of the outermost function
        for function in functions:
            self._functions[_outermost_name(function.__code__)].append(function)

    def outermost(self, code: CodeType) -> CodeType | None:
        """Return the code of the outermost function that holds ``code``; None if there is none, or if it was taken."""
        name = _outermost_name(code)
        for function in self._functions.get(name, ()):
            outer = function.__code__
            if outer.co_qualname == name and "<" not in name and any(each is code for each in codes_in(outer)):
                return outer
        return None

    def take(self, outer: CodeType) -> list[FunctionType]:
        """Return the functions whose code is in ``outer``, once."""
        codes = set(map(id, codes_in(outer)))
        named = self._functions[outer.co_qualname]
        self._functions[outer.co_qualname] = [each for each in named if id(each.__code__) not in codes]
        return [each for each in named if id(each.__code__) in codes]


class _WatchedFunction:
    """The comparisons of an outermost function, and what is known of their operands in the current replay.

    Attributes:
        functions: it, and those within it that live on.
    """

    def __init__(self, found: ComparisonSites, functions: list[FunctionType]) -> None:
        self.functions = functions
        self._found = found
        self._codes: dict[int, tuple[CodeType, CodeType | None]] = {}  # by id; holds the object with that id
        self._sites_of: dict[int, tuple[CodeType, list[ComparisonSite]]] = {}
        self._positions_in: dict[int, tuple[CodeType, list[tuple[int | None, ...]]]] = {}
        self._ends: dict[int, list[ComparisonSite]] = {}  # by the operand that is evaluated last
        for site in found.sites:
            # In `table[key]` and `table.get(key)` the key is evaluated last.
            order = (site.left, site.right) if site.kind is Kind.LOOKUP else (site.right, site.left)
            last = next(operand for operand in order if not isinstance(operand, Fixed))
            self._ends.setdefault(last, []).append(site)
        self._values: list[Any] = [_NOTHING] * found.operands
        self._is_on = [False] * found.operands
        self._uses = [0] * found.operands  # by how many open sites
        self._open: set[ComparisonSite] = set()
        self._notes: _ComparisonNotes | None = None

    def watching(self, own: CodeType, decided_at: Sequence[int], notes: _ComparisonNotes) -> CodeType | None:
        """Return the code to run in place of ``own``; None when all its comparisons are decided.

        A comparison is decided when its branches, at these offsets in ``own``, went both ways.
        """
        watched = self._found.functions.get((own.co_qualname, own.co_firstlineno))
        if watched is None:
            return None
        if id(own) not in self._sites_of:
            operands = operands_in(watched.marked)
            self._sites_of[id(own)] = own, [site for n in operands for site in self._ends.get(n, ())]
        if id(own) not in self._positions_in:
            self._positions_in[id(own)] = own, list(own.co_positions())
        positions = self._positions_in[id(own)][1]  # one for each instruction, which has two bytes
        decided = {positions[offset // 2] for offset in decided_at}
        open_sites = [site for site in self._sites_of[id(own)][1] if site.position not in decided]
        if not open_sites:
            return None
        if id(own) not in self._codes:
            self._codes[id(own)] = own, with_calls(watched, own, self._call)
        code = self._codes[id(own)][1]
        if code is not None:
            self._notes = notes
            for site in open_sites:
                if site in self._open:
                    continue  # two functions share the code
                self._open.add(site)
                for operand in (site.left, site.right):
                    if not isinstance(operand, Fixed):
                        self._is_on[operand] = True
                        self._uses[operand] += 1
        return code

    def end(self) -> None:
        """Forget the values, which belong to the program."""
        self._notes = None
        self._open.clear()
        self._values = [_NOTHING] * len(self._values)
        self._is_on = [False] * len(self._is_on)
        self._uses = [0] * len(self._uses)

    def _call(self, operand: int) -> Callable[[Any], Any]:
        """Return the function through which operand number ``operand`` is passed."""

        def show(value: Any) -> Any:
            if self._is_on[operand]:
                self._saw(operand, value)
            return value

        return show

    def _saw(self, operand: int, value: Any) -> None:
        """Note a value. Raises nothing that the program would not raise: only plain values are looked at."""
        notes = self._notes
        if notes is None:
            return
        try:
            self._values[operand] = _noted(value)
            for site in self._ends.get(operand, ()):
                if site in self._open and not notes.add(site, self._value_of(site.left), self._value_of(site.right)):
                    # Look no longer at its operands: a loop would show them again and again.
                    self._open.discard(site)
                    for each in (site.left, site.right):
                        if not isinstance(each, Fixed):
                            self._uses[each] -= 1
                            self._is_on[each] = self._uses[each] > 0
        except (RecursionError, RuntimeError, MemoryError):  # near a limit, or another thread changes a collection
            return

    def _value_of(self, operand: int | Fixed) -> Any:
        if not isinstance(operand, Fixed):
            return self._values[operand]
        value = operand.value
        is_patterns = type(value) is tuple and any(type(each) is PatternValue for each in value)
        return value if is_patterns else _noted(value)


class _ComparisonNotes:
    """The values compared in the replay that ``source`` drives."""

    def __init__(self, source: _native.Replay) -> None:
        self._source = source
        self._seen: dict[tuple[int, type, Scalar, type, Scalar], int] = {}
        self._of_site: dict[ComparisonSite, int] = {}

    def add(self, site: ComparisonSite, left: Any, right: Any) -> bool:
        """Note what ``site`` compared. Return whether more of it would be noted."""
        if left is _NOTHING or right is _NOTHING:
            return True
        for relation, one, other in _pairs(site.kind, left, right):
            known = (relation, type(one), one, type(other), other)
            count = self._of_site.get(site, 0)
            if count >= NOTES_PER_SITE_MAX or len(self._seen) >= 512:
                return False
            if known not in self._seen:
                self._seen[known] = self._source.position + 1
                self._of_site[site] = count + 1
        return True

    def taken(self) -> list[_native.ComparisonTuple]:
        """Return all notes, in the order in which they were first seen."""
        return [(step, relation, left, right) for (relation, _, left, _, right), step in self._seen.items()]


def _pairs(kind: Kind, left: Any, right: Any) -> Iterator[tuple[int, Scalar, Scalar]]:
    """Yield relation, left and right for each two plain values that were compared. Equal values show nothing."""
    if kind is Kind.MATCH:
        for pattern in right:
            place = pattern.place
            is_item = type(left) is tuple and type(place) is int and place < len(left)
            item = left if place is None else left[place] if is_item else _NOTHING
            yield from _pairs(Kind.EQUAL, item, _noted(pattern.value))
    elif kind in (Kind.MEMBER, Kind.LOOKUP) and type(right) is tuple:
        for item in right:
            yield from _pairs(Kind.EQUAL, left, item)
    elif kind in (Kind.PREFIX, Kind.SUFFIX) and type(right) is tuple:
        for item in right:
            yield from _pairs(kind, left, item)
    elif type(left) is tuple and type(right) is tuple and len(left) == len(right):
        for one, other in zip(left, right, strict=True):
            yield from _pairs(kind, one, other)
    elif (type(left), type(right)) in _COMPARED and kind is not Kind.LOOKUP:
        relation = _RELATIONS[kind]
        if relation == ORDER or type(left) is not type(right) or left != right:
            yield relation, left, right


_RELATIONS = {Kind.EQUAL: EQUAL, Kind.ORDER: ORDER, Kind.MEMBER: INSIDE, Kind.PREFIX: PREFIX, Kind.SUFFIX: SUFFIX}


def _noted(value: Any, depth: int = 0) -> Any:
    """Return ``value`` if it is plain, a tuple of the noted items of a collection, else ``_NOTHING``."""
    kind = type(value)
    if kind is int:
        return value if value.bit_length() <= INTEGER_BITS_MAX else _NOTHING
    if kind is str or kind is bytes:
        return value if len(value) <= LENGTH_MAX else _NOTHING
    if kind is float:
        return value
    if depth:
        return _NOTHING
    if kind in _IN_ORDER:
        return tuple([_noted(item, 1) for item in islice(value, ITEMS_MAX)])
    if (kind is set or kind is frozenset) and len(value) <= 256:
        # The order of a set depends on the process; the sorted order of plain values of one type does not.
        plain = [item for item in value if type(item) in _PLAIN]
        return tuple(sorted(plain, key=lambda item: (type(item).__name__, repr(item)))[:ITEMS_MAX])
    return _NOTHING


def _outermost_name(code: CodeType) -> str:
    return code.co_qualname.partition(".<locals>")[0]


def _name_of(code: CodeType) -> str:
    return f"{os.path.basename(code.co_filename)}:{code.co_qualname}:{code.co_firstlineno}"  # noqa: PTH119


def _functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """Yield each function of a module once: in classes, under decorators, in closures."""
    seen: set[int] = set()
    left: list[Any] = list(vars(module).values())
    left.reverse()
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        kind = type(value)
        if kind is FunctionType:
            yield value
            left.append(vars(value).get("__wrapped__"))
            for cell in value.__closure__ or ():
                with suppress(ValueError):  # it is not filled yet
                    left.append(cell.cell_contents)
        elif issubclass(kind, type):
            if type.__getattribute__(value, "__module__") == module.__name__:
                left += reversed(list(vars(value).values()))
        elif kind in _HOLDERS:
            left += reversed([getattr(value, part) for part in _HOLDERS[kind]])


#: Objects that hold functions, and in which attributes.
_HOLDERS: dict[type, tuple[str, ...]] = {
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    MethodType: ("__func__",),
    property: ("fget", "fset", "fdel"),
    partial: ("func",),
    partialmethod: ("func",),
    cached_property: ("func",),
}
