"""Temporarily replaces real functions by those of a simulation, in the modules of the program under test.

Entering and leaving cost microseconds, because a machine does both in every rule: the places where a function is bound
are found once, and again only after an import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType, TracebackType
from typing import Any

import ordeal._native as _native
from ordeal.simulate.errors import SimulationError

# Test runners have deadlines and files of their own, which are real.
MACHINERY = frozenset(
    {"ordeal", "_ordeal_pytest", "hypothesis", "pytest", "_pytest", "pluggy", "xdist", "execnet", "coverage"}
)

type Owner = ModuleType | type
type Named = tuple[ModuleType, str]
# Where a function is bound, what its owner holds, and the replacement.
type Place = tuple[Owner, str, Mapping[str, Any], Any]


def package_of(module_name: str) -> str:
    """Return the top-level package of a dotted name."""
    return module_name.partition(".")[0]


class BoundPlaces:
    """Where functions are bound: under their own names, and wherever ``from time import sleep`` put them.

    The standard library is left alone except for the functions themselves, and so are test runners.
    """

    def __init__(self, replacements: Mapping[Named, Any], *, captured: Mapping[tuple[type, str], Any]) -> None:
        """``captured`` are static methods of classes that are such a function too."""
        self._own: list[Place] = [
            *((module, name, namespace_of(module), put) for (module, name), put in replacements.items()),
            *((cls, name, namespace_of(cls), staticmethod(put)) for (cls, name), put in captured.items()),
        ]
        # Kept, so that the ids of the functions are not reused.
        self._functions = [getattr(module, name) for module, name in replacements]
        self._by_id = dict(zip(map(id, self._functions), replacements.values(), strict=True))
        self._found: list[Place] = []
        self.found_at: tuple[int, str | None] | None = None

    def find(self) -> list[Place]:
        """Return all places that exist now."""
        mark = modules_mark()
        if self.found_at != mark:
            self._found = [*self._own, *self._bound_elsewhere()]
            self.found_at = mark
        return self._found

    def _bound_elsewhere(self) -> Iterator[Place]:
        for name, module in program_modules():
            if package_of(name) in MACHINERY:
                continue
            namespace = namespace_of(module)
            for bound, value in list(namespace.items()):
                if id(value) in self._by_id:
                    yield module, bound, namespace, self._by_id[id(value)]


def modules_mark() -> tuple[int, str | None]:
    """Return a mark that changes when a module has been imported, and costs nothing."""
    return len(sys.modules), next(reversed(sys.modules), None)


_DESCRIBED: Any = ModuleType.__dict__
_stored_in = _DESCRIBED["__dict__"].__get__


def namespace_of(owner: Owner) -> Mapping[str, Any]:
    """Return what a module or a class itself holds, as it is stored."""
    # A module is not asked: that would load a lazy one, and a subclass may answer anything.
    return vars(owner) if issubclass(type(owner), type) else _stored_in(owner)


def loaded_module(name: str) -> ModuleType | None:
    """Return the module that is loaded under a name; None if there is none, or something else stands there."""
    module: Any = sys.modules.get(name)
    return module if issubclass(type(module), ModuleType) else None


def program_modules() -> Iterator[tuple[str, ModuleType]]:
    """Yield every imported module outside the standard library once, with its name."""
    # The table may hold anything, despite its type, and a module twice: multiprocessing gives __main__ another name.
    modules: list[tuple[Any, Any]] = list(sys.modules.items())
    seen: set[int] = set()
    for name, module in modules:
        # What an object says of its class may be its own code; cffi's say that they are modules.
        if type(name) is not str or not issubclass(type(module), ModuleType) or id(module) in seen:
            continue
        if name == "__main__" or package_of(name) not in sys.stdlib_module_names:
            seen.add(id(module))
            yield name, module


class Replacement[Simulation]:
    """A context manager that replaces functions and restores them.

    Entering returns the simulation. It can be entered again after it was left. The replacement acts in all threads;
    entering and leaving belong in one.
    """

    def __init__(
        self,
        simulation: Simulation,
        places: BoundPlaces,
        *,
        on_change: Callable[[int], None],
    ) -> None:
        """Calls ``on_change`` with +1 when the block is entered and -1 when it is left."""
        self._simulation = simulation
        self._places = places
        self._on_change = on_change
        self._replaced: tuple[list[Place], list[Any]] | None = None
        self._entered_at: tuple[int, str | None] | None = None

    def __enter__(self) -> Simulation:
        if self._replaced is not None:
            raise SimulationError("this patch is in place already", hint="call patch() again for a second block")
        places = self._places.find()
        self._on_change(1)
        self._entered_at = self._places.found_at
        self._replaced = places, _native.replace_at(places)
        return self._simulation

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        (places, originals), self._replaced = self._replaced or ([], []), None
        self._on_change(-1)
        left = _native.restore_at(places, originals)
        foreign = [f"{places[number][2].get('__name__', places[number][0])}.{places[number][1]}" for number in left]
        if modules_mark() != self._entered_at:
            _restore_in_late_modules(places, originals)
        if foreign and error is None:
            raise SimulationError(
                f"something else has replaced {', '.join(foreign)} inside of the patch, and was left in place",
                hint="undo the other replacement (a fault, a monkeypatch) before the block of patch() ends",
            )

    def __deepcopy__(self, memo: dict[int, Any]) -> Replacement[Simulation]:
        raise SimulationError(
            "a patch cannot be copied with its machine",
            hint="keep the clock or the file system in the machine, and enter its patch() in each rule",
        )


def _restore_in_late_modules(places: list[Place], replaced: list[Any]) -> None:
    # A module that ran `from time import sleep` inside the block got the replacement.
    originals = {id(place[3]): original for place, original in zip(places, replaced, strict=True)}
    for _, module in program_modules():
        namespace: Any = namespace_of(module)
        for bound, value in list(namespace.items()):
            if id(value) in originals:
                namespace[bound] = originals[id(value)]
