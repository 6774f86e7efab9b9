"""Machines as tests: unittest, pytest and Hypothesis run them, and generic machines make one class of several."""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from difflib import get_close_matches
from enum import Enum
from typing import Any, ClassVar

import hypothesis
import hypothesis.stateful
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ordeal._hypothesis.definition_checks import forgotten_constructor, is_constructed
from ordeal._hypothesis.internals import failure_types
from ordeal._hypothesis.markers import DECORATOR_MARKS, mark_as_machine_test
from ordeal._hypothesis.private import private
from ordeal._native import monotonic
from ordeal.errors import ConfigError, MachineError

_TIMEOUT = "timeout"


class MutableSettings(settings):
    """Settings that accept assignments. A run uses them ``frozen``.

    Attributes:
        timeout: seconds after which no new example begins, unless one has failed; 0 or less is not a limit. Hypothesis
            itself no longer has this setting.
    """

    timeout: float = 0.0

    def __init__(self, parent: settings) -> None:
        super().__init__(parent)
        self._frozen = parent

    def __setattr__(self, name: str, value: object) -> None:
        """Set one of the settings.

        Raises:
            ConfigError: the setting does not exist, or the timeout is not a number.
            hypothesis.errors.InvalidArgument: the value cannot be used.
        """
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif name == _TIMEOUT:
            if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
                raise ConfigError(
                    f"timeout is {value!r}, which is not a number of seconds", hint="write `settings.timeout = 60`"
                )
            warnings.warn(
                "settings.timeout is not a setting of Hypothesis any more; here no new example begins once the time is "
                "up. Set max_examples instead, or explore for a time: Explorer(...).run(max_time=60)",
                DeprecationWarning,
                stacklevel=2,  # the line of the assignment
            )
            vars(self)[_TIMEOUT] = float(value)
        elif name not in _names():
            close = get_close_matches(name, [*_names(), _TIMEOUT], n=1)
            known = ", ".join(f"`{each}`" for each in _names())
            raise ConfigError(
                f"`{name}` is not a setting", hint=f"did you mean `{close[0]}`?" if close else f"one of {known}"
            )
        else:
            # Not of this object: settings ask their parent for what they leave out.
            self._frozen = settings(self._frozen, **{name: value})  # type: ignore[arg-type]
            vars(self).update(vars(self._frozen))

    @property
    def frozen(self) -> settings:
        """Return the present settings, which nothing changes any more."""
        return self._frozen


def _names() -> list[str]:
    return [name for name in inspect.signature(settings).parameters if name != "parent"]


class TestCaseOfMachine:
    """The attribute ``TestCase`` of machines: a separate class for each, made on first use."""

    __test__ = False

    def __get__(self, machine: object, cls: type) -> type[Any]:
        return _test_case(cls)


class RuleBasedStateMachine(hypothesis.stateful.RuleBasedStateMachine):
    """A rule machine of Hypothesis, whose ``TestCase.settings`` can also be changed one by one."""

    TestCase = TestCaseOfMachine()


@functools.cache
def _test_case(cls: type[RuleBasedStateMachine]) -> type[Any]:
    hypothesis_case: Any = super(RuleBasedStateMachine, cls).TestCase

    class RuleMachineTestCase(hypothesis_case):  # type: ignore[misc]
        settings = MutableSettings(hypothesis_case.settings)

        def runTest(self) -> None:  # noqa: N802 - as unittest has it
            try:
                run_rule_machines(cls, self.settings)
            except AttributeError as error:
                if isinstance(error.obj, cls) and not is_constructed(error.obj):
                    raise forgotten_constructor(cls) from error
                raise

        mark_as_machine_test(runTest, cls)

    RuleMachineTestCase.__name__ = hypothesis_case.__name__
    RuleMachineTestCase.__qualname__ = hypothesis_case.__qualname__
    RuleMachineTestCase.__module__ = cls.__module__
    return RuleMachineTestCase


