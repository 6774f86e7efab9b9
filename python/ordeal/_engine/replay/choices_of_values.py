"""Finds the choices with which a strategy makes a given value, for traces that hold values alone."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis.strategies import SearchStrategy

import ordeal._native as _native
from ordeal._base.trace_file import ChoiceValue, Trace, TraceStep, encode_choice
from ordeal._engine.execution.driver import BODY, RULE
from ordeal._hypothesis import REJECTED, MachineDefinition, Rule, RunContext, describe_strategy
from ordeal.errors import OutdatedTraceError, TraceError

Choices = list[ChoiceValue]

#: Limits: elements of one ``sampled_from`` that are tried, and nesting of strategies.
ELEMENTS_MAX = 10_000
DEPTH_MAX = 50


class NoChoicesError(Exception):
    """A strategy is not known to make the value; the message is a reason, to follow "because"."""


def rebuilt_steps(trace: Trace, definition: MachineDefinition) -> list[TraceStep]:
    """Return the steps of a trace that holds values alone, with choices that make these values.

    Raises:
        OutdatedTraceError: the rule of a step has no argument of that name.
        TraceError: the value of an argument cannot be rebuilt, or the trace begins in the middle of a run.
    """
    if trace.from_checkpoint is not None:
        raise TraceError(
            f"the trace of run {trace.run_id} begins at checkpoint {trace.from_checkpoint}, and what happened before "
            "is not recorded: the public project writes such traces",
            hint="explore again: a trace of ordeal holds every step from a fresh machine",
        )
    rules = {rule.name: rule for rule in definition.rules}
    return [
        _rebuilt(step, rules[step.name], f"step {number}, rule `{step.name}`")
        if step.kind == "rule" and step.name in rules
        else step
        for number, step in enumerate(trace.taken_steps(), start=1)
    ]


def _rebuilt(step: TraceStep, rule: Rule, place: str) -> TraceStep:
    known = {argument.name for argument in rule.arguments}
    for name in step.params:
        if name not in known:
            raise OutdatedTraceError(
                f"the trace no longer applies: in {place}, there is no argument {name!r:.100}",
                hint=f"it has: {', '.join(sorted(known)) or 'none'}",
            )
    choices: dict[str, Choices] = {}
    for argument in rule.arguments:
        try:
            if argument.name not in step.params:
                raise NoChoicesError("the trace does not hold its value")
            choices[argument.name] = find_choices(argument.strategy, step.params[argument.name])
        except NoChoicesError as error:
            raise TraceError(
                f"{place}: argument `{argument.name}` cannot be rebuilt, because {error}",
                hint="explore again: a trace of ordeal holds what chance decided, whatever the type of a value",
            ) from None
    return TraceStep(
        step.kind,
        step.name,
        active_faults=step.active_faults,
        choices={name: found for name, found in choices.items() if found},
        text=step.text,
    )


def find_choices(strategy: SearchStrategy[Any], value: Any, depth: int = 0) -> Choices:
    """Return the choices with which ``strategy`` makes ``value``, which is JSON as the public project writes it.

    The result was drawn again and compared, so it is correct however the strategy is built.

    Raises:
        NoChoicesError: the strategy does not make the value, or no way to it was found.
    """
    if depth > DEPTH_MAX:
        raise NoChoicesError("its strategy is nested too deeply")
    kind, parts = describe_strategy(strategy)
    propose = _PROPOSALS.get(kind)
    if propose is None:
        raise NoChoicesError(_why_opaque(strategy, value))
    for choices in propose(parts, value, depth + 1):
        if _makes(strategy, choices, value):
            return choices
    raise NoChoicesError(f"{_text_of(strategy):.200} does not make {json.dumps(value):.200}")


def _why_opaque(strategy: SearchStrategy[Any], value: Any) -> str:
    if isinstance(value, dict) and "__repr__" in value:
        return f"the trace holds its text alone: {value['__repr__']!r:.200}"
    return f"it is not known how {_text_of(strategy):.200} makes a value"


def _makes(strategy: SearchStrategy[Any], choices: Choices, value: Any) -> bool:
    """Return whether ``strategy`` makes this value from exactly these choices."""
    replay = _native.Replay(_native.Tape.from_steps([(RULE, 0, 0, [(BODY, choices)])]))
    replay.next()
    try:
        made = as_public(RunContext(replay.source).draw(lambda run: _drawn(run, strategy)))
    except REJECTED:
        return False
    except Exception as error:
        # Strategies call functions of the user's, which may raise anything.
        raise NoChoicesError(f"{_text_of(strategy):.200} raises {type(error).__name__}") from error
    ((_, _, _, ((_, used),)),) = replay.tape.steps()
    return list(map(encode_choice, used)) == list(map(encode_choice, choices)) and _key(made) == _key(value)


def _drawn(run: RunContext, strategy: SearchStrategy[Any]) -> Any:
    run.source.begin_argument(BODY)
    return run.data.draw(strategy)


# For each kind of strategy, proposes choices that might make the value; a proposal may be wrong.

Parts = dict[str, Any]


def _scalar(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    del parts, depth
    if isinstance(value, bool | int | float | str):
        yield [value]
    elif isinstance(value, dict) and isinstance(value.get("__bytes__"), str):
        try:
            yield [base64.b64decode(value["__bytes__"], validate=True)]
        except ValueError:
            raise NoChoicesError(f"{json.dumps(value):.200} is not base64") from None


def _text(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    yield from _scalar(parts, value, depth)
    if isinstance(value, str) and parts["element_strategy"] is not None:
        # From an alphabet that is a strategy itself, letters are drawn one by one.
        yield from _list(parts, list(value), depth)


def _constant(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    del parts, value, depth
    yield []


def _sampled(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    del depth
    elements = parts["elements"][:ELEMENTS_MAX]
    wanted = _key(value)
    for at, element in enumerate(elements):
        if parts["transformations"] or _key(as_public(element)) == wanted:
            yield [at]


def _one_of(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    branches = parts["element_strategies"]
    for at, branch in enumerate(branches):
        try:
            found = find_choices(branch, value, depth)
        except NoChoicesError:
            continue
        if len(branches) == 1:
            # Versions of Hypothesis differ in whether they draw the branch.
            yield found
        yield [at, *found]


def _tuple(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    strategies = parts["element_strategies"]
    if isinstance(value, list) and len(value) == len(strategies):
        yield _joined(find_choices(one, item, depth) for one, item in zip(strategies, value, strict=True))


def _list(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    if isinstance(value, list):
        yield _collection(parts, value, depth, lambda item: find_choices(parts["element_strategy"], item, depth))


def _unique_sampled(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    """Each element of a unique sampled list is drawn as its index among those that are left."""
    _, sampled = describe_strategy(parts["element_strategy"])
    left = [_key(as_public(element)) for element in sampled["elements"][:ELEMENTS_MAX]]

    def place(item: Any) -> Choices:
        if (key := _key(item)) not in left:
            raise NoChoicesError(f"{json.dumps(item):.200} is not among {_text_of(parts['element_strategy']):.200}")
        at = left.index(key)
        del left[at]
        return [at]

    if isinstance(value, list):
        choices = _collection(parts, value, depth, place)
        # After the last possible element nothing is asked.
        yield choices if left else choices[: len(choices) - len(_goes_on(parts, len(value), more=False))]


def _collection(parts: Parts, items: list[Any], depth: int, draw_element: Callable[[Any], Choices]) -> Choices:
    """Propose the choices of a collection that asks before each element whether there is one more.

    In a collection with suffixes, such as the values of a dictionary, an item is an element and what is drawn after it.
    """
    choices: Choices = []
    suffixes = parts["tuple_suffixes"]
    for at, item in enumerate(items):
        choices += _goes_on(parts, at, more=True)
        if suffixes is None:
            choices += draw_element(item)
        elif isinstance(item, list) and item:
            choices += [*draw_element(item[0]), *find_choices(suffixes, item[1:], depth)]
    return [*choices, *_goes_on(parts, len(items), more=False)]


def _goes_on(parts: Parts, count: int, *, more: bool) -> Choices:
    """Propose whether a collection of ``count`` elements grows; nothing is drawn when only one answer is possible."""
    low, high = parts["min_size"], parts["max_size"]
    return [more] if low <= count < high else []


def _fixed(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    mapping = parts["mapping"]
    keys = {_key_text(key): key for key in mapping}
    if isinstance(value, dict) and not parts["optional"] and keys.keys() == value.keys():
        values = _joined(find_choices(mapping[key], value[name], depth) for name, key in keys.items())
        # The items are shuffled at the end: keep each in its place.
        yield [*values, *range(len(keys) - 1)]
        yield values


def _mapped(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    """Search for the argument of the mapped function: the value itself, or the items of a set or dictionary."""
    reason = ""
    for inner in _before_mapping(value):
        try:
            yield find_choices(parts["mapped_strategy"], inner, depth)
        except NoChoicesError as error:
            reason = reason or str(error)
    raise NoChoicesError(reason or "what its `map` did cannot be undone")


def _before_mapping(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if isinstance(value.get("__set__"), list):
            yield value["__set__"]
            return
        yield [list(item) for item in value.items()]
        yield [[_parsed_key(name), item] for name, item in value.items()]
    yield value


def _filtered(parts: Parts, value: Any, depth: int) -> Iterator[Choices]:
    yield find_choices(parts["filtered_strategy"], value, depth)


def _joined(found: Iterator[Choices]) -> Choices:
    return [choice for choices in found for choice in choices]


_PROPOSALS: dict[str, Callable[[Parts, Any, int], Iterator[Choices]]] = {
    "IntegersStrategy": _scalar,
    "BooleansStrategy": _scalar,
    "FloatStrategy": _scalar,
    "BytesStrategy": _scalar,
    "OneCharStringStrategy": _scalar,
    "TextStrategy": _text,
    "JustStrategy": _constant,
    "SampledFromStrategy": _sampled,
    "OneOfStrategy": _one_of,
    "TupleStrategy": _tuple,
    "ListStrategy": _list,
    "UniqueListStrategy": _list,
    "UniqueSampledListStrategy": _unique_sampled,
    "FixedDictStrategy": _fixed,
    "MappedStrategy": _mapped,
    "FilteredStrategy": _filtered,
}


# How the public project writes values.


def as_public(value: Any) -> Any:
    """Return ``value`` as the JSON that the public project writes into a trace."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {_key_text(key): as_public(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_public(item) for item in value]
    if isinstance(value, set | frozenset):
        return {"__set__": [as_public(item) for item in value]}
    if isinstance(value, bytes):
        return {"__bytes__": base64.b64encode(value).decode("ascii")}
    return {"__repr__": _text_of(value)}


def _text_of(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - the repr is the user's code, which may raise anything
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"


def _key_text(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(key) if _is_json_key(key) else str(key)


def _is_json_key(key: Any) -> bool:
    return key is None or isinstance(key, bool | int | float)


def _parsed_key(name: str) -> Any:
    try:
        return json.loads(name)
    except ValueError:
        return name


def _key(public: Any) -> str:
    """Return a text that is equal for equal values of equal types, whatever the order of keys and of sets."""
    if isinstance(public, dict):
        if isinstance(public.get("__set__"), list):
            return f"set({sorted(map(_key, public['__set__']))})"
        return f"{{{', '.join(f'{name!r}: {_key(public[name])}' for name in sorted(public))}}}"
    if isinstance(public, list):
        return f"[{', '.join(map(_key, public))}]"
    return json.dumps(public)
