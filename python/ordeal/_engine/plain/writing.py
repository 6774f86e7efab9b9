"""Makes the plain program of what was recorded: the operations that it needs, and how it ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from ordeal._base.untrusted import error_message, full_name
from ordeal._engine.plain.expressions import ATOMIC, Expression, is_plain
from ordeal._engine.plain.program import End, PlainStatement, Program
from ordeal._engine.plain.recorder import Decision, Operand, Operation, Recorder, value_of
from ordeal.errors import DivergenceError
from ordeal.simulate.errors import SimulationFailure

#: Keys of dicts that are written as they show themselves.
_KEYS = (bool, int, str, bytes, type(None))
#: What must hold where the opposite made the test fail.
_OPPOSITE = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
}


class CannotWriteError(Exception):
    """No plain program could be written; the text says why."""


def program_of(recorder: Recorder, error: BaseException) -> Program:
    """Return the program that fails like the recorded run, which ended with ``error``.

    Raises:
        CannotWriteError: the run cannot be written as plain calls.
    """
    if recorder.problem:
        raise CannotWriteError(recorder.problem)
    if isinstance(error, SimulationFailure):
        raise CannotWriteError("it is a failure of a simulated run, which plain calls do not make")
    operations = recorder.operations
    end, last, seen = _end(recorder, error)
    needed = _connected(operations[: last + 1], seen, is_last=not end.text)
    if not any(each.is_target for each in needed):
        raise CannotWriteError("no call into the code under test belongs to the failure")
    # What the program cannot do without: what changes something, and what that uses.
    essential = set(seen.uses)
    for each in reversed(needed):
        is_last = not end.text and each is needed[-1]
        if is_last or each.number in essential or not (each.looks_only or each.in_check):
            essential |= {each.number} | each.expression.uses
    needed = [each for each in needed if not each.expression.problem or each.number in essential]
    for each in needed:
        if each.expression.problem:
            raise CannotWriteError(
                f"an argument of `{each.expression.text[:60]}` cannot be written: {each.expression.problem}"
            )
    variables = {each.number: each.variable for each in operations}
    imports = {module for each in needed for module in each.expression.imports} | set(seen.imports)
    names = {name for each in needed for name in each.expression.definitions} | set(seen.definitions)
    statements = [_statement(each, variables, imports) for each in needed]
    end.uses = sorted(variables[number] for number in seen.uses)
    kind = (end.error or ("AssertionError" if end.must_raise else full_name(type(error)))).rpartition(".")[2]
    kind = "AssertionError" if kind == DivergenceError.__name__ else kind
    message = _message(error, 300)
    title = f"{kind}: {message}" if message else kind
    definitions, more = _definitions(recorder, names)
    return Program(
        title=title,
        imports=sorted(imports | more),
        definitions=definitions,
        statements=statements,
        end=end,
    )


def _statement(operation: Operation, variables: dict[int, str], imports: set[str]) -> PlainStatement:
    raised = ""
    if operation.raised is not None:
        raised = _class_path(operation.raised, imports)
    faults = []
    for hit in operation.hits:
        pair = (hit.target, hit.error.text)
        imports |= hit.error.imports
        if pair not in faults:
            faults.append(pair)
    return PlainStatement(
        text=operation.expression.text,
        variable=operation.variable,
        uses=sorted(variables[number] for number in operation.expression.uses),
        raises=raised,
        faults=faults,
        optional=operation.looks_only or operation.in_check,
    )


def _class_path(error: BaseException, imports: set[str]) -> str:
    kind = type(error)
    if kind.__module__ == "builtins":
        return kind.__name__
    imports.add(kind.__module__)
    return f"{kind.__module__}.{kind.__qualname__}"


def _definitions(recorder: Recorder, names: set[str]) -> tuple[list[str], set[str]]:
    parts: dict[str, str] = {}
    imports: set[str] = set()
    callbacks: list[str] = []
    for name in sorted(names):
        if name.startswith("answers:"):
            own = name.partition(":")[2]
            answers = recorder.answers[own]
            if any(each.problem or each.uses for each in answers):
                raise CannotWriteError(f"the function {own} of the test returns what cannot be written")
            imports |= {module for each in answers for module in each.imports}
            texts, given = [each.text for each in answers], f"{own}_answers"
            if len(set(texts)) <= 1:
                callbacks.append(f"def {own}(*args, **kwargs):\n    return {texts[0] if texts else None}")
                continue
            # The last answer is given for good.
            callbacks.append(f"{given} = [{', '.join(texts)}]")
            value = f"{given}.pop(0) if len({given}) > 1 else {given}[0]"
            callbacks.append(f"def {own}(*args, **kwargs):\n    return {value}")
        elif name.startswith("folder:"):
            imports.add("tempfile")
            parts[name] = f"{name.partition(':')[2]} = tempfile.mkdtemp()"
        else:
            parts |= recorder.expressions.sources[name]
    return [*parts.values(), *callbacks], imports


def _connected(operations: Sequence[Operation], seen: Expression, *, is_last: bool) -> list[Operation]:
    """Return the operations that share objects with the end, directly or by others."""
    required = set(seen.uses) | ({operations[-1].number} if is_last and operations else set())
    # A change of a class or module has no object, and may matter to all.
    required |= {each.number for each in operations if not each.variable and not each.expression.uses and each.done}
    objects: set[int | str] = set()
    before = -1
    while before != len(objects) + len(required):
        before = len(objects) + len(required)
        for each in operations:
            shared = each.expression.uses | each.expression.folders
            if each.number in required or (not each.looks_only and not objects.isdisjoint(shared)):
                required |= {each.number} | each.expression.uses
                objects |= {each.number} | shared
            elif each.expression.uses and each.expression.uses <= objects:
                objects.add(each.number)  # an item or attribute of such an object is one, too
    # What only looks joins nothing: a comparison with a model does not make the model a part of it.
    looks = {each.number for each in operations if each.looks_only and each.expression.uses <= objects}
    return [each for each in operations if each.number in required or each.number in looks]


# -- how it ends


def _end(recorder: Recorder, error: BaseException) -> tuple[End, int, Expression]:
    """Return the end, the number of its last operation, and the expression of what it compares."""
    # The failure itself, or what the test turned into it at once.
    causes = [id(each) for each in (error, error.__cause__, error.__context__)]
    for operation in reversed(recorder.operations):
        if operation.raised is not None and id(operation.raised) in causes:
            imports: set[str] = set()
            path = _class_path(operation.raised, imports)
            return End(error=path), operation.number, Expression("", imports=imports)
    made = _divergence(recorder, error) if isinstance(error, DivergenceError) else None
    if made is not None:
        return made
    for decision in reversed(recorder.decisions):
        parts = _sides(recorder, decision)
        whole = parts[0].join(parts[1:], "")
        if not whole.is_target or whole.problem:
            continue
        sign = _OPPOSITE[decision.sign] if decision.outcome and decision.sign else decision.sign
        text = f" {sign} ".join(part.text for part in parts)
        if decision.outcome and not sign:
            text = f"not {text}"
        # The title holds the words of a pair; the two sides say the same.
        message = "" if isinstance(error, DivergenceError) else _message(error)
        return End(text=text, parts=[part.text for part in parts], message=message), decision.after - 1, whole
    raise CannotWriteError("what the test compares at the end does not come from the code under test")


def _message(error: BaseException, limit: int = 200) -> str:
    """Return the first line of a message, without the words of a pair: the plain program has no system and no model."""
    first = error_message(error).strip().partition("\n")[0]
    if isinstance(error, DivergenceError):
        first = re.sub(r"the system \((\w+)\)", r"\1", first)
        first = re.sub(r", but the model \(\w+\) (returned|shows) ", ", expected ", first)
        first = re.sub(r", but the model \(\w+\) raised ", ", expected an error: ", first)
    return first[:limit]


def _sides(recorder: Recorder, decision: Decision) -> list[Expression]:
    """Return the expressions of what was compared: what the code under test gave on one side, values on the other."""
    before = decision.after
    for loose in (False, True):
        for number, operand in enumerate(decision.operands):
            part = _origin(recorder, operand, before, loose=loose)
            if part.is_target and not part.problem:
                sides = [
                    _origin(recorder, each, before, loose=False)
                    if type(each) is Operand
                    else recorder.expressions.by_value(each)  # usually a value of the test
                    for each in decision.operands
                ]
                sides[number] = part
                return sides
    return [recorder.expressions.by_value(value_of(operand)) for operand in decision.operands]


def _origin(recorder: Recorder, operand: Any, before: int, *, loose: bool) -> Expression:
    """Return the expression of a value that is compared: what gave it directly, or the name that holds it."""
    if type(operand) is not Operand:
        return explained(recorder, operand, before, loose=loose)
    operation = operand.operation
    if operation is not None and operation.is_target and operation.variable:
        return Expression(operation.variable, {operation.number}, is_target=True)
    if operand.is_constant or (is_plain(operand.value) and not loose):
        return recorder.expressions.write(operand.value)
    return explained(recorder, operand.value, before, loose=loose)


def explained(recorder: Recorder, value: Any, before: int, *, loose: bool = True) -> Expression:
    """Return the expression from which ``value`` comes: of the code under test, if that gave an equal one last.

    When ``loose``, parts of a list or tuple may come from anywhere.
    """
    known = recorder.expressions.known(value)
    if known is not None and known.is_target:
        return known
    whole = _given_last(recorder, value, before, loose=loose)
    if whole is not None:
        return whole
    if isinstance(value, list | tuple) and type(value) in (list, tuple) and loose:
        parts = [explained(recorder, item, before) for item in value]
        inner = ", ".join(part.text for part in parts)
        brackets = f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(parts) == 1)})"
        return Expression("").join(parts, brackets)
    written = recorder.expressions.by_value(value)
    return written if known is None or not written.problem else known


def _given_last(recorder: Recorder, value: Any, before: int, *, loose: bool) -> Expression | None:
    """Return the last result of the code under test in this step that equals ``value``, or has it as a part."""
    step = recorder.operations[before - 1].step if before else 0
    for operation in reversed(recorder.operations[:before]):
        if operation.step != step:
            break
        # What describes the difference of a pair comes last, and is not an origin.
        if not (operation.done and operation.is_target and operation.variable) or (
            operation.by_model and operation.looks_only
        ):
            continue
        if _is_same(operation.result, value):
            return Expression(operation.variable, {operation.number}, is_target=True)
        path = _path_to(value, operation.result) if loose and is_plain(value) else ""
        if path:
            return Expression(f"{operation.variable}{path}", {operation.number}, is_target=True)
    return None


def _path_to(value: Any, result: Any, depth: int = 0) -> str:
    """Return the indices or keys by which a list, tuple or dict leads to a plain value; empty if it does not."""
    if type(result) not in (list, tuple, dict) or depth > 1:
        return ""
    items = result.items() if type(result) is dict else enumerate(result)
    for index, item in reversed(list(islice(items, 50))):
        if type(index) not in _KEYS:
            continue
        if is_plain(item) and _is_same(item, value):
            return f"[{index!r}]"
        inner = _path_to(value, item, depth + 1)
        if inner:
            return f"[{index!r}]{inner}"
    return ""


def _is_same(one: Any, other: Any) -> bool:
    """Return True if two plain values are the same; everything else is by identity."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, ATOMIC):
        return bool(one == other)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(_is_same(a, b) for a, b in zip(one, other, strict=True))
    if type(one) is dict:
        return len(one) == len(other) and all(key in other and _is_same(one[key], other[key]) for key in one)
    if type(one) in (set, frozenset):
        return bool(one == other) and all(isinstance(each, ATOMIC) for each in one)
    return False