def run_rule_machines(factory: Callable[[], hypothesis.stateful.RuleBasedStateMachine], chosen: Any) -> None:
    """Have Hypothesis run the machines that ``factory``, a class or a function, makes.

    ``chosen`` are the settings; None means those of the class, or else the defaults of a TestCase.
    """
    if chosen is None:
        chosen = getattr(getattr(factory, "TestCase", None), "settings", None)
    machines: Any = factory
    if not isinstance(chosen, MutableSettings):
        hypothesis.stateful.run_state_machine_as_test(machines, settings=chosen)
    elif chosen.timeout <= 0:
        hypothesis.stateful.run_state_machine_as_test(machines, settings=chosen.frozen)
    else:
        _run_for(chosen.timeout, machines, chosen.frozen)


class _TimeIsUp(KeyboardInterrupt):
    """Ends a test in which nothing has failed. As for Ctrl-C, Hypothesis saves nothing and calls nothing flaky."""


_MAKE_TEST, _WITH_REPORTER = "hypothesis.stateful:get_state_machine_test", "hypothesis.reporting:with_reporter"


def _run_for(seconds: float, machines: Any, chosen: settings) -> None:
    """Run a test, and begin no further example after this time, unless one has failed."""
    make_test, with_reporter = (private(place, None) for place in (_MAKE_TEST, _WITH_REPORTER))
    if make_test is None:
        hypothesis.stateful.run_state_machine_as_test(machines, settings=chosen)  # as long as its settings say
        return
    test = make_test(machines, settings=chosen)
    run_example = test.hypothesis.inner_test
    deadline = monotonic() + seconds
    has_failed = False
    with ExitStack() as quiet:

        @functools.wraps(run_example)
        def run_in_time(*args: Any, **kwargs: Any) -> None:
            nonlocal has_failed
            if not has_failed and monotonic() >= deadline:
                # Hypothesis would print how to reproduce it.
                if with_reporter is not None:
                    quiet.enter_context(with_reporter(lambda _text: None))
                raise _TimeIsUp
            try:
                run_example(*args, **kwargs)
            except failure_types():
                has_failed = True
                raise

        test.hypothesis.inner_test = run_in_time
        try:
            test()
        except _TimeIsUp:
            return


def run_state_machine_as_test(factory: Callable[[], AnyMachine], settings: hypothesis.settings | None = None) -> None:
    """Run the machines that ``factory``, a class or a function without arguments, makes: pass, or raise the failure.

    With ``settings`` None, those of the TestCase of a class apply.

    Raises:
        MachineError: it makes neither a rule machine nor a generic one.
    """
    run_rule_machines(rule_machines(factory), settings)


def rule_machines(factory: Any) -> Callable[[], hypothesis.stateful.RuleBasedStateMachine]:
    """Make a factory of rule machines from one of any machines. A class of rule machines is one already.

    Raises:
        MachineError: ``factory`` cannot be called, or is the class of a generic machine that cannot be used.
    """
    if inspect.isclass(factory) and issubclass(factory, GenericStateMachine):
        check_generic_class(factory)
        return rule_machine_class(factory)
    if inspect.isclass(factory) and issubclass(factory, hypothesis.stateful.RuleBasedStateMachine):
        return factory
    if not callable(factory):
        raise MachineError(
            f"{factory!r} makes no machines", hint="give a class, or a function: `lambda: MyMachine(size=3)`"
        )

    # Hypothesis identifies the test by the source of the function.
    @functools.wraps(factory)
    def make() -> hypothesis.stateful.RuleBasedStateMachine:
        return as_rule_machine(factory(), factory)

    return make


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
        MachineError: it is not a machine, or an incomplete generic one.
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
        """Raise MachineError if the class of the generic machine cannot be used."""
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
            offered: object = self.machine.steps()
            if not isinstance(offered, st.SearchStrategy):
                hint = EXAMPLE
                if offered is None:
                    hint += "; where no step is left, `return st.nothing()`"
                elif isinstance(offered, list | tuple):
                    hint += "; one of several values is `st.sampled_from(values)`"
                name = self.generic_class.__name__
                raise MachineError(f"{name}.steps() returned {offered!r}, which is not a strategy", hint=hint)
            self._offered = offered
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

            def check_invariants(self: GenericRunner) -> None:
                self.machine.check_invariants()

            body["_machine_invariants"] = invariant()(check_invariants)
        _runners[cls] = type(cls.__name__, (GenericRunner,), {**body, "generic_class": cls})
    return _runners[cls]


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
