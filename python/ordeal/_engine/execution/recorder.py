"""What watches a run, and what records for people: steps with arguments, and the program that they make."""

from __future__ import annotations

import inspect
import keyword
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial
from types import FunctionType
from typing import Any, Literal, override

import hypothesis
import msgspec
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.strategies import DataObject, SearchStrategy

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._base.limits import LISTED_MAX, RECORDED_CHARS_MAX, TEXT_CHARS_MAX
from ordeal._base.python_source import NoSourceError, SourceWriter, without_folders
from ordeal._base.records_used import records
from ordeal._base.trace_file import TraceStep
from ordeal._base.untrusted import bounded_call, type_name
from ordeal._hypothesis.buggify_choices import BUGGIFY_ARGUMENT
from ordeal._hypothesis.draws import draws_from_bundle
from ordeal._hypothesis.machines import BODY_ARGUMENT, MachineDefinition, Rule
from ordeal._hypothesis.private import MultipleResults, VarReference
from ordeal._hypothesis.randoms import random_state
from ordeal.chaos import ChaosTest
from ordeal.faults import Fault

#: Stands in a line for the choices of the arguments between two of them, until these are known.
_CHOICES = "\0"
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=[ >])")
#: The text of such values, if they are small, is made by Python alone, at once.
PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


_Row = tuple[str, str, list[str], dict[str, str], list[str], str, list[str]]
_Written = tuple[list[_Row], list[str], list[str], list[str], bool, dict[str, int] | None]
#: Values without identity: their text says all of them.
_WITHOUT_IDENTITY = (*PLAIN, tuple, frozenset, Enum, type)


class Observer:
    """Sees a run in detail, for traces and programs. It costs time, so only replays have one."""

    def making(self, cls: type[RuleBasedStateMachine]) -> None:
        """Called before a machine is made."""

    def started(self, machine: RuleBasedStateMachine) -> None:
        """Called when the machine was made."""

    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        """Called before a rule runs with the arguments ``resolved``; ``values`` has references for bundle values."""

    def undrawn(self, rule: Rule, initialize: bool) -> None:
        """Called in place of ``rule`` when the program raised while the arguments were drawn."""

    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
        """Called when the rule returned ``result``; ``names`` are the names of its values, by target bundle."""

    def fault(self, fault: Fault, on: bool) -> None:
        """Called before a fault is switched."""

    def ending(self) -> None:
        """Called before the machine is torn down."""


