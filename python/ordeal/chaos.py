"""ChaosTest: a Hypothesis rule machine whose faults are switched on and off while its rules run."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import sys
import types
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar, overload

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ordeal._base.outside import NOTE, outside
from ordeal._base.rule_timeout import RuleLoop, RuleTimeoutError, Tell, call_with_timeout, end_unstarted
from ordeal._base.world_reach import WorldReach
from ordeal._hypothesis.definition_checks import forgotten_constructor, is_constructed, raised_in_precondition
from ordeal._hypothesis.internals import end_run_after
from ordeal._hypothesis.machines import is_initializing
from ordeal._hypothesis.markers import INITIALIZE_MARKER, RULE_MARKER, print_step, rewrap_rules, sampled_of
from ordeal._native import Interleaving
from ordeal.assertions import tracker
from ordeal.buggify import DEFAULT_PROBABILITY, activate, set_seed
from ordeal.errors import MachineError
from ordeal.faults import Fault, release
from ordeal.faults.fault import begin_run
from ordeal.swarm.weights import (
    Chance,
    ChanceStrategy,
    OpWeights,
    SwarmOptions,
    draw_by_size,
    swarm_options_of,
    weigh_rules,
)

__all__ = ["ChaosTest", "RuleTimeoutError", "chaos_test", "overrides"]

#: Has pytest leave these frames out of tracebacks, which end in the rule, invariant or precondition that failed.
__tracebackhide__ = True

TestCaseClass = type[Any]

#: The rule that switches faults.
NEMESIS = "_nemesis"

_DEFAULT_MARKER = "ordeal_default"
_AUTOMATIC_MARKER = "ordeal_automatic"
_TIMED_MARKER = "ordeal_timed"
_GUARDED_MARKER = "ordeal_guarded"


def _default[Hook: Callable[..., Any]](hook: Hook) -> Hook:
    """Mark a hook of ChaosTest that does nothing unless overridden, so that ``overrides`` can tell."""
    setattr(hook, _DEFAULT_MARKER, True)
    return hook


def overrides(machine: object, hook: str) -> bool:
    """Return True if the machine (or machine class) implements ``hook`` itself."""
    cls = machine if isinstance(machine, type) else type(machine)
    found = getattr(cls, hook, None)
    return found is not None and not getattr(found, _DEFAULT_MARKER, False)


class ChaosTest(RuleBasedStateMachine):
    """A rule machine with faults.

    Subclass it, list ``faults`` in the class body, and write rules and invariants as for Hypothesis. An automatic
    rule, the nemesis, switches one fault at a time. Run it with pytest through ``TestX = X.TestCase``, or with the
    Explorer. The fault objects are shared by all instances of the class, so one machine runs at a time.

    A rule may be ``async def``: all of a machine's coroutines run on one event loop, which its teardown closes.
    """

    faults: ClassVar[list[Fault]] = []
    """The faults that the nemesis may switch."""

    swarm: ClassVar[bool | str] = False
    """How each run leaves out some rules and faults, so that the others dominate.

    "coins", or True: a coin for each fault (when there are two or more). "sizes": how many rules are kept is uniform
    from 1 to all, each of them gets a weight from 1 to 100, and faults are kept in the same way, without weights.
    "hypothesis": each rule and fault is left out with one probability that the run draws.
    """

    weights: ClassVar[Mapping[str, int]] = {}
    """How often rules are chosen in relation to others, by name: from 1, which the others have, to 1000.

    Under "sizes" they multiply what is drawn.
    """

    weight_caps: ClassVar[Mapping[str, int]] = {}
    """The largest weight that "sizes" may draw for a rule, by name; 100 for the others."""

    always_on: ClassVar[Collection[str]] = frozenset()
    """The names of rules that are never left out."""

    rule_timeout: float = 30.0
    """Seconds after which a rule is ended with RuleTimeoutError; 0 or less for no limit.

    It has no effect in other threads than the main one.
    """

    simulated: ClassVar[bool | list[Any]] = False
    """Whether ``async def`` rules run in simulated time, on the event loop of ``ordeal.simulate``.

    A list of faults of a simulation, such as ``[simulate.cancel("worker*")]``, means yes, with these.
    """

    world: ClassVar[Any] = None
    """A world of nodes for the run: ``world = simulate.world(...)``. Its ``async def`` rules overlap."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Check the faults and weights of the class, give it its automatic rules, and time its rules.

        Raises MachineError when an attribute that sets a machine up has a wrong type, two faults have one name, when
        ``swarm`` is not a known distribution, or when weights, caps or ``always_on`` name no rules.
        """
        super().__init_subclass__(**kwargs)
        check_settings(cls)
        _check_faults(cls)
        if hasattr(cls.world, "add_rules") and vars(cls):
            cls.world.add_rules(cls)
        cls._swarm_options = swarm_options_of(cls)
        cls.world_reach = WorldReach()
        cls._has_nemesis = bool(cls.faults)
        # Only the rules that the class needs: each costs steps and report lines, and "no rules" must be visible.
        draws = cls._swarm_options.distribution in ("coins", "sizes") and len(cls.faults) > 1
        for name, member, is_needed in (
            (NEMESIS, _NEMESIS_RULE, cls._has_nemesis),
            ("_swarm_init", _SWARM_RULE, draws or cls._swarm_options.chooses_rules),
        ):
            if getattr(cls, name, None) in (None, member):
                setattr(cls, name, member if is_needed else None)
        plain = (base for base in cls.__mro__ if not issubclass(base, ChaosTest))
        members = [(name, member) for base in plain for name, member in vars(base).items()]
        for name, member in members:
            if _is_rule(member) and inspect.getattr_static(cls, name) is member:
                copy = types.FunctionType(
                    member.__code__, member.__globals__, member.__name__, member.__defaults__, member.__closure__
                )
                copy.__kwdefaults__ = member.__kwdefaults__
                setattr(cls, name, functools.update_wrapper(copy, member))
        rewrap_rules(cls, _timed)
        _guard_teardown(cls)

    @classmethod
    def _check_class(cls) -> None:
        """Raise MachineError when the class lacks what a base class may, but a machine that runs must have."""

    def __init__(self) -> None:
        """Raise MachineError if ``faults`` was set only after the class was made."""
        super().__init__()
        self._faults: list[Fault] = list(self.faults)
        if self._faults and not self._has_nemesis:
            raise MachineError(
                f"{type(self).__name__}.faults was set after the class was made, so no rule switches them",
                hint="set `faults` in the class body, or use @chaos_test(faults=[...])",
            )
        begin_run(self._faults)

    #: Whether Hypothesis runs this machine, and the process is observed for it; see ``check_observed``.
    _is_observed: bool = False
    _began_to_observe: bool = False
    #: Made for the first coroutine: most machines have none, and each copy would have to copy it.
    _rule_loop: RuleLoop | None = None
    _tell: Tell | None = None
    world_reach: ClassVar[WorldReach]
    """Counts what the faults of the worlds of this class struck, for the report of a search."""
    _has_nemesis: ClassVar[bool] = False
    _swarm_options: ClassVar[SwarmOptions]

    @property
    def active_faults(self) -> list[Fault]:
        """The faults of this run that are on, in the order of ``faults``."""
        return [fault for fault in self._faults if fault.active]

    def fault(self, name: str) -> Fault:
        """Return the fault of this class that is called ``name``, for example to activate it.

        Raises MachineError when there is none.
        """
        by_name = {fault.name: fault for fault in self.faults}
        if name not in by_name:
            raise MachineError(
                f"{type(self).__name__} has no fault named {name!r}", hint=f"it has: {', '.join(by_name) or 'none'}"
            )
        return by_name[name]

    @_default
    def state_hash(self) -> int:
        """Return a number for the state of the program under test; new numbers count as new coverage.

        Override it to make the Explorer aware of states. 0, the default, means that the machine has none.
        """
        return 0

    @_default
    def checkpoint_snapshot_filter(self, name: str, value: Any) -> bool:
        """Return True if a snapshot holds this attribute; by default, as ``snapshot_filter(name, value)`` says."""
        return self.snapshot_filter(name, value)

    @_default
    def clone_checkpoint_state(self) -> dict[str, Any]:
        """Return a copy of the state of this machine, for a checkpoint.

        Override it together with ``restore_checkpoint_state`` when a deep copy is slow or impossible. There is no
        default: the Explorer itself copies machines that do not override both.
        """
        raise NotImplementedError(f"{type(self).__name__} does not override clone_checkpoint_state()")

    @_default
    def restore_checkpoint_state(self, state: dict[str, Any]) -> None:
        """Restore ``state``, made by ``clone_checkpoint_state``; it may be used again, so copy what is changed."""
        raise NotImplementedError(f"{type(self).__name__} does not override restore_checkpoint_state()")

    @_default
    def snapshot_filter(self, name: str, value: Any) -> bool:
        """Older name of ``checkpoint_snapshot_filter(name, value)``; by default a snapshot holds everything."""
        del name, value
        return True

    @_default
    def restore_snapshot(self, state: dict[str, Any]) -> None:
        """Repair what depends on ``state``, the attributes of a snapshot, after they were set on this machine."""

    def _draw_faults(self, chance: Chance) -> list[str]:
        kept = draw_by_size(len(self._faults), chance)
        return [fault.name for fault, on in zip(self._faults, kept, strict=True) if on]

    def _draw_weights(self, chance: Chance) -> OpWeights:
        return self._swarm_options.draw(chance, [NEMESIS] if self._has_nemesis else [])

    def run_coroutine(self, coroutine: Any) -> Any:
        """Run ``coroutine`` on the event loop of this machine and return its result."""
        try:
            loop = self._own_loop()
        except BaseException:
            end_unstarted(coroutine)
            raise
        return loop.run(coroutine)

    def tell_decisions(self, tell: Tell) -> bool:
        """Call ``tell`` for what the simulation of this run decides; return whether there is one."""
        self._tell = tell
        return type(self).world is not None or self.simulated is not False

    def _own_loop(self) -> RuleLoop:
        if self._rule_loop is not None:
            return self._rule_loop
        settings = type(self).world
        # The simulation is imported late: most machines have none.
        if settings is not None:
            module: Any = importlib.import_module("ordeal.simulate.nodes.machine_world")
            if not isinstance(settings, module.WORLDS):
                raise MachineError(
                    f"`world` of a ChaosTest is {settings!r:.100}", hint="write `world = simulate.world(clients=3)`"
                )
            if type(self).simulated is not False:
                both = "a ChaosTest has `simulated` or `world`, not both"
                raise MachineError(both, hint="give the faults to simulate.world")
            loop = settings.loop(self, awaited=_awaited_codes(type(self)))
        elif self.simulated is not False:
            module = importlib.import_module("ordeal.simulate.runtime.machine_loop")
            loop = module.MachineLoop(module.machine_settings(self.simulated))
        else:
            loop = RuleLoop()
        loop.tell, loop.reach = self._tell, self.world_reach
        self._rule_loop = loop
        return self._rule_loop

    def check_invariants(self, *arguments: Any, **named: Any) -> None:
        """Check the invariants after a step. Hypothesis passes ``arguments`` and ``named``."""
        check_observed(self, super().check_invariants, *arguments, **named)

    def teardown(self) -> None:
        """End the run: close the event loop and undo all faults, even if an override forgets ``super()``.

        Raises FaultError, naming the fault, when something of a fault remains in the program.
        """
        _end_run(self)
        super().teardown()


def has_tasks(cls: type) -> bool:
    """Return True if the tasks of a machine class run in a simulation."""
    if not issubclass(cls, ChaosTest):
        return False
    return cls.simulated is not False if cls.world is None else hasattr(cls.world, "clients")


def interleaving_of(machine: ChaosTest) -> Interleaving:
    """Return a recorder of the order in which the tasks of a machine run from now on."""
    loop = machine._own_loop()
    if loop.interleaving is None:
        loop.interleaving = Interleaving()
    return loop.interleaving


@functools.lru_cache(maxsize=64)
def _awaited_codes(cls: type[ChaosTest]) -> frozenset[Any]:
    """Return the code of the rules that must end before the next runs: they fill bundles, or prepare the machine."""
    found = set()
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        plain: Any = getattr(member, RULE_MARKER, None)
        first: Any = getattr(member, INITIALIZE_MARKER, None)
        if first is not None or (plain is not None and plain.targets):
            found.add(inspect.unwrap((first or plain).function).__code__)
    return frozenset(found)


# ---------------------------------------------------------------------------------------------------------------------
# Automatic rules


#: What the last switch of a fault did, as the call that does the same: for reports, and no part of a machine's state.
_last_switch: list[str] = []


def _nemesis(self: ChaosTest, data: st.DataObject) -> None:
    names = [fault.name for fault in self._faults]
    name = data.draw(st.sampled_from(names), label="switch fault")
    fault = self._faults[names.index(name)]
    method = fault.deactivate if fault.active else fault.activate
    _last_switch[:] = [f"fault({name!r}).{method.__name__}()"]
    method()


def _swarm_init(self: ChaosTest, data: st.DataObject) -> None:
    options = self._swarm_options
    if len(self._faults) > 1 and options.distribution == "coins":
        mask = data.draw(st.integers(1, 2 ** len(self._faults) - 1), label="faults of this run, as bits")
        self._faults = [fault for index, fault in enumerate(self._faults) if mask >> index & 1]
    elif len(self._faults) > 1 and options.distribution == "sizes":
        names = data.draw(ChanceStrategy(self._draw_faults), label="faults of this run")
        self._faults = [fault for fault in self._faults if fault.name in names]
    if options.chooses_rules:
        drawn = data.draw(ChanceStrategy(self._draw_weights), label="weights of this run")
        weigh_rules(self, drawn.weights)


for _function in (_nemesis, _swarm_init):
    setattr(_function, _AUTOMATIC_MARKER, True)

print_step(ChaosTest, NEMESIS, lambda: "".join(_last_switch))
_NEMESIS_RULE = precondition(lambda self: bool(self._faults))(rule(data=st.data())(_nemesis))
_SWARM_RULE = initialize(data=st.data())(_swarm_init)


#: The attributes that set a machine up and that nothing else checks: which values each may have, and an example.
_SETTINGS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "rule_timeout": (
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value),
        "rule_timeout = 30.0",
    ),
    "simulated": (lambda value: isinstance(value, bool | list), "simulated = True"),
    "world": (lambda value: value is None or hasattr(value, "loop"), "world = simulate.world(clients=3)"),
}


def check_settings(cls: type[ChaosTest]) -> None:
    """Raise MachineError when an attribute that sets the machine up has a value that cannot be used."""
    for name, (is_usable, example) in _SETTINGS.items():
        value = inspect.getattr_static(cls, name)
        if not is_usable(value):
            what = "a rule" if _is_rule(value) else f"{value!r:.100}"
            hint = "give the rule another name" if _is_rule(value) else f"write `{example}`"
            raise MachineError(f"`{name}` of {cls.__name__} is {what}", hint=hint)


_FAULTS_HINT = 'write for example `faults = [timing.timeout("shop.api.charge")]`'


def _check_faults(cls: type[ChaosTest]) -> None:
    faults: object = cls.faults
    if not isinstance(faults, list | tuple):
        raise MachineError(
            f"{cls.__name__}.faults must be a list of faults, got {faults!r}",
            hint="write `faults = [...]`" if isinstance(faults, Fault) else _FAULTS_HINT,
        )
    for fault in faults:
        if not isinstance(fault, Fault):
            makes = fault.__name__ if inspect.isfunction(fault) else ""
            raise MachineError(
                f"{cls.__name__}.faults must be a list of faults, and holds {fault!r}",
                hint=f'call it with its target: `{makes}("module.function")`' if makes else _FAULTS_HINT,
            )
    names = [fault.name for fault in faults]
    for name in names:
        if names.count(name) > 1:
            raise MachineError(
                f"{cls.__name__}.faults has two faults named {name!r}, and traces know faults by name",
                hint="remove one of them, or give it another name",
            )


# ---------------------------------------------------------------------------------------------------------------------
# Timing and teardown


def _timed(function: Callable[..., Any]) -> Callable[..., Any]:
    if getattr(function, _TIMED_MARKER, False) or getattr(function, _AUTOMATIC_MARKER, False):
        return function
    is_coroutine = inspect.iscoroutinefunction(function)
    if is_coroutine:
        importlib.import_module("asyncio")  # for the loop: now, as in the middle of a run faults would be on

    @functools.wraps(function)
    def timed_rule(self: ChaosTest, **arguments: Any) -> Any:
        def call() -> Any:
            result = function(self, **arguments)
            return self.run_coroutine(result) if is_coroutine else result

        if is_coroutine:
            self._own_loop().open()
        return call_with_timeout(function.__name__, self.rule_timeout, call)

    setattr(timed_rule, _TIMED_MARKER, True)
    return timed_rule


def _is_rule(member: Any) -> bool:
    return inspect.isfunction(member) and (hasattr(member, RULE_MARKER) or hasattr(member, INITIALIZE_MARKER))


def _guard_teardown(cls: type[ChaosTest]) -> None:
    """End the run after any override of teardown: a forgotten ``super()`` would leave the program patched."""
    teardown = cls.teardown
    is_inherited = teardown is ChaosTest.teardown
    if (is_inherited and not sampled_of(cls)) or getattr(teardown, _GUARDED_MARKER, False):
        return

    @functools.wraps(teardown)
    def guarded_teardown(self: ChaosTest) -> None:
        def check_and_end() -> None:
            # Hypothesis' run ends with a check of its sampled invariants, unless it has failed; the driver has its own.
            try:
                if self._is_observed and sys.exception() is None:
                    _check_sampled(self)
            finally:
                end_run_after(functools.partial(teardown, self), sys._getframe())

        try:
            end_run_after(check_and_end, sys._getframe(1))
        finally:
            _end_run(self)

    setattr(guarded_teardown, _GUARDED_MARKER, True)
    cls.teardown = guarded_teardown  # type: ignore[method-assign]


def _check_sampled(machine: Any) -> None:
    for check in sampled_of(type(machine)):
        check(machine)


def check_observed(machine: Any, check: Callable[..., None], *arguments: Any, **named: Any) -> None:
    """Call the ``check`` of the invariants after a step, and raise what failed outside of the frames of either.

    The first check of a run begins the observation, unless the process is observed already.
    """
    if not is_constructed(machine):
        raise forgotten_constructor(type(machine))
    if not machine.__dict__.get("_is_observed"):
        machine._is_observed = True
        machine._began_to_observe = outside.begin(outside.mode)
        outside.clear()
        if not is_initializing(machine):
            _check_sampled(machine)
    outside.hook_asyncio()
    outside.raise_failed()
    check(*arguments, **named)
    outside.raise_failed()


def _end_run(machine: ChaosTest) -> None:
    by_hypothesis = machine._is_observed
    try:
        if machine._rule_loop is not None:
            machine._rule_loop.end(machine)
        if by_hypothesis:
            machine._is_observed = False
            try:
                if sys.exception() is None:
                    outside.end_run()
            finally:
                outside.clear()
                if machine._began_to_observe:
                    outside.end()
                    for text in outside.warned:
                        warnings.warn(f"{NOTE}{text}", stacklevel=1)
            error = sys.exception()
            if isinstance(error, Exception) and (wrong := raised_in_precondition(type(machine), error)) is not None:
                raise wrong.with_traceback(error.__traceback__) from None  # the line of the precondition comes last
    finally:
        # Not only the faults that the swarm kept: a rule may have switched any fault of the class.
        release(machine.faults)


# ---------------------------------------------------------------------------------------------------------------------
# Decorator


@overload
def chaos_test(cls: type[RuleBasedStateMachine], /) -> TestCaseClass: ...


@overload
def chaos_test(
    cls: None = None, /, *, faults: Iterable[Fault] = ()
) -> Callable[[type[RuleBasedStateMachine]], TestCaseClass]: ...


def chaos_test(cls: type[RuleBasedStateMachine] | None = None, /, *, faults: Iterable[Fault] = ()) -> Any:
    """Turn a rule machine into its ``TestCase``, which pytest and unittest collect.

    Use it as ``@chaos_test`` or as ``@chaos_test(faults=[...])``; the faults are added to those of the class. A rule
    machine that is not a ChaosTest becomes one. Raises MachineError when the class is not a rule machine.
    """
    more = list(faults)

    def decorate(cls: type[RuleBasedStateMachine]) -> TestCaseClass:
        given: object = cls
        if not (isinstance(given, type) and issubclass(given, RuleBasedStateMachine)):
            raise MachineError(
                f"@chaos_test needs a rule machine, got {cls!r}",
                hint="write `class MyTest(ChaosTest):` with at least one @rule",
            )
        if issubclass(cls, ChaosTest) and not more:
            return cls.TestCase
        bases = (cls,) if issubclass(cls, ChaosTest) else (cls, ChaosTest)
        body: dict[str, Any] = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
        made: Any = type(cls.__name__, bases, {**body, "faults": [*getattr(cls, "faults", []), *more]})
        return made.TestCase  # type: ignore[no-any-return]

    return decorate if cls is None else decorate(cls)


def auto_configure(buggify_probability: float = DEFAULT_PROBABILITY, seed: int | None = None) -> None:
    """Track properties from zero, and activate buggify in this thread.

    ``seed`` makes the decisions of buggify outside Hypothesis and the Explorer reproducible.

    Raises:
        ConfigError: the probability is not from 0 to 1, or the seed not from 0 to 2**64 - 1.
    """
    activate(buggify_probability)
    if seed is not None:
        set_seed(seed)
    tracker.reset()
    tracker.active = True
