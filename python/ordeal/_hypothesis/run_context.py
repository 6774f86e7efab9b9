"""What Hypothesis needs during one run."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.strategies import SearchStrategy, fixed_dictionaries

from ordeal._base.buggify_state import Before, enter_run, leave_run
from ordeal._hypothesis.buggify_choices import BuggifyDraws
from ordeal._hypothesis.build_context import BuildContext, current_build_context, in_test, no_test
from ordeal._hypothesis.machines import Argument, MachineDefinition, Rule
from ordeal._hypothesis.private import BUFFER_SIZE
from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.tape_data import TapeData
from ordeal._native import ChoiceSource as NativeSource
from ordeal._native import DrawContext

if TYPE_CHECKING:
    from ordeal._hypothesis.provider import ChoiceSource
    from ordeal._native import Interleaving, StepLoop

#: How Hypothesis, and the draws of this package, say that a bundle has no value.
_EMPTY_BUNDLE = "Cannot draw from empty bundle"
#: A run ends early once its choices fill this much of Hypothesis' buffer: better a shorter run than an overrun.
LENGTH_MAX = int(0.8 * BUFFER_SIZE)


class LateContext(BuildContext):  # type: ignore[misc]
    """A build context that makes its data object on first use: most runs never need one.

    It refers to the run only while the run is entered: a cycle would keep the run's objects alive until the next
    collection.
    """

    def __init__(self) -> None:
        self._run: RunContext | None = None
        self._data: TapeData | None = None  # of the run that is over
        self._outside: Any = None
        self.tasks: list[Any]
        self.known_object_printers: defaultdict[Any, list[Any]]
        super().__init__(None, is_final=False, wrapped_test=no_test)

    @property
    def data(self) -> TapeData | None:
        """The run's data object."""
        return self._data if self._run is None else self._run.data

    @data.setter
    def data(self, _nothing: object) -> None:
        """Ignore the value that the base class' constructor sets."""

    def renew(self) -> None:
        """Reset for another run."""
        if self.tasks:
            self.tasks = []
        if self.known_object_printers:
            self.known_object_printers = defaultdict(list)

    def enter(self, run: RunContext) -> None:
        """Enter the context for ``run``."""
        self._run, self._data = run, None
        self._outside = current_build_context.value
        current_build_context.value = self

    def leave(self, run: RunContext, *exc_info: Any) -> None:
        """Leave the context of ``run`` and keep only its data object, if it has one."""
        current_build_context.value = self._outside
        try:
            if self.tasks:
                self.assign_variable = nullcontext()  # that is done already
                self.__exit__(*exc_info)
        finally:
            self._run, self._data = None, run._data