class RunRecorder(Observer):
    """Records a run. It renders arguments before the rule runs, because the rule may change them.

    Attributes:
        state: the name of the machine in the program.
        is_whole: whether expressions make all arguments of the program, so that none is drawn again.
    """

    state = "state"

    def __init__(self) -> None:
        records.paths.clear()
        self.is_whole = True
        self.steps: list[TraceStep] = []
        self.program: list[str] = []
        self.needed: list[str] = []  # the lines before the machine is made
        self._chance: object = None  # the state of the module `random` before the machine is made
        self._machine: RuleBasedStateMachine | None = None
        self._active: list[str] = []
        self._ends = False  # with a teardown, of a machine of another process
        self._hits_in_teardown: list[str] | None = None
        self._is_told_decisions = False  # in place of the choices that they are made from
        self._struck = Counter[str]()

    @property
    def active_faults(self) -> list[str]:
        """Return the names of the faults that are on, in the order in which they were switched on."""
        return list(self._active)

    @property
    def last_step(self) -> str:
        """Return the name of the last step; empty before the first."""
        return self.steps[-1].name if self.steps else ""

    @property
    def struck(self) -> dict[str, int] | None:
        """Return how often each thing that a simulation decides struck; None for a machine without one."""
        return dict(self._struck) if self._is_told_decisions else None

    @override
    def making(self, cls: type[RuleBasedStateMachine]) -> None:
        self._chance = random_state()
        self.program.append(f"{self.state} = {type_name(cls)}()")

    @override
    def started(self, machine: RuleBasedStateMachine) -> None:
        self._machine = machine
        if isinstance(machine, ChaosTest):
            self._is_told_decisions = machine.tell_decisions(self.decided)
            for fault in machine.faults:
                fault.tell_hits(self._hit)

    @override
    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        text = {name: render(value) for name, value in values.items()}
        self.steps.append(
            TraceStep(
                kind="initialize" if initialize else "rule",
                name=rule.name,
                params=dict(resolved),
                active_faults=self.active_faults,
                text=text,
            )
        )
        for value in resolved.values():
            # Note what the rule draws from `data()`, which is one object for the whole run.
            if issubclass(type(value), DataObject) and "draw" not in vars(value):
                value.draw = partial(self._draw, value.draw)
        self.program.append(self._call(rule, values))

    @override
    def undrawn(self, rule: Rule, initialize: bool) -> None:
        kind: Literal["initialize", "rule"] = "initialize" if initialize else "rule"
        self.steps.append(TraceStep(kind=kind, name=rule.name, active_faults=self.active_faults))
        call = f"{self.state}.{rule.name}({self.drawn_again(argument.name for argument in rule.arguments)})"
        self.program.append(f"{call}{_comment(['drawing the arguments fails'])}")

    def _call(self, rule: Rule, values: Mapping[str, Any]) -> str:
        """Return the call of a rule. Arguments without source are drawn again, from choices that are known later."""
        name = _attribute_of(rule, type(self._machine))
        if not name:
            self.is_whole = False
            return f"...  # {rule.name} is not a method of the machine, so no program can call it"
        written, drawn, problems = [], [], []
        known = {} if self._machine is None else dict(self._machine.names_to_values)
        # Not isinstance(): an object may say anything of its class.
        held = {id(value): name for name, value in known.items() if not issubclass(type(value), _WITHOUT_IDENTITY)}
        for argument in rule.arguments:
            try:
                source = self._source(values[argument.name], held)
                written.append(f"{argument.name}={source}")
            except NoSourceError as error:
                if draws_from_bundle(argument.strategy):
                    written.append(f"{argument.name}=...")
                    problems.append(f"{argument.name} cannot be written: {one_line(str(error))}")
                else:
                    drawn.append(argument.name)
        if drawn or _asks_hypothesis(rule.function):
            written.append(self.drawn_again(drawn))
        self.is_whole = self.is_whole and not problems
        call = f"{self.state}.{name}({', '.join(written)})"
        if rule.is_coroutine and isinstance(self._machine, ChaosTest):
            call = f"{self.state}.run_coroutine({call})"
        elif rule.is_coroutine:
            self._need("import asyncio", "run = asyncio.Runner().run")
            call = f"run({call})"
        return f"{call}{_comment(problems)}"

    def drawn_again(self, names: Iterable[str]) -> str:
        """Return what stands for arguments that are drawn again, until ``finished_program`` puts in their choices."""
        self.is_whole = False
        self._need("from ordeal.trace import drawn")
        return f"{_CHOICES}{','.join(names)}{_CHOICES}"

    def reference(self, name: str) -> str:
        """Return the expression for a value of a bundle."""
        return slug(name)

    def _source(self, value: Any, held: Mapping[int, str]) -> str:
        """Return the source of an argument; ``held`` are the names of bundles' values, by identity.

        Raises:
            NoSourceError: there is none.
        """
        if type(value) is VarReference:
            return self.reference(value.name)
        if type(value) is list and value and all(type(item) is VarReference for item in value):
            return f"[{', '.join([self.reference(item.name) for item in value])}]"
        if issubclass(type(value), DataObject):
            raise NoSourceError("it draws inside the rule")

        def known(each: Any) -> str | None:
            if each is self._machine:
                return self.state
            return self.reference(held[id(each)]) if id(each) in held else None

        writer = SourceWriter(known, frozenset({self.state, "run", "drawn"}))

        def write() -> str | NoSourceError:
            try:
                return writer.write(value)
            except NoSourceError as error:
                return error

        text = bounded_call(write, lambda why: NoSourceError(_why(why)))
        if not isinstance(text, str):
            raise text
        if len(text) > RECORDED_CHARS_MAX:
            raise NoSourceError("too long")
        if writer.folders:
            raise NoSourceError("it names a temporary folder")
        self._need(*(f"import {module}" for module in writer.modules))
        return text

    def _need(self, *lines: str) -> None:
        self.needed += [line for line in sorted(lines) if line not in self.needed]

    @override
    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
        if not names or not names[0]:
            return
        comma = "," if issubclass(type(result), MultipleResults) and len(names[0]) == 1 else ""
        self.program[-1] = " = ".join([*[", ".join(map(slug, added)) + comma for added in names], self.program[-1]])
        assert self._machine is not None
        values = [render(self._machine.names_to_values[name]) for name in names[0]]
        shared = [" = ".join(map(slug, one)) for one in zip(*names, strict=True)]
        self.steps[-1].result = ", ".join(f"{name} = {value}" for name, value in zip(shared, values, strict=True))

    @override
    def fault(self, fault: Fault, on: bool) -> None:
        if on:
            self._active.append(fault.name)
        elif fault.name in self._active:
            self._active.remove(fault.name)
        sign = "+" if on else "-"
        self.steps.append(TraceStep(kind="fault_toggle", name=f"{sign}{fault.name}", active_faults=self.active_faults))
        # The class of the machine may use the name `fault` itself.
        is_plain = self._machine is None or getattr(type(self._machine), "fault", None) is ChaosTest.fault
        found = f"state.fault({fault.name!r})"
        if not is_plain:
            found = f"next(fault for fault in state.faults if fault.name == {fault.name!r})"
        self.program.append(f"{found}.{'activate' if on else 'deactivate'}()")

    @override
    def ending(self) -> None:
        self._hits_in_teardown = []
        if random_state() != self._chance:
            self._need("import random", "random.seed(0)")

    def decided(self, text: str, actor: str, site: str, noun: str) -> None:
        """Write down what a simulation decided for the task or node ``actor``; count what strikes as ``noun``."""
        del actor, site
        if text:
            self._hit(text)
        if noun:
            self._struck[noun] += 1

    def _hit(self, text: str) -> None:
        """Write down what a fault hit."""
        in_step = self.steps[-1].hits if self.steps else None
        hits = in_step if self._hits_in_teardown is None else self._hits_in_teardown
        if hits is None or len(hits) > LISTED_MAX:
            return
        hits.append(one_line(text) if len(hits) < LISTED_MAX else "and more")

    def finished_steps(self, tape: _native.Tape, definition: MachineDefinition) -> list[TraceStep]:
        """Return the steps with the choices of ``tape``, which was recorded while this recorder watched."""
        names = definition.argument_names
        for step, (_, _, _, arguments) in zip(self.steps, tape.steps(), strict=False):
            step.choices = {names[number]: choices for number, choices in arguments if choices}
        return self.steps

    def finished_program(self, invariant: str = "") -> list[str]:
        """Return the lines of the program, with random events inside a rule as comments, and with its end.

        ``invariant`` is the one that fails at the end. The import of the machine is left to ``runnable_program``.
        """
        if self._machine is None and not self._ends:
            # Its constructor raised, so there is nothing to tear down.
            return [*self.needed, *self.program]
        made, *calls = self.program
        lines = []
        for call, step in zip(calls, self.steps, strict=True):
            remarks = [f"draws: {', '.join(step.draws)}"] if step.draws else []
            acted = [str(number) for number, acts in enumerate(step.choices.get(BUGGIFY_ARGUMENT, ()), start=1) if acts]
            if acted and not self._is_told_decisions:
                remarks.append(f"chance acts at call {', '.join(acted)}")
            lines.append(f"{_with_choices(call, step)}{_comment([*remarks, *step.hits])}")
        checks = [f"{self.state}.{invariant}()  # the invariant"] if invariant.isidentifier() else []
        return [*self.needed, made, *lines, *checks, f"{self.state}.teardown(){_comment(self._hits_in_teardown or [])}"]

    def written(self) -> bytes:
        """Return what was recorded, for a recorder of another process."""
        rows = [(s.kind, s.name, s.active_faults, s.text, s.draws, s.result, s.hits) for s in self.steps]
        is_made = self._machine is not None
        return msgspec.json.encode((rows, self.program, self.needed, self._active, is_made, self.struck))

    def read(self, written: bytes) -> None:
        """Load the recording of another process. Arguments are then known only as text.

        Raises:
            ValueError: the bytes are no recording.
        """
        recorded = msgspec.json.decode(written, type=_Written)
        rows, self.program, self.needed, self._active, self._ends, struck = recorded
        self._is_told_decisions, self._struck = struck is not None, Counter(struck or {})
        self.steps = [
            TraceStep(kind, name, dict(text), faults, text=text, draws=draws, result=result, hits=hits)
            for kind, name, faults, text, draws, result, hits in rows
        ]

    def _draw(self, draw: Callable[..., Any], strategy: SearchStrategy[Any], label: Any = None) -> Any:
        value = draw(strategy, label)
        self.steps[-1].draws.append(render(value))
        return value


