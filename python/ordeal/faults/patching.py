"""Replaces attributes in layers that can be removed in any order and leave exactly the original behind.

Every patched attribute is one *site*: the object as found, and a stack of layers, composed again whenever one is
added or removed. Nothing is ever restored to "what was there before me", which goes wrong when two faults on one
function are switched off in the order in which they were switched on.

What a stack of layers puts in place is made once. After that C++ switches a fault by assignments alone, according to a
plan: which attributes held which objects the last time. Whenever the program is not as the plan says, the code here
does it and makes a new plan. An attribute holds the program's own object whenever no fault is on it, as programs
compare functions, replace them, and keep them; so nothing stays installed while all faults are off.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading
from difflib import get_close_matches
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakValueDictionary

import msgspec

import ordeal._native as _native
from ordeal.errors import FaultError
from ordeal.faults.attributes import (
    MISSING,
    Wrap,
    dispatching,
    function_within,
    inherited,
    split_kind,
    stored_attribute,
)

# Test runners must not meet the faults meant for the program under test, under any name that they have imported.
_MACHINERY = frozenset(
    {"ordeal", "_ordeal_pytest", "hypothesis", "pytest", "_pytest", "pluggy", "xdist", "execnet", "coverage"}
)
_SITE_MARKER = "__ordeal_site__"
_PLAIN_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)

# Guards the sites below and every change of a site. Taken after a fault's own lock, never before it.
_lock = threading.RLock()


class UnresolvedTargetError(Exception):
    """The target of a patch does not exist; the text says which part of it.

    It ``lasts`` if a module or class lacks the name, which no run changes, unlike an object of the program that does
    not exist yet. ``meant`` suggests a similar target, or is empty.
    """

    def __init__(self, text: str, *, lasts: bool = True, meant: str = "") -> None:
        super().__init__(text)
        self.lasts = lasts
        self.meant = meant


class Layer(msgspec.Struct, frozen=True, eq=False):
    """What one fault adds to one or more sites; compared by identity."""

    fault_name: str
    wrap: Wrap


# ---------------------------------------------------------------------------------------------------------------------
# Sites


class PatchedSite(_native.PatchSite):
    """One patched attribute of one owner: the original and the layers on it. Guarded by the module's lock."""

    def __init__(self, owner: Any, attribute: str) -> None:
        is_own, stored = stored_attribute(owner, attribute)
        key = (id(owner), attribute)
        super().__init__(owner, attribute, _without_dispatcher(stored), is_own=is_own, sites=_sites, key=key)
        self._function, self._rebuild = split_kind(owner, self.original)
        if not self.is_own and callable(self._function) and not isinstance(self._function, type):
            self._function = inherited(owner, attribute, self._function)
        self.set_function(self._function)
        # A class cannot be replaced by a function: isinstance and subclassing must continue to work.
        self._dispatches = callable(self._function) and not isinstance(self._function, type)
        if self._dispatches:
            dispatch, cell = dispatching(self._function)
            for name in () if isinstance(self._function, _PLAIN_FUNCTIONS) else dir(self._function):
                # For example `cache_clear` of a cached function.
                if not name.startswith("__") and not hasattr(dispatch, name):
                    setattr(dispatch, name, getattr(self._function, name))
            setattr(dispatch, _SITE_MARKER, self)
            self.set_dispatcher(self._rebuild(dispatch), cell)
        else:
            self.installed = MISSING

    def push(self, layer: Layer) -> None:
        """Put ``layer`` on top. Raises FaultError, with nothing changed, when that is impossible."""
        if self.layers and not self._is_intact():
            raise _replaced_meanwhile(layer.fault_name, self, "put on")
        if self.attribute == "__new__" and not self.is_own:
            # CPython remembers a __new__ even after its deletion: the class would refuse all arguments for good.
            raise FaultError(
                f"fault {layer.fault_name!r} cannot replace {describe(self)}: the class does not define it",
                hint="aim at the __init__ of the class",
            )
        composed, stored = self._compose([*self.layers, layer])
        if not self.layers:
            self.marked = _native.modules_mark()
        if not self.layers or not self._dispatches:
            self._store(stored, layer.fault_name)
        self.add(layer, composed)

    def pop(self, layer: Layer) -> None:
        """Remove ``layer``, wherever it is in the stack; removing the last one restores the original.

        Raises FaultError when something else has replaced the attribute, which is then left as it is.
        """
        is_intact = self._is_intact()
        left = [each for each in self.layers if each is not layer]
        composed, stored = self._compose(left)
        # A dispatcher that the program kept a reference to must lose its effect too.
        self.remove(layer, composed)
        if not is_intact:
            raise _replaced_meanwhile(layer.fault_name, self, "taken off")
        if left:
            if not self._dispatches:
                self._store(stored, layer.fault_name)
            return
        if self.is_own:
            setattr(self.owner, self.attribute, self.original)
        else:
            delattr(self.owner, self.attribute)
        if isinstance(self.owner, ModuleType) and self.marked is not _native.modules_mark():
            # A module that ran `from m import f` while the fault was active got the dispatcher.
            for module, name in _native.module_bindings([self.installed]):
                setattr(module, name, self.original)

    def make(self, layer: Layer) -> None:
        """Call the wrapper of ``layer`` for a switch to come. Raises FaultError when that fails."""
        self._compose([layer])

    def _compose(self, layers: list[Layer]) -> tuple[Any, Any]:
        """Return what the layers make of the function, and what the attribute holds for that; made once."""
        if not layers:
            return self._function, self.original
        known = self.known(layers)
        if known is None:
            composed = self._wrap(layers[-1], self._compose(layers[:-1])[0])
            known = composed, self.installed if self._dispatches else self._rebuild(composed)
            self.remember(layers, *known)
        return known

    def _wrap(self, layer: Layer, inner: Any) -> Any:
        try:
            value = layer.wrap(inner)
        except FaultError:
            raise
        except Exception as error:
            raise FaultError(
                f"the wrapper of fault {layer.fault_name!r} failed for {describe(self)}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if callable(inner) and not callable(value):
            raise FaultError(
                f"the wrapper of fault {layer.fault_name!r} returned {value!r} for {describe(self)}",
                hint="return the function to be called instead of the original",
            )
        return value

    def _is_intact(self) -> bool:
        return stored_attribute(self.owner, self.attribute)[1] is self.installed

    def _store(self, value: Any, fault_name: str) -> None:
        try:
            setattr(self.owner, self.attribute, value)
        except (TypeError, AttributeError) as error:
            raise FaultError(
                f"fault {fault_name!r} cannot replace {describe(self)}: {error}",
                hint="aim at the name in your own module that refers to it",
            ) from error
        self.installed = value


# The sites with layers on them.
_sites: dict[tuple[int, str], PatchedSite] = {}
# All that some plan holds, so that faults on one attribute share what they have made.
_known_sites: WeakValueDictionary[tuple[int, str], PatchedSite] = WeakValueDictionary()


def _without_dispatcher(stored: Any) -> Any:
    """Return the original below a dispatcher that the program put back after its site was gone."""
    function = function_within(stored)
    site = getattr(function, "__dict__", {}).get(_SITE_MARKER)
    return site.original if isinstance(site, PatchedSite) and stored is site.installed else stored


def _replaced_meanwhile(fault_name: str, site: PatchedSite, doing: str) -> FaultError:
    return FaultError(
        f"fault {fault_name!r} cannot be {doing} {describe(site)}: something else has replaced that attribute "
        "while a fault was active on it, and was left in place",
        hint="undo the other replacement (for example a monkeypatch) before the fault is switched",
    )


def describe(site: PatchedSite) -> str:
    """Return the dotted name of a site, in backticks, for messages."""
    owner = site.owner
    if isinstance(owner, ModuleType):
        return f"`{owner.__name__}.{site.attribute}`"
    kind = owner if isinstance(owner, type) else type(owner)
    return f"`{kind.__module__}.{kind.__qualname__}.{site.attribute}`"


# ---------------------------------------------------------------------------------------------------------------------
# Bindings of one function in several modules


def _package(name: str) -> str:
    """Return the top-level package of a dotted name; the standard library counts as one."""
    top = name.partition(".")[0]
    return "<stdlib>" if top in sys.stdlib_module_names else top


def _bindings_to_patch(owner: Any, attribute: str, original: Any) -> list[tuple[ModuleType, str]]:
    """Return where else the function behind a target is bound in a module, if a fault on the target must act there.

    It must if the target is in the package that defines the function. A target in another package names the import of a
    foreign function (`shop.orders.sleep`) and means only that binding.
    """
    if not isinstance(owner, ModuleType) or not callable(original):
        return []
    if _package(getattr(original, "__module__", None) or "") != _package(owner.__name__):
        return []
    # The function itself, and its stand-ins while a fault is on.
    forms = [original, *(site.installed for site in _sites.values() if site.original is original)]
    found = []
    for module, name in _native.module_bindings(forms):
        package = _package(module.__name__)
        is_foreign = package == "<stdlib>" or package in _MACHINERY
        is_near = module.__name__.partition(".")[0] == owner.__name__.partition(".")[0]
        if (module is not owner or name != attribute) and (is_near or not is_foreign):
            found.append((module, name))
    return found


def _original(owner: Any, attribute: str) -> Any:
    site = _sites.get((id(owner), attribute))
    return site.original if site is not None else _without_dispatcher(stored_attribute(owner, attribute)[1])


# ---------------------------------------------------------------------------------------------------------------------
# Targets


class TargetPath:
    """A dotted path to an attribute. The module part is found once, the objects again every time."""

    def __init__(self, target: object) -> None:
        """Raise FaultError if ``target`` is not a dotted path."""
        parts = target.split(".") if isinstance(target, str) else []
        if len(parts) < 2 or not all(part.isidentifier() for part in parts):
            raise FaultError(
                f"the target of a fault must be a dotted path, got {target!r}",
                hint='write the module and the attribute, for example "shop.api.charge" or "shop.api.Client.send"',
            )
        self._parts = parts
        self._module_name: str | None = None
        self._failed: tuple[object, UnresolvedTargetError] | None = None

    def resolve(self) -> tuple[Any, str]:
        """Return the owner and the name of the attribute. Raises UnresolvedTargetError."""
        if self._failed is not None and self._failed[0] is _native.modules_mark():
            raise self._failed[1]
        try:
            return self._resolve()
        except UnresolvedTargetError as error:
            self._module_name = None  # a module imported later may be a longer part of the path
            text = f"{'.'.join(self._parts)!r} ({error})"
            failure = UnresolvedTargetError(text, lasts=error.lasts, meant=error.meant)
            # A failed import searches the file system, and a nemesis would repeat it at every toggle.
            self._failed = (_native.modules_mark(), failure)
            raise failure from error

    def _resolve(self) -> tuple[Any, str]:
        if self._module_name is None:
            self._module_name = _longest_module(self._parts)
        owner: Any = importlib.import_module(self._module_name)
        place = self._module_name
        for name in self._parts[place.count(".") + 1 : -1]:
            found = getattr(owner, name, MISSING)
            if found is MISSING:
                raise self._no_attribute(owner, place, name)
            owner, place = found, f"{place}.{name}"
        if stored_attribute(owner, self._parts[-1])[1] is MISSING:
            raise self._no_attribute(owner, place, self._parts[-1])
        return owner, self._parts[-1]

    def steps(self) -> list[_native.PathStep]:
        """Return what led to the owner, after ``resolve()``: containers, names, and what these were found to be."""
        assert self._module_name is not None
        owner: Any = sys.modules[self._module_name]
        steps: list[_native.PathStep] = [(sys.modules, self._module_name, owner, True)]
        for name in self._parts[self._module_name.count(".") + 1 : -1]:
            steps.append((owner, name, getattr(owner, name), False))
            owner = steps[-1][2]
        return steps

    def _no_attribute(self, owner: Any, place: str, name: str) -> UnresolvedTargetError:
        # For an object the names of its class, which are safe to read.
        names = dir(owner if isinstance(owner, ModuleType | type) else type(owner))
        if isinstance(owner, ModuleType):
            names += [module.name for module in pkgutil.iter_modules(getattr(owner, "__path__", []))]
        close = get_close_matches(name, names, n=1)
        rest = self._parts[place.count(".") + 2 :]
        return UnresolvedTargetError(
            f"`{place}` has no attribute {name!r}",
            lasts=isinstance(owner, ModuleType | type),
            meant=".".join([place, close[0], *rest]) if close else "",
        )


def _longest_module(parts: list[str]) -> str:
    """Return the longest part of the path that is a module, without the last name."""
    for end in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:end])
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            # Only "this is not a module" permits a shorter path; a module that lacks another one is broken.
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise UnresolvedTargetError(f"importing `{name}` raises {type(error).__name__}: {error}") from error
        except Exception as error:
            raise UnresolvedTargetError(f"importing `{name}` raises {type(error).__name__}: {error}") from error
        else:
            return name
    tops = {module for module in sys.modules if "." not in module} | {found.name for found in pkgutil.iter_modules()}
    close = get_close_matches(parts[0], sorted(tops), n=1)
    meant = ".".join([close[0], *parts[1:]]) if close else ""
    raise UnresolvedTargetError(f"no module named `{parts[0]}`", meant=meant)