def _divergence(recorder: Recorder, error: BaseException) -> tuple[End, int, Expression] | None:
    """Return the end for a system that differs from its model: the frame that raised holds both sides."""
    tb = error.__traceback__
    sides: tuple[Any, Any] | None = None
    while tb is not None:
        names = tb.tb_frame.f_locals
        if "ours" in names and "theirs" in names:
            sides = names["ours"], names["theirs"]
        tb = tb.tb_next
    if sides is None:
        return None
    last = len(recorder.operations)
    ours, theirs = (side.result if _is_outcome(side) else side for side in sides)
    theirs_error = getattr(sides[1], "error", None) if _is_outcome(sides[1]) else None
    if theirs_error is not None:
        imports: set[str] = set()
        path = _class_path(theirs_error, imports)
        operation = next((each for each in reversed(recorder.operations) if each.is_target and each.done), None)
        if operation is None:
            return None
        return End(must_raise=path, message=_message(error)), operation.number, Expression("", imports=imports)
    left, right = explained(recorder, ours, last), recorder.expressions.by_value(theirs)
    if right.problem:
        right = explained(recorder, theirs, last)
    whole = left.join([right], "")
    if not left.is_target or whole.problem:
        return None
    return (
        End(text=f"{left.text} == {right.text}", parts=[left.text, right.text]),
        last - 1,
        whole,
    )


def _is_outcome(side: Any) -> bool:
    return type(side).__module__ == "ordeal.model.call_result"
