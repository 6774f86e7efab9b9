"""Temporarily replaces real functions by those of a simulation, in the modules of the program under test.

The places where a function is bound are found once, and again only after an import. Nested entries are counted: the
replacements stay until the last has left, in any order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType, TracebackType
from typing import Any

import ordeal._native as _native
from ordeal.simulate.errors import SimulationError

# The deadlines and files of test runners are real.
MACHINERY = frozenset(
    {"ordeal", "_ordeal_pytest", "hypothesis", "pytest", "_pytest", "pluggy", "xdist", "execnet", "coverage"}
)

type Owner = ModuleType | type
type Named = tuple[Owner, str]
# Where a function is bound, what its owner holds, and the replacement.
type Place = tuple[Owner, str, Mapping[str, Any], Any]


def package_of(module_name: str) -> str:
    """Return the top-level package of a dotted name."""
    return module_name.partition(".")[0]


class BoundPlaces:
    """Where functions are bound: under their own names, and wherever ``from time import sleep`` put them.

    The standard library is left alone except for the functions themselves, and so are test runners. The replacements
    act in all threads; entering and leaving belong in one.
    """

    def __init__(self, replacements: Mapping[Named, Any]) -> None:
        """Takes what stands for the attributes of modules and classes, as their namespaces are to hold it."""
        self._own: list[Place] = [
            (owner, name, namespace_of(owner), put) for (owner, name), put in replacements.items()
        ]
        modules = [(owner, name) for owner, name in replacements if not isinstance(owner, type)]
        # Kept, so that the ids of the functions are not reused.
        self._functions = [getattr(owner, name) for owner, name in modules]
        self._by_id = {id(real): replacements[named] for real, named in zip(self._functions, modules, strict=True)}
        self._found: list[Place] = []
        self._found_at: tuple[int, str | None] | None = None
        self._originals: list[Any] = []
        self._entered = 0
        self._entered_at: tuple[int, str | None] | None = None

    def enter(self) -> None:
        """Put the replacements in place, unless they are."""
        if self._entered == 0:
            self._entered_at = modules_mark()
            if self._found_at != self._entered_at:
                self._found = list(self._own)
                # A method is bound nowhere else, and a block may be entered before each step.
                for module_name, module in program_modules() if self._by_id else ():
                    if package_of(module_name) in MACHINERY:
                        continue
                    namespace = namespace_of(module)
                    for bound, value in list(namespace.items()):
                        if id(value) in self._by_id:
                            self._found.append((module, bound, namespace, self._by_id[id(value)]))
                self._found_at = self._entered_at
            self._originals = _native.replace_at(self._found)
        self._entered += 1

    def leave(self) -> list[str]:
        """Restore what was there when this was entered first, if this leaves that; return what others have replaced."""
        self._entered -= 1
        if self._entered:
            return []
        places, originals, self._originals = self._found, self._originals, []
        left = _native.restore_at(places, originals)
        if modules_mark() != self._entered_at:
            # A module that ran `from time import sleep` inside the block got the replacement.
            real = {id(place[3]): original for place, original in zip(places, originals, strict=True)}
            for _, module in program_modules():
                namespace: Any = namespace_of(module)
                for bound, value in list(namespace.items()):
                    if id(value) in real:
                        namespace[bound] = real[id(value)]
        return [f"{places[number][2].get('__name__', places[number][0])}.{places[number][1]}" for number in left]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the replacements in place, for the block."""
        self.enter()
        try:
            yield
        finally:
            self.leave()


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

    Entering returns the simulation. It can be entered again after it was left.
    """

    def __init__(self, simulation: Simulation, places: BoundPlaces, answering: list[Any], entry: Any) -> None:
        """Appends ``entry`` to ``answering`` for the block, and counts the block in ``simulation.patches``."""
        self._simulation: Any = simulation
        self._places = places
        self._answering = answering
        self._entry = entry
        self._is_entered = False

    def __enter__(self) -> Simulation:
        if self._is_entered:
            raise SimulationError("this patch is in place already", hint="call patch() again for a second block")
        self._places.enter()
        self._answering.append(self._entry)
        self._simulation.patches += 1
        self._is_entered = True
        return self._simulation  # type: ignore[no-any-return]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_entered = False
        self._simulation.patches -= 1
        self._answering.pop()
        foreign = self._places.leave()
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