# ---------------------------------------------------------------------------------------------------------------------
# Patches


class Patch:
    """One target and its wrapper; applied and undone as a whole. Not thread-safe: its fault holds a lock."""

    def __init__(self, fault_name: str, target: str, wrap: Wrap) -> None:
        self._path = TargetPath(target)
        self._layer = Layer(fault_name, wrap)
        self._sites: list[PatchedSite] = []
        self._planned: list[PatchedSite] = []
        self._bindings: list[tuple[ModuleType, str]] = []
        self._bindings_of: tuple[object, Any] | None = None

    def apply(self) -> None:
        """Put the layer on every site. Raises UnresolvedTargetError or FaultError with nothing left patched."""
        owner, attribute = self._path.resolve()
        with _lock:
            try:
                for place in [(owner, attribute), *self._other_bindings(owner, attribute)]:
                    key = (id(place[0]), place[1])
                    site = _sites.get(key) or _site_at(*place)
                    site.push(self._layer)
                    _sites[key] = site
                    self._sites.append(site)
            except BaseException:
                self.undo()
                raise

    def undo(self) -> None:
        """Remove the layer from every site. Raises the first FaultError after all have been tried."""
        errors: list[FaultError] = []
        with _lock:
            while self._sites:
                site = self._sites.pop()
                try:
                    site.pop(self._layer)
                except FaultError as error:
                    errors.append(error)
                finally:
                    if not site.layers:
                        _sites.pop((id(site.owner), site.attribute), None)
        if errors:
            raise errors[0]

    def check(self) -> None:
        """Check that the target exists. Raises UnresolvedTargetError when it does not."""
        self._path.resolve()

    @property
    def is_applied(self) -> bool:
        """Return True if the layer is on any site, unless its plan has put it there."""
        return bool(self._sites)

    def wrap_again(self) -> bool:
        """Have the wrapper make what is put on the planned sites; return whether it could be made there."""
        with _lock:
            for site in self._planned:
                if site.layers or site.known([self._layer]) is not None:
                    return False
                site.make(self._layer)
        return True

    def take_over(self) -> None:
        """Treat the layer as applied, which its plan has done."""
        self._sites = list(self._planned)

    def plan(self) -> tuple[list[_native.PathStep], _native.PatchPart] | None:
        """Return, while it is applied, what has led to the sites, and what is on them: a part of a plan.

        None if an attribute cannot be set without code of the program, or a wrapper has just imported modules.
        """
        is_late = self._bindings_of is None or self._bindings_of[0] is not _native.modules_mark()
        if is_late or not all(site.is_direct for site in self._sites):
            return None
        used = {(id(site.owner), site.attribute) for site in self._sites}
        others = [(module, name) for module, name in self._bindings if (id(module), name) not in used]
        self._planned = list(self._sites)
        return self._path.steps(), (self._layer, self._planned, others, self._planned[0].original)

    def _other_bindings(self, owner: Any, attribute: str) -> list[tuple[ModuleType, str]]:
        original = _original(owner, attribute)
        state = _native.modules_mark()
        # Looking through all modules takes milliseconds, and a nemesis toggles many times per second.
        if self._bindings_of is None or self._bindings_of[0] is not state or self._bindings_of[1] is not original:
            self._bindings = _bindings_to_patch(owner, attribute, original)
            self._bindings_of = (state, original)
        return [(module, name) for module, name in self._bindings if _original(module, name) is original]


def _site_at(owner: Any, attribute: str) -> PatchedSite:
    """Return the site of an attribute without layers: the one that was there before, if nothing has changed since."""
    key = (id(owner), attribute)
    site = _known_sites.get(key)
    is_own, stored = stored_attribute(owner, attribute)
    if site is None or site.owner is not owner or site.original is not stored or site.is_own != is_own:
        site = _known_sites[key] = PatchedSite(owner, attribute)
    return site
