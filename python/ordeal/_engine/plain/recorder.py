"""Records what a rewritten test does with the code under test: calls, attributes, items, and what it then compares."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from ordeal._engine.execution.operators import COMPARED, IN_PLACE, OPERATORS, UNARY
from ordeal._engine.plain.expressions import TAKEN, Definitions, Expression, Expressions, is_plain, variable_for

#: Plain containers, whose content is known.
CONTAINERS = (list, tuple, dict, set, frozenset)
#: The methods that change such a container.
CHANGES = frozenset(
    {
        *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse"),
        *("setdefault", "sort", "update", "difference_update", "intersection_update", "symmetric_difference_update"),
        *("__setitem__", "__delitem__", "__iadd__", "__ior__"),
    }
)
#: Such code runs as it is, and is never written down.
_MACHINERY = ("ordeal", "hypothesis", "_pytest", "pytest", "_ordeal_pytest", "pluggy", "typing", "warnings", "logging")
#: What only computes with paths, or looks where one leads.
_PATHS = frozenset({"posixpath", "ntpath", "genericpath"})
#: Builtins that say nothing about the code under test.
_LOOKS = frozenset({isinstance, issubclass, callable, id, type, hasattr, hash, repr, print})


@dataclass(slots=True)
class FaultHit:
    """A call that a fault let fail: what it replaces, and the exception that it raises instead."""

    target: str
    error: Expression


@dataclass(slots=True)
class Operation:
    """One statement of the plain program.

    ``variable`` names its result; empty for a statement. ``raised`` is the exception that it raised. ``looks_only``
    marks what seems to change nothing, such as what an invariant does.
    """

    number: int
    expression: Expression
    variable: str = ""
    result: Any = None
    raised: BaseException | None = None
    is_target: bool = False
    looks_only: bool = False
    in_check: bool = False
    step: int = 0
    by_model: bool = False
    hits: list[FaultHit] = field(default_factory=list)
    done: bool = False


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that is compared, with the operation that gave it; None if the test has computed it."""

    value: Any
    operation: Operation | None
    is_constant: bool = False


@dataclass(slots=True)
class Decision:
    """What decided how the test went on: a comparison, a truth, or that nothing was raised.

    ``operands`` are what was compared: values, or an ``Operand`` if it is known where one comes from. ``after`` is the
    number of operations before it.
    """

    kind: str
    sign: str
    operands: tuple[Any, ...]
    outcome: bool
    after: int


def is_of_target(operation: Operation | None) -> bool:
    """Return True if the code under test gave the result of an operation."""
    return operation is not None and operation.is_target and bool(operation.variable)


def value_of(operand: Any) -> Any:
    """Return the value of an operand, or a value as it is."""
    return operand.value if type(operand) is Operand else operand


def only_looks(function: Any) -> bool:
    """Return True if a function is a builtin that changes nothing."""
    if isinstance(function, types.BuiltinFunctionType) and getattr(function, "__module__", "") == "builtins":
        return function.__name__ not in ("next", "setattr", "delattr")
    return isinstance(function, type) and is_builtin(function)


def is_builtin(kind: type) -> bool:
    """Return True if a class is one of Python's own."""
    return kind.__module__ == "builtins"


def is_machinery(value: Any) -> bool:
    """Return True if a function, class or module belongs to what runs tests."""
    owner = getattr(value, "__self__", None)
    home = owner if isinstance(owner, types.ModuleType | type) else type(owner) if owner is not None else value
    name = home.__name__ if isinstance(home, types.ModuleType) else getattr(home, "__module__", "")
    return str(name).partition(".")[0] in _MACHINERY


def bracketed(text: str) -> str:
    """Return an expression as what an attribute can follow."""
    return f"({text})" if text[:1].isdigit() or (" " in text and text[:1] not in "([{'\"") else text


def subscript(text: str) -> str:
    """Return an index without the word ``slice`` where a colon says the same."""
    if not text.startswith("slice(") or not text.endswith(")"):
        return text
    parts = text[6:-1].split(", ")
    if len(parts) != 3:
        return text
    start, stop, step = ("" if part == "None" else part for part in parts)
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