class RunContext:
    """What Hypothesis needs during one run: its data object and build context. Use as a context manager.

    Attributes:
        source: the source of choices.
        machine: the machine of this run, set by the driver once it exists.
        buggify: decides what points of buggify do; the driver reports steps to it. None acts with probability None.
        draws_again: asks whether the arguments of the step should be drawn again; None where they never are.
        follows: whether an argument is matched with the step that made its value, wherever that is now, once such a
            step was recorded. Replays do so, because they may have lost steps; other runs use positions.
        producers: the step of the tape that made the value of each name, once a recorded step has run.
        records: whether all draws of this run go through Hypothesis, which records them; set before the first.
        interleaving: notes in which order the tasks of the machine go on, in runs of a search; None if it has none.
        loop: the step loop that runs the machine, if any: it must know when the run has a data object.
        draw_context: the context in which compiled strategies draw during the run. It counts the length until the run
            has a data object.
    """

    __slots__ = (
        "_before",
        "_buggify_prob",
        "_context",
        "_data",
        "buggify",
        "draw_context",
        "draws_again",
        "follows",
        "interleaving",
        "loop",
        "machine",
        "producers",
        "records",
        "source",
    )

    def __init__(self, source: ChoiceSource, buggify_argument: int = 0, buggify_prob: float | None = None) -> None:
        self.source = source
        self.buggify = BuggifyDraws(source, buggify_argument, points_act=bool(buggify_prob))
        self._buggify_prob = buggify_prob
        self._before: Before
        self.machine: Any = None
        self.draws_again: Callable[[], bool] | None = None
        self.follows = True
        self.producers: dict[str, int] = {}
        self.records = False
        self.interleaving: Interleaving | None = None
        self.loop: StepLoop | None = None
        self._data: TapeData | None = None
        self.draw_context = DrawContext()
        self.draw_context.length = 0
        self._context = LateContext()

    def renew(self, source: ChoiceSource, buggify_prob: float | None) -> None:
        """Reset for another run with choices from ``source``. A new object would cost some microseconds."""
        self.source = source
        self._buggify_prob = buggify_prob
        self.buggify.renew(source, points_act=bool(buggify_prob))
        self.machine = self.interleaving = None
        self.producers.clear()
        if self._data is not None:
            self._data = None
            if self.loop is not None:
                self.loop.data = None
        self.draw_context.length = 0
        self._context.renew()

    def __enter__(self) -> RunContext:
        self._context.enter(self)
        if isinstance(self.source, NativeSource):
            self.draw_context.begin(self.source, self)
        self._before = enter_run(self.buggify, self._buggify_prob)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.draw_context.end()
        leave_run(self._before)
        self._context.leave(self, *exc_info)

    def draw(self, draw: Callable[[RunContext], Any]) -> Any:
        """Return what ``draw`` returns of this run, which stands in its context meanwhile."""
        return self._draw(draw) if in_test is None else in_test(self._draw, draw)

    def _draw(self, draw: Callable[[RunContext], Any]) -> Any:
        with self:
            return draw(self)

    @property
    def data(self) -> TapeData:
        """Hypothesis' record of the run, for strategies that are not compiled. Made on first use."""
        if self._data is not None:
            return self._data
        source = self.source
        provider = TapeProvider(source) if isinstance(source, NativeSource) else source.provider()
        self._data = data = TapeData(provider, None if self.records else self.draw_context)
        data.length = self.draw_context.length
        self.draw_context.set_data(data)
        if self.loop is not None:
            self.loop.data = data
        if self.machine is not None:
            self.use_machine(self.machine)
        return data

    @property
    def has_overrun(self) -> bool:
        """Whether the run has drawn more than Hypothesis allows."""
        return self._data is not None and self._data.has_overrun

    @property
    def has_emptied(self) -> bool:
        """Whether the run has drawn from an empty bundle."""
        return any(str(value).startswith(_EMPTY_BUNDLE) for value in self.events.values())

    def use_machine(self, machine: RuleBasedStateMachine) -> None:
        """Make ``machine`` the runner of this run, as ``st.runner()`` and bundles see it."""
        self.machine = machine
        if self._data is not None:
            self._data.hypothesis_runner = machine
            machine._observability_predicates = self._data._observability_predicates

    def begin(self, machine: RuleBasedStateMachine, definition: MachineDefinition) -> None:
        """Adopt a fresh machine, without the initialize rules that ordeal added: the Explorer does not run them."""
        self.use_machine(machine)
        machine._initialize_rules_to_run = [rule.original for rule in definition.initializers]

    def made(self, names: list[list[str]]) -> None:
        """Remember which step of the tape made the values ``names``, for replays that lost other steps."""
        if not self.follows:
            return
        origin = self.source.origin
        for place, name in enumerate(name for added in names for name in added):
            # A step numbers the values that it adds to bundles with 20 bits; further values share a number.
            self.producers[name] = origin << 20 | place

    def follow(self, references: list[Any]) -> int:
        """Return the position, 0 for the newest, of the value that the recorded argument was."""
        source = self.source
        if not self.follows:
            return source.position(len(references))
        wanted = source.producer
        if wanted < 0:
            position = source.position(len(references))
        else:
            # If the step that made it is gone, use the newest value instead: the run may fail all the same.
            made_by = [self.producers.get(reference.name) for reference in reversed(references)]
            position = made_by.index(wanted) if wanted in made_by else 0
            source.put(position)
        source.set_producer(self.producers.get(references[-1 - position].name, -1))
        return position

    def draw_by(self, draw: Callable[..., Any]) -> None:
        """Let ``draw(original, strategy, ...)`` make all draws, without compiled strategies."""
        self.draw_context.end()
        self.data.draw = functools.partial(draw, self.data.draw)  # type: ignore[method-assign]

    @property
    def length(self) -> int:
        """How much of Hypothesis' buffer the run has used; a restored run continues from its copy's length."""
        return self.draw_context.length if self._data is None else self._data.length

    @length.setter
    def length(self, used: int) -> None:
        self.draw_context.length = used

    @property
    def events(self) -> Mapping[str, str | int | float]:
        """The payloads of ``hypothesis.event()`` in this run, by label, in the order of the calls."""
        return self._data.events if self._data is not None else {}

    @property
    def targets(self) -> Mapping[str, int | float]:
        """The values of ``hypothesis.target()`` in this run, by label, in the order of the calls."""
        return self._data.target_observations if self._data is not None else {}

    def take_interleaved(self) -> list[int]:
        """Return what was new in the order of the machine's tasks since the last call, for the session."""
        return [] if self.interleaving is None else self.interleaving.take_new()

    @property
    def choices(self) -> tuple[Any, ...]:
        """All choices that went through Hypothesis in this run, including forced ones: its own flat sequence."""
        return tuple(self.data.choices)

    def write_boolean(self, value: bool, p: float = 0.5) -> None:
        """Write a choice that Hypothesis' own loop would make."""
        self.data.draw_boolean(p, forced=value)

    def write_integer(self, value: int, low: int, high: int) -> None:
        """Write a choice that Hypothesis' own loop would make."""
        self.data.draw_integer(low, high, forced=value)

    def draw_as_hypothesis(self, rule: Rule, *, initialize: bool) -> dict[str, Any]:
        """Draw the arguments of ``rule`` through their strategies, in the layout of Hypothesis' own loop."""
        keyed = {argument.name: _Keyed(argument, self) for argument in rule.arguments}
        # Hypothesis' own loop draws the arguments of a rule two spans deep. Arguments of an initialize rule are one
        # deeper, and here so is each argument in the strategy that numbers it.
        self.data.stand(2)
        if initialize:
            return dict(self.data.draw(fixed_dictionaries(keyed)))
        return {name: self.data.draw(strategy) for name, strategy in keyed.items()}

    @property
    def shared(self) -> dict[Any, tuple[Any, SearchStrategy[Any]]]:
        """What was drawn from ``st.shared`` in this run, with the strategy, by key: part of a run's state."""
        return {} if self._data is None else self._data._shared_strategy_draws

    def share(self, draws: dict[Any, tuple[Any, SearchStrategy[Any]]]) -> None:
        """Set what was drawn from ``st.shared`` so far, from another run's ``shared``."""
        if draws:
            self.data._shared_strategy_draws.update(draws)


class _Keyed(SearchStrategy[Any]):
    """The strategy of an argument, which also names that argument to the source; it adds no choice."""

    def __init__(self, argument: Argument, run: RunContext) -> None:
        super().__init__()
        self._argument = argument
        self._run = run

    def do_draw(self, data: Any) -> Any:
        self._run.source.begin_argument(self._argument.number)
        return data.draw(self._argument.strategy)