def _attribute_of(rule: Rule, cls: type) -> str:
    """Return the name by which a machine has the method of a rule, which is mostly that of its function."""
    function = inspect.unwrap(rule.function)
    for name in (rule.name, *dir(cls)):
        if name.isidentifier() and inspect.unwrap(inspect.getattr_static(cls, name, _attribute_of)) is function:
            return name
    return ""


def _asks_hypothesis(function: Any) -> bool:
    """Return True if a rule calls ``note``, ``event``, ``target`` or the like, which raise outside of a test."""
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType):
        return False
    names = function.__code__.co_names
    used = [function.__globals__.get(name) for name in names]
    if any(each is hypothesis for each in used):
        used += [vars(hypothesis).get(name) for name in names]
    asks = {id(each) for each in vars(sys.modules["hypothesis.control"]).values() if isinstance(each, FunctionType)}
    return any(id(each) in asks for each in used)


def _with_choices(call: str, step: TraceStep) -> str:
    """Return a call in which the choices of the arguments that are drawn again stand in their place."""
    if _CHOICES not in call:
        return call
    head, given, tail = call.split(_CHOICES)
    names = [name for name in given.split(",") if name]
    choices = {name: step.choices.get(name, []) for name in [*names, BODY_ARGUMENT] if name in {*names, *step.choices}}
    try:
        text = SourceWriter().write(choices)
    except NoSourceError as error:
        return f"{head}{', '.join(f'{name}=...' for name in names)}{tail}{_comment([f'cannot be written: {error}'])}"
    seen = [f"{name} is {one_line(step.text[name])}" for name in names if name in step.text]
    remarks = _comment([each for each in seen if not each.endswith(" data(...)")])
    return f"{head}**drawn(state, {step.name!r}, {text}){tail}{remarks}"