class Recorder:
    """Sees what rewritten modules do. It records while it is on, and not inside what it records."""

    def __init__(self, is_target: Callable[[str], bool]) -> None:
        self.operations: list[Operation] = []
        self.decisions: list[Decision] = []
        self.files: set[str] = set()
        self.in_check = False
        self.step = 0
        self.problem = ""
        self.definitions = Definitions()
        self.expressions = Expressions(self.definitions, self._callback, is_target)
        self.answers: dict[str, list[Expression]] = {}
        self._is_target = is_target
        self._depth = 0
        self._under_way: Operation | None = None
        self._fresh: Operation | None = None
        self._names: dict[str, int] = {}
        self._callbacks: dict[Any, Any] = {}
        self.callback_of: dict[int, Any] = {}

    # -- what rewritten code calls

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call ``function``, and record that unless it belongs to the test."""
        if self._depth or not self._is_recorded(function, args, kwargs):
            return self._unrecorded(function(*args, **kwargs))
        return self._record_call(self.expressions.write(function), function, args, kwargs)

    def switch(self, function: Any) -> None:
        """Call what a fault calls when it is switched; a partial as the call that it stands for."""
        if isinstance(function, functools.partial):
            owner = getattr(function.func, "__self__", None)
            if getattr(function.func, "__name__", "") == "__setitem__" and len(function.args) == 2:
                self.set_item(owner, *function.args)
            else:
                self.call(function.func, *function.args, **function.keywords)
        else:
            self.call(function)

    def method(self, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Call the method ``name`` of ``owner``."""
        function = getattr(owner, name)
        if self._depth or not self._is_recorded(function, args, kwargs):
            is_extended = name == "extend" and type(owner) is list and len(args) == 1 and not self._depth
            if is_extended and self._is_object(args[0]):
                given = list(self._iterated(args[0]))
                operation = next(each for each in reversed(self.operations) if each.result == given)
                if not owner:
                    self.expressions.learn(owner, Expression(operation.variable, {operation.number}, is_target=True))
                return owner.extend(given)
            return self._unrecorded(function(*args, **kwargs))
        known = self.expressions.known(owner)
        if known is None and isinstance(owner, types.ModuleType | type):
            return self._record_call(self.expressions.write(function), function, args, kwargs)
        written = known or self.expressions.write(owner)
        return self._record_call(written.join([], f"{bracketed(written.text)}.{name}"), function, args, kwargs)

    def attribute(self, owner: Any, name: str, /) -> Any:
        """Return an attribute of ``owner``."""
        if self._depth or self.expressions.known(owner) is None:
            return self._unrecorded(getattr(owner, name))
        written = self.expressions.write(owner)
        made = written.join([], f"{bracketed(written.text)}.{name}")
        names = dict(self._names)
        operation = self._begin(made, looks_only=True, named=made.text)
        value = self._perform(operation, lambda: getattr(owner, name))
        if type(value) in (types.MethodType, types.BuiltinMethodType) and value.__self__ is owner:
            # It is only looked up to be called.
            self.operations.pop()
            self._names = names
        else:
            self._learn(value, operation)
        return value

    def item(self, owner: Any, index: Any, /) -> Any:
        """Return an item of ``owner``."""
        if self._depth or self.expressions.known(owner) is None or type(owner) in CONTAINERS:
            return self._unrecorded(owner[index])
        written, at = self.expressions.write(owner), self.expressions.write(index)
        made = written.join([at], f"{bracketed(written.text)}[{subscript(at.text)}]")
        return self._do(made, lambda: owner[index], looks_only=True)

    def set_attribute(self, owner: Any, name: str, value: Any, /) -> None:
        """Set an attribute of ``owner``."""
        self._assign(owner, lambda: setattr(owner, name, value), lambda text, to: f"{text}.{name} = {to}", value)

    def set_item(self, owner: Any, index: Any, value: Any, /) -> None:
        """Set an item of ``owner``."""

        def change() -> None:
            owner[index] = value

        self._assign(owner, change, lambda text, at, to: f"{text}[{subscript(at)}] = {to}", index, value)

    def delete_item(self, owner: Any, index: Any, /) -> None:
        """Delete an item of ``owner``."""

        def change() -> None:
            del owner[index]

        self._assign(owner, change, lambda text, at: f"del {text}[{subscript(at)}]", index)

    def delete_attribute(self, owner: Any, name: str, /) -> None:
        """Delete an attribute of ``owner``."""
        self._assign(owner, lambda: delattr(owner, name), lambda text: f"del {text}.{name}")

    def binary(self, sign: str, one: Any, other: Any, /) -> Any:
        """Return what an operator gives. Numbers that come from the code under test are worth recording, too."""
        operands = one, other
        one, other = value_of(one), value_of(other)
        if self._depth:
            return OPERATORS[sign](one, other)
        if type(one) in CONTAINERS and type(other) in CONTAINERS:
            return self._unrecorded(OPERATORS[sign](one, other))
        from_target = any(type(each) is Operand and is_of_target(each.operation) for each in operands)
        if not (from_target or self._is_object(one) or self._is_object(other)):
            return self._unrecorded(OPERATORS[sign](one, other))
        sides = []
        for each in operands:
            operation = each.operation if type(each) is Operand else None
            if operation is not None and is_of_target(operation):
                sides.append(Expression(operation.variable, {operation.number}, is_target=True))
            else:
                sides.append(self.expressions.write(value_of(each)))
        made = sides[0].join(sides[1:], f"({sides[0].text} {sign} {sides[1].text})")
        return self._do(made, lambda: OPERATORS[sign](one, other), looks_only=True)

    def unary(self, sign: str, value: Any, /) -> Any:
        """Return what an operator with one operand gives."""
        if self._depth or not self._is_object(value):
            return UNARY[sign](value)
        written = self.expressions.write(value)
        return self._do(written.join([], f"({sign}{written.text})"), lambda: UNARY[sign](value), looks_only=True)

    def in_place(self, sign: str, one: Any, other: Any, /) -> Any:
        """Return what an augmented assignment leaves."""
        if self._depth or not (self._is_object(one) or self._is_object(other)):
            return IN_PLACE[sign](one, other)
        if type(one) in CONTAINERS and not self.expressions.is_of_target(one):
            return IN_PLACE[sign](one, other)
        left, right = self.expressions.write(one), self.expressions.write(other)
        function = IN_PLACE[sign].__name__
        made = left.join([right], f"operator.{function}({left.text}, {right.text})")
        made.imports.add("operator")
        return self._do(made, lambda: IN_PLACE[sign](one, other))

    def in_place_attribute(self, sign: str, owner: Any, name: str, value: Any, /) -> None:
        """Change an attribute in place."""
        self.set_attribute(owner, name, self.in_place(sign, self.attribute(owner, name), value))

    def in_place_item(self, sign: str, owner: Any, index: Any, value: Any, /) -> None:
        """Change an item in place."""
        self.set_item(owner, index, self.in_place(sign, self.item(owner, index), value))

    def operand(self, value: Any, /) -> Any:
        """Return ``value`` with the operation that gave it, for a comparison."""
        if self._depth:
            return value
        fresh = self._fresh
        return Operand(value, fresh if fresh is not None and fresh.result is value else None)

    def constant(self, value: Any, /) -> Any:
        """Return a value that the test itself has written, for a comparison."""
        return value if self._depth else Operand(value, None, is_constant=True)

    def compare(self, sign: str, one: Any, other: Any, /) -> Any:
        """Return what a comparison gives, and remember it."""
        operands = one, other
        one, other = value_of(one), value_of(other)
        if self._depth:
            return COMPARED[sign](one, other)
        objects = [each for each in (one, other) if type(each) not in CONTAINERS and self._is_object(each)]
        if sign in ("is", "is not") or not objects:
            result = COMPARED[sign](one, other)
        else:
            left, right = self.expressions.write(one), self.expressions.write(other)
            made = left.join([right], f"({left.text} {sign} {right.text})")
            result = self._do(made, lambda: COMPARED[sign](one, other), looks_only=True)
        self._decide("compare", sign, operands, result)
        return result

    def truth(self, value: Any, /) -> Any:
        """Return ``value``, and remember whether it is true."""
        operand, value = value, value_of(value)
        if self._depth:
            return value
        if type(value) not in CONTAINERS and self._is_object(value):
            written = self.expressions.write(value)
            made = written.join([], f"bool({written.text})")
            result = self._do(made, lambda: bool(value), looks_only=True)
            self._decide("truth", "", (operand,), result)
            return result
        if is_plain(value) or type(value) in CONTAINERS:
            self._decide("truth", "", (operand,), value)
        return value

    def iterate(self, items: Any, /) -> Any:
        """Return what a loop goes through."""
        if self._depth or not self._is_object(items) or type(items) in (*CONTAINERS, range):
            return items
        return self._iterated(items)

    def context(self, manager: Any, /) -> Any:
        """Return what a ``with`` statement enters."""
        return manager if self._depth or not self._is_object(manager) else _Context(self, manager)

    # -- recording

    def _iterated(self, items: Any) -> Iterator[Any]:
        """Yield the items, and record them as a list; one by one where the body of the loop does other things."""
        written = self.expressions.write(items)
        operation = self._begin(written.join([], f"list({written.text})"), looks_only=not isinstance(items, Iterator))
        given: list[Any] = []
        operation.result = given
        rest = f"{operation.variable}_rest"
        with _Inside(self, operation):
            iterator = iter(items)
        recorded = len(self.operations)
        while True:
            current = operation
            if given and (len(self.operations) > recorded or rest in operation.expression.text):
                if rest not in operation.expression.text:
                    taken = f"list(itertools.islice(({rest} := iter({written.text})), {len(given)}))"
                    operation.expression.text = taken
                uses = Expression(f"{operation.variable}.append(next({rest}))", {operation.number}, is_target=True)
                current = self._begin(uses, is_statement=True)
            try:
                with _Inside(self, current):
                    value = next(iterator)
            except StopIteration:
                if current is not operation:
                    self.operations.pop()
                break
            except BaseException as error:
                current.raised = error
                raise
            given.append(value)
            operation.done = current.done = True
            text = f"{operation.variable}[{len(given) - 1}]"
            self.expressions.learn(value, Expression(text, {operation.number}, is_target=operation.is_target))
            if current is operation:
                operation.expression.text = f"list(itertools.islice({written.text}, {len(given)}))"
            recorded = len(self.operations)
            yield value
        if rest not in operation.expression.text:
            operation.expression.text = f"list({written.text})"
        operation.done = True

    def _record_call(self, written: Expression, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        given = [self.expressions.write(each) for each in args]
        named = {name: self.expressions.write(each) for name, each in kwargs.items()}
        words = [each.text for each in given]
        words += [
            f"{name}={each.text}" if name.isidentifier() else f"**{{{name!r}: {each.text}}}"
            for name, each in named.items()
        ]
        made = written.join([*given, *named.values()], f"{written.text}({', '.join(words)})")
        made.is_target = made.is_target or self._belongs_to_target(function)
        args = [self.callback_of.get(id(each), each) for each in args]
        kwargs = {name: self.callback_of.get(id(each), each) for name, each in kwargs.items()}
        self.callback_of.clear()
        looks = only_looks(function)
        return self._do(made, lambda: function(*args, **kwargs), looks_only=looks, name=written.text)

    def _assign(self, owner: Any, change: Callable[[], None], form: Callable[..., str], *values: Any) -> None:
        can_change = not self._depth and (
            self.expressions.known(owner) is not None or self.expressions.is_of_target(owner)
        )
        if not self._depth and not can_change and isinstance(owner, types.ModuleType | type):
            can_change = not self.expressions.write(owner).problem and not is_machinery(owner)
        if not can_change:
            change()
            return
        written = self.expressions.write(owner)
        parts = [self.expressions.write(value) for value in values]
        made = written.join(parts, form(bracketed(written.text), *(part.text for part in parts)))
        self._do(made, change, is_statement=True)

    def _do(
        self,
        made: Expression,
        action: Callable[[], Any],
        *,
        looks_only: bool = False,
        is_statement: bool = False,
        name: str = "",
    ) -> Any:
        operation = self._begin(made, looks_only=looks_only, named=name or made.text, is_statement=is_statement)
        result = self._perform(operation, action)
        if isinstance(result, types.CoroutineType | types.AsyncGeneratorType):
            self.refuse("the test awaits: plain calls cannot express that")
        if not is_statement:
            self._learn(result, operation)
        return result

    def _perform(self, operation: Operation, action: Callable[[], Any]) -> Any:
        try:
            with _Inside(self, operation):
                operation.result = action()
        except BaseException as error:
            operation.raised = error
            raise
        operation.done = True
        self._fresh = operation
        return operation.result

    def _unrecorded(self, value: Any) -> Any:
        """Return a value that no operation has given."""
        if not self._depth:
            self._fresh = None
        return value

    def _learn(self, value: Any, operation: Operation) -> None:
        own = Expression(operation.variable, {operation.number}, is_target=operation.is_target)
        if isinstance(value, str | bytes):
            self.expressions.learn_text(value, own)
        else:
            self.expressions.learn(value, own)

    def _begin(
        self, made: Expression, *, looks_only: bool = False, named: str = "result", is_statement: bool = False
    ) -> Operation:
        number = len(self.operations)
        if number >= 5_000:
            self.refuse("the test makes more than 5000 calls")  # a report with more would not be read
        variable = "" if is_statement else self._variable(named)
        # The rewritten module that called the recorder.
        frame = inspect.currentframe()
        while frame is not None and frame.f_globals.get("__name__") == __name__:
            frame = frame.f_back
        caller = "" if frame is None else str(frame.f_globals.get("__name__"))
        operation = Operation(
            number,
            made,
            variable,
            is_target=made.is_target,
            looks_only=looks_only,
            in_check=self.in_check,
            step=self.step,
            by_model=caller.startswith("ordeal.model"),
        )
        self.operations.append(operation)
        return operation

    def _variable(self, text: str) -> str:
        base = variable_for(text.partition("(")[0])
        self._names[base] = self._names.get(base, 0) + 1
        number = self._names[base]
        # The name of a module may stand for that module in another statement.
        is_free = number == 1 and base not in TAKEN and base not in sys.modules
        return base if is_free else f"{base}_{number}"

    def refuse(self, reason: str) -> None:
        """Give up: the run cannot be written as plain calls, for this reason."""
        self.problem = self.problem or reason

    def hit(self, hit: FaultHit) -> None:
        """Note that a fault let a call fail, inside the operation that is under way."""
        if self._under_way is not None:
            self._under_way.hits.append(hit)

    def _decide(self, kind: str, sign: str, values: tuple[Any, ...], outcome: Any) -> None:
        try:
            truth = bool(outcome)
        except Exception:  # noqa: BLE001 - the result of a comparison may be an object that raises
            return
        self.decisions.append(Decision(kind, sign, values, truth, len(self.operations)))
        del self.decisions[:-50]

    # -- what is recorded

    def _is_object(self, value: Any) -> bool:
        return self.expressions.is_known(value) if not is_plain(value) else self.expressions.is_text(value)

    def _is_recorded(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Return True if a call says anything: it leads into the code under test, or concerns objects from there."""
        try:
            if isinstance(function, type | types.BuiltinFunctionType) and function in _LOOKS:
                return False
            if self._is_of_test(function) or is_machinery(function):
                return False
            owner = getattr(function, "__self__", None)
            if type(owner) in CONTAINERS and function.__name__ not in CHANGES:
                return False  # it only looks into a plain list or the like, whose content is known
            if self._belongs_to_target(function):
                return True
            is_method = owner is not None and not isinstance(owner, types.ModuleType | type)
            if is_method and (self._is_object(owner) or self.expressions.is_of_target(owner)):
                return True
            given = [each for each in (*args, *kwargs.values()) if self._is_object(each)]
            if only_looks(function):
                # A list of the test that holds such objects says nothing itself.
                given = [each for each in given if type(each) not in CONTAINERS or self.expressions.known(each)]
            if given:
                return True
            # What is given a path below a temporary folder may write there what others read.
            values = (*args, *kwargs.values()) if getattr(function, "__module__", "") not in _PATHS else ()
            if any(self.expressions.write(each).folders for each in values if issubclass(type(each), str | PurePath)):
                return True
            # A new object of a library, such as a file in memory, may be handed to the code under test later.
            return isinstance(function, type) and not is_builtin(function) and not issubclass(function, BaseException)
        except Exception:  # noqa: BLE001 - objects of the user's may raise anything when they are looked at
            return False

    def _is_of_test(self, function: Any) -> bool:
        function = getattr(function, "__func__", function)
        while isinstance(function, functools.partial):
            function = function.func
        code = getattr(function, "__code__", None)
        if code is not None:
            return code.co_filename in self.files
        if isinstance(function, type) and function.__module__ in self.definitions.modules:
            return self.definitions.source_of(function) is None or function.__module__.startswith("ordeal.")
        return False

    def _belongs_to_target(self, function: Any) -> bool:
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return self._is_of_target_class(owner if isinstance(owner, type) else type(owner))
        if isinstance(function, type):
            return self._is_of_target_class(function)
        return self._is_target(str(getattr(function, "__module__", "") or ""))

    def _is_of_target_class(self, kind: type) -> bool:
        """Return True if a class or a base of it belongs to the code under test: a test may derive from one."""
        return any(self._is_target(str(base.__module__)) for base in kind.__mro__[:-1])

    # -- small parts

    def _callback(self, function: Any) -> Expression | None:
        """Return what stands for a function of the test: one that gives the same answers again."""
        key: Any = id(function)
        if isinstance(function, types.MethodType):
            key = (id(function.__func__), id(function.__self__))
        if not self._is_of_test(function) and not callable(function):
            return None
        if key not in self._callbacks:
            name = self._variable(getattr(function, "__name__", "callback").replace("<lambda>", "callback"))
            answers = self.answers[name] = []

            def answering(*args: Any, **kwargs: Any) -> Any:
                result = function(*args, **kwargs)
                answers.append(self.expressions.write(result))
                return result

            with suppress(AttributeError, TypeError):
                functools.update_wrapper(answering, function)
            self._callbacks[key] = (function, name, answering)
        _, name, answering = self._callbacks[key]
        self.callback_of[id(function)] = answering
        return Expression(name, definitions={f"answers:{name}"})


class _Inside:
    """The block in which an operation runs: nothing in it is recorded, and hits of faults belong to it."""

    def __init__(self, recorder: Recorder, operation: Operation) -> None:
        self._recorder = recorder
        self._operation = operation

    def __enter__(self) -> None:
        if self._recorder._depth == 0:
            self._recorder._under_way = self._operation
        self._recorder._depth += 1

    def __exit__(self, *_: object) -> None:
        self._recorder._depth -= 1
        if self._recorder._depth == 0:
            self._recorder._under_way = None


class _Context:
    """A context manager of the code under test, entered and left by recorded calls."""

    def __init__(self, recorder: Recorder, manager: Any) -> None:
        self._recorder = recorder
        self._manager = manager

    def __enter__(self) -> Any:
        return self._recorder.method(self._manager, "__enter__")

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        if kind is None:
            return self._recorder.method(self._manager, "__exit__", None, None, None)
        return self._manager.__exit__(kind, error, traceback)
