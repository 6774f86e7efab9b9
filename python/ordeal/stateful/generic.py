"""Machines that say before each step which steps are possible, and the rule machines that run them in either engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

import hypothesis.stateful
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ordeal._hypothesis import DECORATOR_MARKS
from ordeal.errors import MachineError
from ordeal.stateful.test_case import RuleBasedStateMachine

EXAMPLE = 'write for example `return st.tuples(st.just("add"), st.integers())`'

#: The identity of a class, by its name and place, in Python's reports and in Hypothesis' database.
_IDENTITY = ("__module__", "__qualname__", "__doc__", "__firstlineno__", *DECORATOR_MARKS)
_METHODS = ("steps", "execute_step", "check_invariants", "teardown")


class _TestCaseOfGeneric:
    """The attribute ``TestCase``: that of the rule machine that runs the class."""

    def __get__(self, machine: object, cls: type[GenericStateMachine]) -> type[Any]:
        found: type[Any] = rule_machine_class(cls).TestCase
        return found


class GenericStateMachine:
    """A machine whose next step may depend on everything that happened before.

    Subclass it with ``steps`` and ``execute_step``. A run makes a machine and then repeatedly draws a step from
    ``steps()`` and passes it to ``execute_step``; a constructor of the subclass need not call this class's. Both
    pytest, by ``TestX = X.TestCase``, and the Explorer run it, and shrink a failure to few and simple steps, each of
    which ``steps()`` could have returned at its point.
    """

    TestCase = _TestCaseOfGeneric()

    def steps(self) -> st.SearchStrategy[Any]:
        """Return the steps that are possible now, as a strategy. An empty one, ``st.nothing()``, ends the run.

        Called once before each step; it should depend only on the machine.
        """
        raise NotImplementedError

    def execute_step(self, step: Any) -> None:
        """Take ``step``, which was drawn from ``steps()``. An exception here is a failure."""
        raise NotImplementedError

    def check_invariants(self) -> None:
        """Check what must always hold: called after the constructor and after each step."""

    def teardown(self) -> None:
        """Clean up at the end of a run, even if it failed."""


AnyMachine = hypothesis.stateful.RuleBasedStateMachine | GenericStateMachine


def as_rule_machine(made: object, maker: object) -> hypothesis.stateful.RuleBasedStateMachine:
    """Return what ``maker`` made as a rule machine.

    Raises:
        MachineError: it is no machine, or an incomplete generic one.
    """
    if isinstance(made, GenericStateMachine):
        return rule_machine_class(type(made))(made)
    if isinstance(made, hypothesis.stateful.RuleBasedStateMachine):
        return made
    raise MachineError(
        f"{maker_name(maker)} made a {type(made).__name__}, which is not a rule machine",
        hint="return a machine, for example `return MyMachine(3)`",
    )


def maker_name(maker: object) -> str:
    """Return the name of a function that makes machines, without its address, which differs in each process."""
    name = getattr(maker, "__qualname__", None)
    return repr(maker) if name is None else f"`{name}`"


class _NoStepLeft(Enum):
    """Drawn in Hypothesis' loop, which only ends by its number of steps, once no step is left."""

    NO_STEP_LEFT = "no step left"

    def __repr__(self) -> str:
        return self.name


_END = st.just(_NoStepLeft.NO_STEP_LEFT)


class GenericRunner(RuleBasedStateMachine):
    """A rule machine with one rule, which takes a step of the generic machine that it holds."""

    generic_class: ClassVar[type[GenericStateMachine]]

    def __init__(self, machine: GenericStateMachine | None = None) -> None:
        """Raises MachineError when the class of the generic machine cannot be used."""
        check_generic_class(self.generic_class)
        super().__init__()
        # None between two steps, so that a copy of the state holds no strategy.
        self._offered: st.SearchStrategy[Any] | None = None
        self.machine = self.generic_class() if machine is None else machine

    @property
    def is_over(self) -> bool:
        """Whether the machine has no step left. The Explorer then ends the run."""
        return bool(self._offer().is_empty)

    def offered(self) -> st.SearchStrategy[Any]:
        """Return the strategy of the next step."""
        return _END if self.is_over else self._offer()

    def _offer(self) -> st.SearchStrategy[Any]:
        """Ask the machine for its possible steps, once for each step.

        Raises:
            MachineError: ``steps()`` returned no strategy.
        """
        if self._offered is None:
            self._offered = _checked_steps(self.machine.steps(), self.generic_class)
        return self._offered

    # The only rule: a second one, for the end, would keep Hypothesis from shrinking to the fewest steps.
    @rule(step=st.runner().flatmap(lambda runner: runner.offered()))
    def execute_step(self, step: Any) -> None:
        """Take a step. The machine's result is ignored, as it always was."""
        if step is _NoStepLeft.NO_STEP_LEFT:
            return
        self._offered = None
        self.machine.execute_step(step)

    def teardown(self) -> None:
        """End the run of the machine."""
        self.machine.teardown()


_runners: dict[type[GenericStateMachine], type[GenericRunner]] = {}


def rule_machine_class(cls: type[GenericStateMachine]) -> type[GenericRunner]:
    """Return the class of rule machines that run machines of ``cls``; it has the same name, in reports as well."""
    if cls not in _runners:
        body: dict[str, Any] = {name: vars(cls)[name] for name in _IDENTITY if name in vars(cls)}
        if cls.check_invariants is not GenericStateMachine.check_invariants:
            body["_machine_invariants"] = _machine_invariants()
        _runners[cls] = type(cls.__name__, (GenericRunner,), {**body, "generic_class": cls})
    return _runners[cls]


def _machine_invariants() -> Callable[..., Any]:
    def check_invariants(self: GenericRunner) -> None:
        self.machine.check_invariants()

    return invariant()(check_invariants)


_usable: set[type[GenericStateMachine]] = set()


def check_generic_class(cls: type[GenericStateMachine]) -> None:
    """Check that a class is complete.

    Raises:
        MachineError: a method is missing, or is a coroutine function.
    """
    if cls in _usable:
        return
    for name in ("steps", "execute_step"):
        if getattr(cls, name) is getattr(GenericStateMachine, name):
            raise MachineError(
                f"{cls.__name__} has no {name}()",
                hint="a generic machine has `steps(self)`, which returns a strategy, and `execute_step(self, step)`",
            )
    for name in _METHODS:
        if inspect.iscoroutinefunction(getattr(cls, name)):
            raise MachineError(
                f"{cls.__name__}.{name}() is `async def`, and nothing would await it",
                hint="write a plain `def`, or a ChaosTest, whose rules may be coroutines",
            )
    _usable.add(cls)


def _checked_steps(offered: object, cls: type[GenericStateMachine]) -> st.SearchStrategy[Any]:
    if isinstance(offered, st.SearchStrategy):
        return offered
    raise MachineError(
        f"{cls.__name__}.steps() returned {offered!r}, which is not a strategy", hint=EXAMPLE + _hint_for(offered)
    )


def _hint_for(offered: object) -> str:
    if offered is None:
        return "; where there is no step left, `return st.nothing()`"
    if isinstance(offered, list | tuple):
        return "; one of several values is `st.sampled_from(values)`"
    return ""
