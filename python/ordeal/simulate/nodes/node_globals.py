"""Globals of modules: those that a node has for itself, and those that several nodes write."""

from __future__ import annotations

import enum
import gc
import importlib
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from ordeal._native import deep_copy
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.replacement import MACHINERY, namespace_of, package_of, program_modules
from ordeal.simulate.runtime.sites import is_of_project

#: What holds globals: a module, or a class that was written in it.
type Holder = ModuleType | type

#: Whose globals the test itself sees, and who does what nodes do that are gone.
_TEST, _GONE = "", "\0"
#: How many objects are looked through for context variables.
_OBJECTS_MAX = 100_000
_HINT = 'name modules of the program, such as `own=["app.state"]`'


class _Held:
    """The globals of one holder: those of the test, and of each node that has its own."""

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        self._spaces: dict[str, dict[str, Any]] = {}
        self._present = _TEST

    def put(self, node: str, data: dict[str, Any]) -> None:
        """Let a node have these globals from now on. Those of the test are in place."""
        self._spaces[node] = data

    def show(self, node: str) -> None:
        """Let the holder have the globals of a node; of the test, if the node has none of its own."""
        wanted = node if node in self._spaces else _TEST
        if wanted == self._present:
            return
        before = self._spaces[self._present] = data_of(self.holder)
        after = self._spaces[wanted]
        for name in before.keys() - after.keys():
            delattr(self.holder, name)
        for name, value in after.items():
            if name not in before or before[name] is not value:
                setattr(self.holder, name, value)
        self._present = wanted