def _comment(remarks: list[str]) -> str:
    return f"  # {without_folders('; '.join(remarks))}" if remarks else ""


def slug(name: str) -> str:
    """Return the name of a bundle's value as a Python identifier."""
    text = re.sub(r"\W", "_", name)
    return f"_{text}" if not text or text[0].isdigit() or keyword.iskeyword(text) else text


def render(value: Any) -> str:
    """Return the text of an argument or result in bounded time; values of bundles appear by name.

    It is the same in every process: sets are sorted, and addresses of objects are left out.
    """
    if type(value) is VarReference:
        return slug(value.name)
    if type(value) is list and value and all(type(item) is VarReference for item in value):
        return "[" + ", ".join(slug(item.name) for item in value) + "]"
    kind, items = type(value), None
    if kind is dict:
        items = [*value, *value.values()]
    elif kind is list or kind is tuple or kind is set or kind is frozenset:
        items = list(value)
    if items is not None and len(items) <= 32 and all(map(is_quick, items)):
        text = _text(value)  # no code of the program has a part in it
    else:
        text = bounded_call(lambda: _text(value), lambda why: f"<{type_name(type(value))} whose repr {_why(why)}>")
    return text if len(text) <= RECORDED_CHARS_MAX else text[:RECORDED_CHARS_MAX] + "..."


def is_quick(value: Any) -> bool:
    """Return True if the text of a value is made by Python alone, and at once: no limit of time is needed."""
    kind = type(value)
    if kind is int:
        return bool(-(1 << 60) < value < 1 << 60)
    if kind is str or kind is bytes:
        return len(value) <= 1000
    return kind in PLAIN


def _why(raised: BaseException | None) -> str:
    return "takes too long" if raised is None else f"raises {type_name(type(raised))}"


def _text(value: Any, around: tuple[int, ...] = ()) -> str:
    """Return the text of a value that lies in collections with these ids: one of them is not looked into again."""
    kind = type(value)
    if kind is str or kind is bytes:
        # The quotes depend on the whole text, which is used unless it is long.
        return repr(value if len(value) <= TEXT_CHARS_MAX else value[:TEXT_CHARS_MAX])
    inner = (*around, id(value))
    if kind is list:
        return "[...]" if id(value) in around else f"[{_joined(_text(item, inner) for item in value)}]"
    if kind is tuple:
        shown = "..." if id(value) in around else _joined(_text(item, inner) for item in value)
        return f"({shown}{',' if len(value) == 1 else ''})"
    if kind is dict:
        items = (f"{_text(key, inner)}: {_text(item, inner)}" for key, item in value.items())
        return f"{{{'...' if id(value) in around else _joined(items)}}}"
    if kind is set and value:
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if kind is frozenset and value:
        return f"frozenset({{{', '.join(sorted(map(_text, value)))}}})"
    text = repr(value)
    # Only the beginning is shown; an address in it may be longer than the text without it.
    return ADDRESS.sub("", str.__getitem__(text, slice(0, 2 * RECORDED_CHARS_MAX)))


def _joined(texts: Iterable[str]) -> str:
    """Join texts, as far as they are shown."""
    parts: list[str] = []
    left = RECORDED_CHARS_MAX
    for text in texts:
        parts.append(text)
        left -= len(text)
        if left < 0:
            break
    return ", ".join(parts)
