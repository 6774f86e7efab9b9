"""Tries the methods of a class in a separate process: which arguments they take, and what they raise.

Nothing here writes files, starts processes or threads, connects or sleeps: an audit hook refuses it, and a method that
tries is left out of the machine. A class whose constructor takes a path is tried again with a separate folder when it
meets files. Each call has a time limit, and the process has limits of memory and CPU.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import linecache
import os
import re
import sys
import tempfile
import textwrap
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator, MappingView, Sequence
from contextlib import AbstractContextManager, ContextDecorator, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice, product
from typing import Any, TypeVar

import msgspec

from ordeal._base.interpreter import send_and_exit, take_request
from ordeal._base.limits import ITEMS_MAX, LISTED_MAX
from ordeal._tools.scaffold.guard import ABOUT_FILES, WATCH, CallTimeoutError, ForbiddenError, bounded, limit_process
from ordeal._tools.scaffold.trying import NO_ROOM, ClassTry, TriedMethod, TriedParameter
from ordeal._tools.scaffold.values import (
    ANYTHING,
    CALLBACK,
    FUNCTION,
    LIST,
    POSITIVE,
    SIZE,
    SYMBOLS,
    VALUE,
    CallbackError,
    Candidate,
    Draws,
    NothingGivenError,
    bundle_name,
    candidates,
    handle,
    hints_of,
    is_bundle,
    is_own,
    is_place,
    known_values,
    members,
    needs_own,
    places,
    typed,
)


@dataclass(slots=True)
class Parameter:
    name: str
    keyword: bool
    candidates: list[Candidate]
    is_guessed: bool = False  # its type is unknown
    is_optional: bool = False  # it may be left out of a call, whatever else is given
    lacks_value: bool = False  # a call without it has None, which the object may keep


@dataclass(slots=True)
class Method:
    name: str
    form: str  # call, item, operator, property
    parameters: list[Parameter]
    chosen: tuple[Candidate, ...] = ()
    answers: set[type[BaseException]] = field(default_factory=set)
    lacks: set[type[BaseException]] = field(default_factory=set)  # what its values asked for
    mistakes: set[type[BaseException]] = field(default_factory=set)
    passed: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    refused: str = ""
    iterates: bool = False
    endless: bool = False
    enters: bool = False
    gives_own: bool = True
    gives: set[type] = field(default_factory=set)
    ends: bool = False


def never_passed(method: Method) -> str:
    """Return why a method that was not refused cannot be a rule; nothing if it can."""
    if method.ends:
        return ""
    if not method.failed:
        return "" if method.passed else "there was no time to try it"
    said, count = method.failed.most_common(1)[0]
    if said.startswith(("TypeError", "AttributeError")) and any(each.is_guessed for each in method.parameters):
        return said if 10 * count > method.passed else ""  # it may pass while nothing is there yet
    return "" if method.passed or share_of(said) >= _NOTHING_THERE else said


def share_of(said: str) -> float:
    """Return how much of a passed call an exception is worth: nothing is at a key as long as nothing was put there."""
    return (
        _NOTHING_THERE if said.startswith(("KeyError", "IndexError")) else 0.3 if said.startswith("ValueError") else 0.0
    )


_NOTHING_THERE = 0.5
LEFT_OUT = object()
OMITTED = Candidate("", "", lambda _: LEFT_OUT)


def choices(parameters: Sequence[Parameter], most: int = 24) -> Iterator[tuple[Candidate, ...]]:
    """Yield combinations of values for the parameters, the likeliest first."""
    depths = [range(len(each.candidates)) for each in parameters]
    combined = islice(product(*depths), 4096)
    for picked in sorted(combined, key=sum)[:most]:
        yield tuple(each.candidates[number] for each, number in zip(parameters, picked, strict=True))


def invoke(function: Any, parameters: Sequence[Parameter], values: Sequence[Any]) -> Any:
    positional, named, by_name = [], {}, False
    for parameter, value in zip(parameters, values, strict=True):
        if value is LEFT_OUT:
            by_name = True
        elif by_name or parameter.keyword:
            named[parameter.name] = value
        else:
            positional.append(value)
    return function(*positional, **named)


def call(thing: Any, method: Method, values: Sequence[Any]) -> Any:
    if method.form == "property":
        return getattr(thing, method.name)
    result = invoke(getattr(thing, method.name), method.parameters, values)
    if result is NotImplemented and method.form == "operator" and method.name != "__eq__":
        raise TypeError("it takes no such operand")  # as the operator itself would say
    return result


def consumed(result: Any, method: Method) -> Any:
    if isinstance(result, types.GeneratorType | Iterator | MappingView):
        method.iterates = True
        items = list(islice(result, ITEMS_MAX))  # type: ignore[arg-type]
        method.endless |= len(items) == ITEMS_MAX
    if isinstance(result, AbstractContextManager) and isinstance(result, ContextDecorator):
        method.enters = True
        with result:
            pass
    return result


def is_read(found: object) -> bool:
    """Return True if an attribute of a class computes a value for its objects, as a property does."""
    if isinstance(found, types.MemberDescriptorType | types.GetSetDescriptorType | classmethod):
        return False
    return hasattr(found, "__get__") and not callable(found)


def text_of(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, type):
        return annotation.__qualname__
    return str(annotation).replace("typing.", "").replace("collections.abc.", "").replace("~", "")


def said(error: BaseException) -> str:
    if isinstance(error, NothingGivenError):
        return str(error)
    try:
        words = str(error).partition("\n")[0][:120]
    except Exception:  # noqa: BLE001 - a message of the code under trial
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def public_place(thing: type, package: str) -> tuple[str, str]:
    """Return the module and name under which a person would import a class."""
    name, module = thing.__qualname__, thing.__module__
    if module == "builtins" or thing is CallbackError:
        return "", name
    for home in (package, *(module.rsplit(".", depth)[0] for depth in range(module.count("."), 0, -1))):
        if getattr(sys.modules.get(home), name, None) is thing:
            return home, name
    return module, name


def shown(parameters: Sequence[Parameter], choice: Sequence[Candidate]) -> list[TriedParameter]:
    found, by_name = [], False
    for parameter, candidate in zip(parameters, choice, strict=False):
        if candidate is OMITTED:
            by_name = True
        else:
            words = candidate.strategy, candidate.type, [*candidate.imports]
            keyword = by_name or parameter.keyword
            found.append(TriedParameter(parameter.name, keyword, *words, optional=parameter.is_optional))
    return found


#: Values that are drawn for each call that is tried.
_DRAWS = 4

#: Methods after which an object cannot be used, unless one of the second kind opens it again.
_ENDS = ("close", "shutdown", "disconnect", "terminate", "dispose", "destroy")
_BEGINS = frozenset(["open", "reopen", "connect", "reconnect", "start", "restart"])
_ITEMS = ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__call__")


class _ClassTrial:
    """The trial of one class."""

    def __init__(self, cls: type, package: str, deadline: float, places: Sequence[Candidate] = ()) -> None:
        self._cls = cls
        self._package = package
        self._deadline = deadline
        self._places = places  # for what a constructor takes a path for
        self._rng = Draws(0)
        self._constructor: tuple[list[Parameter], tuple[Candidate, ...]] = ([], ())
        self._building: set[type] = set()
        self._met: Any = None
        self._returned: list[Any] = []  # by the object that is met, of classes of the program
        self._made: dict[type, Candidate | None] = {}
        self._guessed: set[str] = set()  # the names of the types of arguments about whose type nobody said anything
        self._refusals: set[type[BaseException]] = set()  # by which the constructor refuses arguments
        self.methods: list[Method] = []

    def run(self) -> ClassTry:
        """Return what was learnt; ``reason`` is not empty if no object can be made."""
        if inspect.isabstract(self._cls):
            return ClassTry("it is abstract")
        errors: Counter[str] = Counter()
        best = -1
        # Arguments of a wrong kind may make an object that is good for nothing.
        for constructor in islice(self._constructors(errors), 4):
            self._constructor, self._refusals = constructor, set()
            self.methods = list(self._find_methods())
            for make in (self._fresh, self._used):
                for method in self.methods:
                    self._choose(method, make)
            working = sum(not (method.refused or never_passed(method)) for method in self.methods)
            if working > best:
                best, chosen = working, (constructor, self._refusals, self.methods)
            is_guessed = any(each.is_guessed for each in self._constructor[0])
            if not is_guessed or self._places or 2 * working >= len(self.methods) or self._is_over():
                break
        if best < 0:
            reason = errors.most_common(1)[0][0] if errors else "no time"
            reason = f"its constructor {WATCH.reason}" if WATCH.reason else f"no object could be made: {reason}"
            return ClassTry(reason, WATCH.reason in ABOUT_FILES)
        self._constructor, self._refusals, self.methods = chosen
        # What a method answers rarely, the first run would report.
        kept = [one for each in self.methods for one in each.parameters if one.is_optional and one.lacks_value]
        for number in range(max(12, 2 * len(self.methods), 4 * len(kept))):
            self._sequence(kept[number % len(kept)] if kept else None)
        return ClassTry(
            "",
            any(method.refused in ABOUT_FILES for method in self.methods),
            *public_place(self._cls, self._package),
            (inspect.getdoc(self._cls) or "").strip().partition("\n")[0][:200],
            shown(*self._constructor),
            [self._tried(method) for method in self.methods],
            self._protocol(),
            self._listed(self._refusals),
            self._sources(),
        )

    def takes_a_place(self) -> bool:
        """Return True if the constructor takes a path for what its objects keep."""
        parameters = self._parameters(self._cls, skip=0, makes=True) or []
        return any(each.candidates == self._places for each in parameters)

    def _sources(self) -> list[str]:
        """Return the modules of the class and its bases; the package if one is compiled, so that nothing watches it."""
        found = list(dict.fromkeys(each.__module__ for each in self._cls.__mro__ if self._is_of_package(each)))
        files = [getattr(sys.modules.get(each), "__file__", None) or "" for each in found]
        return found if all(file.endswith(".py") for file in files) else [self._package]

    def _is_of_package(self, kind: type) -> bool:
        return kind.__module__.partition(".")[0] == self._package

    def _is_over(self) -> bool:
        return time.monotonic() > self._deadline

    # the constructor

    def _constructors(self, errors: Counter[str]) -> Iterator[tuple[list[Parameter], tuple[Candidate, ...]]]:
        """Yield arguments that make objects, the likeliest first, and in the end those that do so half of the time."""
        # A constructor with an unknown signature, such as that of a subclass of `dict`, may need no arguments.
        parameters = self._parameters(self._cls, skip=0, makes=True) or []
        half = []
        for choice in choices(parameters, 200):
            self._constructor = (parameters, choice)
            made = 0
            for _ in range(_DRAWS + 4):
                try:
                    self._make()
                    made += 1
                except BaseException as error:  # noqa: BLE001 - whatever a constructor raises
                    errors[said(error)] += 1
                    if WATCH.reason and not self._places:
                        return
            if made == _DRAWS + 4:
                yield parameters, choice
            elif made >= _DRAWS:
                half.append((parameters, choice))
            if self._is_over():
                break
        yield from half

    def _make(self, *, leaves_out: bool = False) -> Any:
        parameters, choice = self._constructor
        values = self._draw(choice)
        if leaves_out:
            values = self._some_left_out(parameters, values)
        self._note_guesses(parameters, values)
        return bounded(lambda: invoke(self._cls, parameters, values))

    def _note_guesses(self, parameters: Sequence[Parameter], values: Sequence[Any]) -> None:
        for parameter, value in zip(parameters, values, strict=True):
            if value is not LEFT_OUT and (parameter.is_guessed or is_own(type(value))):
                self._guessed.add(type(value).__name__)

    def _fresh(self) -> Any:
        for _ in range(30):
            try:
                return self._make(leaves_out=True)
            except BaseException as error:  # noqa: BLE001 - the next arguments may be better
                if isinstance(error, Exception) and self._is_answer(error):
                    self._refusals.add(type(error))
        raise ForbiddenError("no object")

    def _giving(self) -> Any:
        """Return an object whose methods that return objects have been called."""
        thing = self._fresh()
        for method in self.methods:
            if method.passed and not method.refused and any(map(is_own, method.gives)):
                for _ in range(_DRAWS):
                    self._attempt(thing, method, count=False)
        self._meet(thing)
        return thing

    def _working(self) -> list[Method]:
        return [method for method in self.methods if method.passed and not (method.refused or method.ends)]

    def _used(self, methods: Sequence[Method] | None = None) -> Any:
        """Return an object on which some of the methods have been called."""
        thing = self._fresh()
        working = self._working() if methods is None else methods
        for _ in range(20 if working else 0):
            if not self._is_over():
                self._attempt(thing, self._rng.choice(working), count=False)
        return thing

    # methods

    def _find_methods(self) -> Iterator[Method]:
        bases = [base for base in self._cls.__mro__ if base is not object]
        own = [base for base in bases if not getattr(base, "__module__", "").startswith(("builtins", "typing"))]
        known = dict.fromkeys(name for base in own for name in vars(base))
        names = [name for name in known if not name.startswith("_") or name in _ITEMS or name in SYMBOLS]
        ending = next((name for name in _ENDS if name in names), "") if _BEGINS.isdisjoint(names) else ""
        # What computes a value comes last: it can be left out best.
        names.sort(key=lambda name: is_read(inspect.getattr_static(self._cls, name)))
        yield from (Method(name, "call", [], refused=NO_ROOM) for name in names[ITEMS_MAX:])
        for name in names[:ITEMS_MAX]:
            found = inspect.getattr_static(self._cls, name)
            if is_read(found):
                yield Method(name, "property", [])
                continue
            function = getattr(self._cls, name, None)
            if not callable(function) or inspect.isclass(function):
                continue
            if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
                yield Method(name, "call", [], refused="is a coroutine")
                continue
            bound = isinstance(found, classmethod | staticmethod)
            parameters = self._parameters(function, skip=0 if bound else 1)
            if parameters is not None:
                needed = next((each for each in parameters if not each.candidates), None)
                refused = f"needs a value for `{needed.name}`, which could not be made" if needed else ""
                form = "item" if name in _ITEMS else "operator" if name in SYMBOLS else "call"
                ends = name == ending and not bound and all(OMITTED in each.candidates for each in parameters)
                yield Method(name, form, [] if ends else parameters, ends=ends, refused=refused)

    def _parameters(self, function: Any, *, skip: int, makes: bool = False) -> list[Parameter] | None:
        """Return what may be given to ``function``, no object of the class if it ``makes`` one; None if unknown."""
        try:
            listed = list(inspect.signature(function).parameters.values())[skip:]
        except (TypeError, ValueError):
            return None
        hints = hints_of(function)
        function_name = getattr(function, "__name__", "")
        found: list[Parameter] = []
        skips = False  # arguments after one that is left out are passed by name
        for each in listed:
            if each.kind is each.VAR_KEYWORD:
                continue
            if each.kind is each.VAR_POSITIONAL:
                if not found:
                    found.append(Parameter(each.name, False, [OMITTED, LIST, *ANYTHING]))
                continue
            hint = hints.get(each.name)
            if isinstance(hint, TypeVar) and hint.__bound__ is not None:
                hint = hint.__bound__
                each = each.replace(annotation=hint)
            options = self._options(each, hint, makes=makes)
            if skips and each.kind is each.POSITIONAL_ONLY:
                options = []
            elif function_name in SYMBOLS and not self._places:
                options = [self._instances(), *options]
            is_optional = each.default is not each.empty
            if is_optional and (not options or len(found) >= 4):
                skips = True
                continue
            is_syntax = function_name.startswith("__") and function_name not in ("__init__", "__call__")
            may_lack = OMITTED in options and each.kind is not each.POSITIONAL_ONLY and not is_syntax
            by_name = skips or may_lack or each.kind is each.KEYWORD_ONLY
            is_guessed = each.annotation is each.empty or (
                any(option in ANYTHING for option in options) and not known_values(text_of(each.annotation))
            )
            lacks_value = each.default is None and not makes
            found.append(Parameter(each.name, by_name, options, is_guessed, may_lack, lacks_value))
        return found

    def _options(self, parameter: inspect.Parameter, hint: Any, *, makes: bool) -> list[Candidate]:
        """Return what may be given for a parameter; nothing if it is better left out."""
        name, annotation, default = parameter.name, "", parameter.default
        if parameter.annotation is not parameter.empty:
            annotation = text_of(parameter.annotation)
        if makes and self._places and is_place(name, annotation):
            return [*self._places]
        special = [] if hint is self._cls else typed(hint, self._built)
        if is_own(hint) and hint is not self._cls and not (makes or issubclass(hint, Enum)):
            special = [handle(hint, ":".join(public_place(hint, self._package)), self._given), *special]
        options = special or candidates(name, annotation, default)
        own = {self._cls.__name__, "Self"}
        is_own_kind = bool(set(re.findall(r"\w+", annotation)) & own) or (
            name == "other" and not (special or known_values(annotation))
        )
        takes_own = is_own_kind and not (makes or self._places)
        if takes_own:
            options = [self._instances(), *options]
        elif is_own(hint) and not special:
            options = []  # nothing but its objects will do, and none could be made
        if not makes:
            options = [FUNCTION if each is CALLBACK else each for each in options]
        # Objects are made with sizes and limits more often than with numbers below zero.
        if makes and VALUE in options and not self._building:
            options = [*dict.fromkeys([POSITIVE, SIZE, *options])]
        if default is parameter.empty:
            return options
        if default is None:
            # Calls that leave it out have it. What keeps it as a value is not asked for it otherwise.
            options = [*dict.fromkeys(each.plain or each for each in options if each.type != "None")]
        is_rare = needs_own(hint) and not takes_own  # few callers pass an argument that has a default
        if is_rare and makes:
            return [OMITTED, *options]
        if name.startswith("_") or is_rare:
            return []
        if annotation and not (takes_own or special or known_values(annotation)):
            return []  # the default is better than a guess
        # A word is mostly one of several that the function knows.
        is_word = isinstance(default, str) and len(default) > 1
        return [*([OMITTED] if is_word else []), *options[:5], OMITTED]

    def _given(self, kind: type) -> list[Any]:
        return [each for each in self._returned if isinstance(each, kind)]

    def _meet(self, thing: Any) -> None:
        """Forget what other objects have returned."""
        if thing is not self._met:
            self._met, self._returned = thing, []

    def _built(self, kind: type) -> Candidate | None:
        """Return objects of another class, made with what its constructor needs; None if that fails too often."""
        path = ":".join(public_place(kind, self._package))
        if issubclass(kind, Enum):
            return members(kind, path)
        if kind in self._building or inspect.isabstract(kind) or "<" in kind.__qualname__:
            return None
        if kind not in self._made:
            self._building.add(kind)
            self._made[kind] = self._builder(kind, path)
            self._building.discard(kind)
        return self._made[kind]

    def _builder(self, kind: type, path: str) -> Candidate | None:
        listed = self._parameters(kind, skip=0, makes=True)
        if listed is None:
            return None
        parameters: list[Parameter] = []
        for place, each in enumerate(listed):
            if OMITTED not in each.candidates:
                # Arguments after one that is left out are passed by name.
                parameters.append(replace(each, keyword=each.keyword or len(parameters) < place))
        if not all(each.candidates for each in parameters):
            return None
        for choice in choices(parameters, 24):

            def made(rng: Draws, choice: tuple[Candidate, ...] = choice) -> Any:
                values = [each.draw(rng) for each in choice]
                return bounded(lambda: invoke(kind, parameters, values))

            try:
                # A draw that fails would end a run.
                for _ in range(10 * _DRAWS):
                    made(self._rng)
            except BaseException:  # noqa: BLE001 - whatever a constructor raises
                continue
            words = [kind.__name__]
            words += [
                f"{each.name + '=' if each.keyword else ''}{one.strategy}"
                for each, one in zip(parameters, choice, strict=True)
            ]
            imports = (path, *(name for one in choice for name in one.imports))
            return Candidate(f"st.builds({', '.join(words)})", kind.__name__, made, imports)
        return None

    def _instances(self) -> Candidate:
        return Candidate("OTHERS", self._cls.__name__, lambda _: self._fresh())

    def _draw(self, choice: Sequence[Candidate]) -> list[Any]:
        return [each.draw(self._rng) for each in choice]

    def _some_left_out(
        self, parameters: Sequence[Parameter], values: Sequence[Any], kept: Parameter | None = None
    ) -> list[Any]:
        """Return the values without some that a call may do without; of those that are None then, ``kept`` alone."""
        may_lack = [each.is_optional and (not each.lacks_value or each is kept) for each in parameters]
        pairs = zip(may_lack, values, strict=True)
        return [LEFT_OUT if may and self._rng.random() < 0.5 else value for may, value in pairs]

    def _choose(self, method: Method, make: Callable[[], Any]) -> None:
        """Choose the arguments with which a method passes most often."""
        if method.refused or (method.passed and method.passed >= _DRAWS) or self._is_over():
            return
        best = -1.0
        for choice in choices(method.parameters):
            trial = Method(method.name, method.form, method.parameters, choice)
            broken = 0
            try:
                thing = self._giving() if any(is_bundle(each.strategy) for each in trial.chosen) else make()
            except ForbiddenError:
                return
            for _ in range(_DRAWS):
                error = self._attempt(thing, trial)
                if isinstance(error, Exception) and not trial.refused and make == self._fresh:
                    trial.answers.add(type(error))
                if error is None:
                    try:
                        bounded(lambda thing=thing: repr(thing))  # type: ignore[misc]
                    except BaseException:  # noqa: BLE001 - arguments of a wrong kind may be stored, and fail later
                        broken += 1
            if trial.refused:
                method.refused = trial.refused
                return
            score = trial.passed - broken / 2 + sum(share_of(name) * count for name, count in trial.failed.items())
            # Later candidates are less likely, so they must pass clearly more often.
            if score >= best + 1:
                best = score
                method.chosen, method.passed, method.failed = choice, trial.passed, trial.failed
                method.answers |= trial.answers
                method.iterates, method.endless, method.enters = trial.iterates, trial.endless, trial.enters
                method.gives_own, method.gives = trial.gives_own, trial.gives
            if trial.passed == _DRAWS + broken or self._is_over():
                return

    def _attempt(
        self, thing: Any, method: Method, *, count: bool = True, values: list[Any] | None = None
    ) -> BaseException | None:
        self._meet(thing)
        try:
            if values is None:
                values = self._draw(method.chosen)
            self._note_guesses(method.parameters, values)
            result = bounded(lambda: consumed(call(thing, method, values), method))
        except CallbackError:
            method.answers.add(CallbackError)
            method.passed += count
            return None
        except BaseException as error:  # noqa: BLE001 - a method may raise anything
            if WATCH.reason or isinstance(error, CallTimeoutError | SystemExit):
                method.refused = WATCH.reason or ("ends the process" if isinstance(error, SystemExit) else "takes long")
            elif count:
                method.failed[said(error)] += 1
            return error
        if count:
            method.passed += 1
            method.gives_own &= isinstance(result, self._cls)
            method.gives.add(type(result))
        if is_own(type(result)) and len(self._returned) < LISTED_MAX:
            self._returned.append(result)
        return None

    def _sequence(self, kept: Parameter | None) -> None:
        """Call methods in a random order, and note which errors may be answers and which mistakes.

        Calls without ``kept`` may leave None in the object. If others cannot bear that, it is always given.
        """
        useful = [method for method in self.methods if not (method.refused or method.ends)]
        working = [method for method in useful if method.passed or method.failed]
        try:
            thing = self._fresh()
        except ForbiddenError:
            return
        for _ in range(60 if working else 0):
            if self._is_over():
                return
            method = self._rng.choice(working)
            self._meet(thing)
            try:
                values = self._some_left_out(method.parameters, self._draw(method.chosen), kept)
            except (NothingGivenError, ForbiddenError):
                continue
            error = self._attempt(thing, method, values=values)
            if (
                isinstance(error, TypeError | AttributeError)
                and kept
                and kept.is_optional
                and "NoneType" in said(error)
            ):
                kept.is_optional = False
                return
            if isinstance(error, Exception):
                if self._is_intended(error) or self._is_of_arguments(error, method, values):
                    method.answers.add(type(error))
                else:
                    kind = method.lacks if _asks(values, error) else method.mistakes
                    kind.add(type(error))

    def _is_of_arguments(self, error: Exception, method: Method, values: list[Any]) -> bool:
        """Return True if a fresh object gives the same answer to these arguments: then no sequence is needed for it."""
        try:
            again = self._attempt(self._fresh(), method, count=False, values=values)
        except ForbiddenError:
            return False
        return type(again) is type(error)

    def _is_answer(self, error: Exception) -> bool:
        return isinstance(error, LookupError | ValueError | StopIteration) or self._is_intended(error)

    def _is_intended(self, error: Exception) -> bool:
        """Return True if an exception is an intended answer, such as one that the class raises itself."""
        if isinstance(error, TypeError | AttributeError) and self._guessed & set(re.findall(r"'(\w+)'", said(error))):
            return True  # it names the type of an argument that may be of the wrong kind
        if isinstance(error, CallbackError) or self._is_of_package(type(error)):
            return True
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        if last is None or isinstance(error, AssertionError | RecursionError):
            return False
        return linecache.getline(last.tb_frame.f_code.co_filename, last.tb_lineno).strip().startswith("raise")

    # the answer

    def _tried(self, method: Method) -> TriedMethod:
        answers = method.answers | (method.lacks - method.mistakes) | self._said_to_raise(method)
        if any(each.is_guessed for each in method.parameters):
            # What the class stores may fail in a later call: without a type for it, this is not a finding.
            answers |= {TypeError, AttributeError}
        kind = next(iter(method.gives)) if len(method.gives) == 1 else object
        is_given = is_own(kind) and kind is not self._cls and method.form == "call" and not method.iterates
        return TriedMethod(
            method.name,
            method.form,
            shown(method.parameters, method.chosen),
            self._listed(answers),
            method.refused or never_passed(method),
            method.iterates,
            method.endless,
            method.gives_own and method.passed > 0,
            method.passed,
            method.ends,
            method.enters,
            bundle_name(kind) if is_given else "",
        )

    def _listed(self, kinds: set[type[BaseException]]) -> list[str]:
        return sorted({":".join(public_place(each, self._package)) for each in kinds})

    def _said_to_raise(self, method: Method) -> set[type[BaseException]]:
        """Return the exceptions that the source of a method raises by name, or that its docstring names."""
        function = inspect.getattr_static(self._cls, method.name)
        function = inspect.unwrap(getattr(function, "fget", None) or getattr(function, "__func__", function))
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError, SyntaxError, ValueError):
            return set()
        names = {
            each.func.id if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) else getattr(each, "id", "")
            for each in (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise))
        }
        names |= set(re.findall(r"\w+Error\b", function.__doc__ or ""))
        known = {**vars(builtins), **getattr(function, "__globals__", {})}
        found = [known.get(name) for name in names]
        # An assertion is a check of the class's own, not an answer.
        kinds = (each for each in found if isinstance(each, type) and issubclass(each, Exception))
        return {each for each in kinds if not issubclass(each, AssertionError)}

    def _protocol(self) -> dict[str, bool]:
        """Return which claims that many objects fulfil hold for new ones of this class."""
        # With items alone it may never end: items may be made of any key.
        iterates_anew = "__next__" not in dir(self._cls) and hasattr(self._cls, "__iter__")
        asks = iterates_anew and hasattr(self._cls, "__contains__")  # what only looks at each item says nothing
        claims: dict[str, Callable[[Any], Any]] = {
            "len": lambda thing: len(thing) >= 0,
            "counts": lambda thing: iterates_anew and len(thing) == len(list(islice(iter(thing), ITEMS_MAX))),
            "contains": lambda thing: asks and all(each in thing for each in islice(iter(thing), ITEMS_MAX)),
            "repr": lambda thing: isinstance(repr(thing), str),
        }
        fresh, used = ([make() for _ in range(10)] for make in (self._fresh, self._used))
        found = {}
        for name, claim in claims.items():
            try:
                found[name] = all(bounded(lambda thing=thing, claim=claim: claim(thing)) for thing in fresh)  # type: ignore[misc]
            except BaseException:  # noqa: BLE001 - it does not answer
                found[name] = False
            for thing in used if found[name] else ():
                # What does not hold after calls may be a bug. What fails for guessed arguments is none.
                try:
                    bounded(lambda thing=thing, claim=claim: claim(thing))  # type: ignore[misc]
                except BaseException as error:  # noqa: BLE001 - a method of the class under trial
                    found[name] &= isinstance(error, Exception) and not self._is_intended(error)
        # Iterating may yield something else than what the length counts and what `in` asks for: then a method that is
        # called often shows it by itself.
        for method in self._working() if found["counts"] or found["contains"] else ():
            thing = self._used([method])
            with suppress(Exception, CallTimeoutError):
                found["counts"] &= not bounded(lambda thing=thing: _counts_items(thing))  # type: ignore[misc]
                found["contains"] &= bounded(lambda thing=thing: claims["contains"](thing))  # type: ignore[misc]
        return found


def _counts_items(thing: Any) -> bool:
    """Return True if the length is that of ``items()``, and not of what iterating yields."""
    try:
        counted = [len(list(islice(each, ITEMS_MAX))) for each in (iter(thing), iter(thing.items()))]
        return counted[0] != len(thing) == counted[1]
    except Exception:  # noqa: BLE001 - a method of the class under trial
        return False


def _asks(values: Sequence[Any], error: Exception) -> bool:
    """Return True if a call with these values may have asked for what a container of the object lacks."""
    if type(error) is KeyError:
        try:
            return any(str(value).casefold() in (str(key).casefold() for key in error.args) for value in values)
        except BaseException:  # noqa: BLE001 - a method of a class of the program
            return True
    return bool(values) and isinstance(error, LookupError | ValueError | StopIteration)


def _try_class(path: str, seconds: float, file_seconds: float) -> ClassTry:
    module, _, name = path.partition(":")
    try:
        cls = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        return ClassTry(f"it imports `{error.name}`, which is not installed")
    except BaseException as error:  # noqa: BLE001 - an import may raise anything
        return ClassTry(f"it cannot be imported: {said(error)}")
    if not isinstance(cls, type):
        return ClassTry("it is not a class")
    package = module.partition(".")[0]
    try:
        # An import of large libraries may take longer than the trial.
        found = _ClassTrial(cls, package, time.monotonic() + seconds).run()
        if found.meets_files:
            WATCH.folder = os.path.realpath(tempfile.mkdtemp(dir="."))
            own = _ClassTrial(cls, package, time.monotonic() + file_seconds, places(WATCH.folder))
            # If more works with files, the machine gets a folder for them.
            both = (found, own.run()) if own.takes_a_place() else (found,)
            found = max(both, key=lambda each: len(each.working))
    except BaseException as error:  # noqa: BLE001 - a hostile class must not hide the others
        return ClassTry(f"it could not be tried: {said(error)}")
    return found


def main() -> None:
    """Try the class of a request, and send the answer. ``file_seconds`` limits a second trial, with files."""
    request, answers = take_request()
    limit_process(request["seconds"])
    found = _try_class(request["class"], request["seconds"], request["file_seconds"])
    answers.write(msgspec.json.encode(found))
    send_and_exit(answers)