class OwnModules:
    """The modules that nodes of one world have copies of. Not thread-safe."""

    def __init__(self) -> None:
        self._held: list[_Held] = []
        self._of_nodes: dict[str, tuple[list[_Held], list[dict[str, Any]]]] = {}
        self._present = _TEST

    def give(self, node: str, names: Any) -> None:
        """Let a node have the modules of these names for itself, as they are now.

        Raises:
            SimulationError: one is no module of the program, or holds what cannot be copied.
        """
        holders = [holder for name in _checked(names) for holder in _holders_in(_module(name))]
        held = [self._held_of(holder) for holder in holders]
        self.leave()
        self._of_nodes[node] = held, _copied(node, [data_of(holder) for holder in holders])

    def _held_of(self, holder: Holder) -> _Held:
        known = next((each for each in self._held if each.holder is holder), None)
        if known is None:
            known = _Held(holder)
            self._held.append(known)
        return known

    def begin_life(self, node: str) -> None:
        """Let a node begin with its modules as they were when it was made."""
        held, pristine = self._of_nodes.get(node, ([], []))
        present = self._present
        self.leave()
        for each, data in zip(held, _copied(node, pristine), strict=True):
            each.put(node, data)
        self.enter(present)

    def enter(self, node: str) -> None:
        """Let the modules have the globals of a node from now on."""
        if node != self._present:
            self._present = node
            for each in self._held:
                each.show(node)

    def leave(self) -> None:
        """Let the modules have the globals that the test sees from now on."""
        self.enter(_TEST)

    def call[Result](self, node: str, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function that sees the globals of a node."""
        present = self._present
        self.enter(node)
        try:
            return function(*arguments)
        finally:
            self.enter(present)

    @contextmanager
    def burying(self) -> Iterator[None]:
        """Let what nodes do that are gone come to nothing, for the block."""
        self.leave()
        for held, pristine in self._of_nodes.values():
            for each, data in zip(held, pristine, strict=True):
                each.put(_GONE, dict(data))
        self.enter(_GONE)
        try:
            yield
        finally:
            self.leave()


def _checked(names: Any) -> list[str]:
    if isinstance(names, str) or not isinstance(names, list | tuple | set | frozenset):
        raise SimulationError(f"own is {names!r:.100}", hint=_HINT)
    return sorted(names, key=repr) if isinstance(names, set | frozenset) else list(names)


def _module(name: Any) -> ModuleType:
    if not isinstance(name, str) or not name:
        raise SimulationError(f"{name!r:.100} is no name of a module", hint=_HINT)
    if package_of(name) in MACHINERY or package_of(name) in sys.stdlib_module_names:
        raise SimulationError(f"{name} is no module of the program, so all nodes share it", hint=_HINT)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SimulationError(f"no node can have a copy of {name}: {error}", hint=_HINT) from None


def _holders_in(module: ModuleType) -> list[Holder]:
    classes = [
        value
        for value in namespace_of(module).values()
        if issubclass(type(value), type) and value.__module__ == module.__name__ and not issubclass(value, enum.Enum)
    ]
    return [module, *dict.fromkeys(classes)]


_CODE = (
    *(type, ModuleType, FunctionType, BuiltinFunctionType, MethodType),
    *(MethodDescriptorType, WrapperDescriptorType, MethodWrapperType, ClassMethodDescriptorType),
)


def data_of(holder: Holder) -> dict[str, Any]:
    """Return the globals of a module or class that are data: no functions, classes, modules, nor names of Python's."""
    is_class = isinstance(holder, type)
    return {
        name: value
        for name, value in namespace_of(holder).items()
        if not (name.startswith("__") and name.endswith("__"))
        # What an object says of its class may be its own code.
        and not issubclass(type(value), _CODE)
        and not (is_class and hasattr(type(value), "__get__"))
    }


def _copied(node: str, spaces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Copy globals; what two of them refer to is one object in the copies as well.

    Context variables stay as they are: their values differ from node to node by themselves.
    """
    memo = {id(value): value for space in spaces for value in space.values() if type(value) is ContextVar}
    try:
        return deep_copy(spaces, memo)
    except Exception:  # noqa: BLE001 - whatever hooks of the program raise
        memo.update((id(each), each) for each in _context_variables_in(spaces))
    try:
        return deep_copy(spaces, memo)
    except Exception as error:
        name = next((name for space in spaces for name in space if not _is_copied(space[name], memo)), "of a module")
        raise SimulationError(
            f"the global {name} cannot be copied for the node {node}: {error}",
            hint="make it in the function of the node, or leave its module out of `own`",
        ) from error


def _context_variables_in(spaces: list[dict[str, Any]]) -> Iterator[ContextVar[Any]]:
    """Yield the context variables to which something in these globals leads."""
    layer: list[Any] = [value for space in spaces for value in space.values()]
    seen = {id(each) for each in layer}
    while layer and len(seen) < _OBJECTS_MAX:
        yield from (each for each in layer if type(each) is ContextVar)
        layer = [each for each in gc.get_referents(*layer) if not isinstance(each, _CODE) and id(each) not in seen]
        layer = list({id(each): each for each in layer}.values())
        seen.update(map(id, layer))


def _is_copied(value: Any, memo: dict[int, Any]) -> bool:
    try:
        deep_copy(value, dict(memo))
    except Exception:  # noqa: BLE001 - whatever hooks of the program raise
        return False
    return True


#: How many values are compared in a run, at most: some million take a second.
_COMPARED_MAX = 1_000_000
#: How many items of a container count.
_ITEMS_MAX = 100


class SharedGlobals:
    """Who wrote which globals of the project's modules. For one run."""

    def __init__(self, *, without: str) -> None:
        """Leaves out the module ``without``: that of the test, which takes notes of what nodes do."""
        self._modules = [
            (name, module)
            for name, module in program_modules()
            if name != without and is_of_project(namespace_of(module).get("__file__"))
        ]
        self._seen = {name: _shapes(module) for name, module in self._modules}
        self._left = _COMPARED_MAX
        self._writers: dict[str, set[str]] = {}

    def stepped(self, node: str) -> None:
        """Note what a node has written in the step that has ended."""
        if self._left <= 0:
            return
        for name, module in self._modules:
            before, after = self._seen[name], _shapes(module)
            self._left -= len(after)
            for key, shape in after.items():
                if key not in before or not _is_same(before[key], shape):
                    self._writers.setdefault(f"{name}.{key}", set()).add(node)
            self._seen[name] = after

    def found(self) -> dict[str, tuple[str, ...]]:
        """Return who wrote the globals that more than one node has written."""
        return {name: tuple(sorted(nodes)) for name, nodes in sorted(self._writers.items()) if len(nodes) > 1}


def _shapes(module: Any) -> dict[str, tuple[Any, ...]]:
    """Return each global and what it holds itself, to be compared by identity."""
    return {name: (value, *islice(_items(value), _ITEMS_MAX)) for name, value in data_of(module).items()}


def _items(value: Any) -> Iterator[Any]:
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            yield key
            yield item
    elif kind in (list, deque, set):
        yield from value
    elif kind.__module__ != "builtins":
        yield from _attributes(value).values()


def _attributes(value: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except Exception:  # noqa: BLE001 - code of the program, which may do anything
        return {}
    return found if type(found) is dict else {}


def _is_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(one) == len(other) and all(map(operator.is_, one, other))
