"""The simulated event loop of a machine: its rules run on it one after another, and the tape of the run decides."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from ordeal._base.outside import add_outside_note
from ordeal._base.rule_timeout import RuleLoop, Tell, end_unstarted
from ordeal._base.world_reach import OF_WORLDS
from ordeal._native import Interleaving
from ordeal.buggify import effect_acts
from ordeal.errors import MachineError
from ordeal.simulate.errors import SimulationError, SimulationFailure
from ordeal.simulate.runtime.decisions import DATAGRAM, KINDS, PACKET, STALL, Decided, name_key, name_of
from ordeal.simulate.runtime.examination import Examination
from ordeal.simulate.runtime.faults import STEP, Cancel, NodeFault, SimulatedFault, Stall, checked_faults
from ordeal.simulate.runtime.loop import SimulationLoop
from ordeal.simulate.runtime.report import NOUNS, decision_text, noun_of
from ordeal.simulate.runtime.running import RunSettings, failure_of
from ordeal.simulate.runtime.surroundings import Surroundings


def _number(bound: int) -> int:
    return sum(effect_acts(0.5) << place for place in range(bound.bit_length())) % bound


@functools.cache
def _role(actor: int) -> int:
    """Return the number of what all tasks have in common whose names differ in their number alone."""
    return name_key(name_of(actor).partition("#")[0])


class TapeSchedule:
    """Takes decisions from the tape of the run, or from what else decides for buggify: each shrinks to 0."""

    def __init__(
        self,
        faults: Sequence[SimulatedFault],
        tell: Tell | None,
        interleaving: Interleaving | None = None,
    ) -> None:
        """Reports each decision that is not 0 to ``tell`` and ``interleaving``, as far as they are given."""
        self._has_stalls = any(isinstance(fault, Stall) for fault in faults)
        self._faults = faults
        self._tell = tell
        self.interleaving = interleaving
        """Notes in which order tasks go on: the loop reports each step to it."""
        self._met = Counter[tuple[int, int, int]]()
        self.made = Counter[int]()
        """Of each kind, how many decisions were made that were open."""
        self.struck = Counter[int]()
        """How many of them were not 0."""

    def decide(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Draw a value below ``bound``. Of those above 0, 1 takes half."""
        # Every step of every task makes one of these, and a tape holds them all.
        # One decision in eight is not 0.
        if bound == 1 or (kind == STALL and not self._has_stalls) or not effect_acts(1 / 8):
            value = 0
        elif bound == 2 or not effect_acts(0.5):
            value = 1
        else:
            value = 2 + _number(bound - 2)
        return self._told(kind, actor, site, value)

    def decide_evenly(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Draw a value below ``bound`` that is often not 0; those above 0 are about equally likely."""
        value = 1 + _number(bound - 1) if bound > 1 and effect_acts(0.5) else 0
        return self._told(kind, actor, site, value)

    def _told(self, kind: int, actor: int, site: int, value: int) -> int:
        self.made[kind] += 1
        if value:
            self.struck[kind] += 1
            if self.interleaving is not None:
                self.interleaving.struck(kind, _role(actor), site, self.struck[kind], value)
        if self._tell is not None:
            place = kind, actor, site
            if value:
                decided = Decided(KINDS[kind], name_of(actor), name_of(site), self._met[place], value)
                # That a node is to be struck later is decided here; it counts when it is.
                noun = "" if decided.site == STEP else noun_of(decided)
                self._tell(decision_text(decided, self._faults).strip(), decided.actor, decided.site, noun)
            self._met[place] += 1
        return value

    def tell_strike(self, kind: str, node: str) -> None:
        """Report that a fault strikes a node, as was decided before."""
        if self._tell is not None:
            self._tell("", node, "", NOUNS[kind])

    def event(self, what: int) -> None:
        """Note nothing: a replay of the tape is compared by its steps."""


class MachineLoop(RuleLoop):
    """The simulated loop of one machine: made for its first coroutine, closed by its teardown. Not thread-safe.

    A copied machine gets a new loop, whose time begins at 0.
    """

    #: Whether a coroutine is waited for to its end, and is the main task meanwhile.
    _has_main = True

    def __init__(self, settings: RunSettings) -> None:
        super().__init__()
        self._settings = settings
        self._loop: Any = None
        self._has_failed = False
        self._schedule: TapeSchedule | None = None
        self._examination: Examination | None = None
        self._surroundings = Surroundings()
        self._installed = ExitStack()

    def open(self) -> asyncio.Runner:
        """Return what runs coroutines, creating it if needed."""
        if self._runner is None:
            faults = self._settings.faults
            self._examination = None if self.tell is None else Examination()
            # For the whole run: to replace functions for each rule took a third of the time of small rules.
            self._installed.enter_context(self._surroundings.installed())
            self._schedule = TapeSchedule(faults, self.tell, self.interleaving)
            log = None if self._examination is None else self._examination.log
            self._loop = SimulationLoop(self._schedule, faults=faults, log=log)  # type: ignore[abstract]
            self._loop.on_strike = self._schedule.tell_strike
            self._runner = asyncio.Runner(loop_factory=lambda: self._loop)
            self._runner.get_loop()
        return self._runner

    def run[Result](self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run ``coroutine`` in simulated time, and return its result or raise its error, or that of another task."""
        try:
            self.open()
            return self._watched(partial(super().run, coroutine))
        finally:
            end_unstarted(coroutine)

    def _watched[Result](self, run: Callable[[], Result], *, has_main: bool = False) -> Result:
        """Call what lets the loop go on, by a main task if ``has_main``, and raise what failed meanwhile."""
        loop = self._loop
        loop.begin_main(has_main=has_main or self._has_main)
        try:
            with self._surroundings.act_for(loop):
                result = run()
            failure = self._failure()
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            loop.escaped = loop.blocked = None
            loop.unhandled.clear()
        if failure is not None:
            self._fail(failure)
            raise failure
        return result

    def _fail(self, error: BaseException) -> None:
        """Note that the run has failed, and for a listener, what led to it."""
        self._has_failed = True
        if self._examination is not None:
            found = self._examination.found(self._loop, failure=error)
            for line in found.lines(has_events=not isinstance(error, SimulationFailure)):
                add_outside_note(error, line)

    def _failure(self) -> BaseException | None:
        return failure_of(self._loop)

    def _count_run(self) -> None:
        """Count what each fault of the run could have struck, and what it struck, for the report of a search."""
        if self.reach is None or self._schedule is None:
            return
        loop, counted = self._loop, (self._schedule.made, self._schedule.struck)
        struck = list[tuple[str, int, int]]()
        for fault in self._settings.faults:
            if isinstance(fault, NodeFault):
                nodes = [] if loop.world is None else loop.world.nodes
                names = [node.name for node in nodes if fault.strikes(node.name)]
                hits = sum(loop.strikes.get((fault.kind, name), 0) for name in names)
                struck.append((f"{OF_WORLDS}{fault.kind}({fault.nodes!r})", len(names), hits))
            elif isinstance(fault, Cancel):
                waits = loop.interruptions
                met, hits = sum(waits.waited.values()), sum(waits.struck.values())
                struck.append((f"{OF_WORLDS}cancel({fault.tasks!r})", met, hits))
            else:
                kinds = (STALL,) if isinstance(fault, Stall) else (PACKET, DATAGRAM)
                met, hits = (sum(counts[kind] for kind in kinds) for counts in counted)
                struck.append((f"{OF_WORLDS}{type(fault).__name__.lower()}({fault.longest!r})", met, hits))
        self.reach.add_run(struck)

    def close(self) -> None:
        """Cancel what still runs on the loop, disturb nothing any more, and close it."""
        if self._runner is None:
            return
        self._count_run()
        loop = self._loop
        loop.be_quiet()
        loop.is_ending = True
        try:
            with self._surroundings.act_for(loop):
                super().close()
        finally:
            self._installed.close()
        self._loop = None
        failure = failure_of(loop)
        if failure is not None and not self._has_failed:
            raise failure

    def __copy__(self) -> MachineLoop:
        return MachineLoop(self._settings)

    def __deepcopy__(self, memo: dict[int, Any]) -> MachineLoop:
        return MachineLoop(self._settings)


def machine_settings(simulated: Any) -> RunSettings:
    """Return the settings behind the ``simulated`` of a ChaosTest.

    Raises:
        MachineError: it is neither True nor a list of faults of a simulation.
    """
    try:
        faults = () if simulated is True else checked_faults(simulated)
        return RunSettings(faults=faults)
    except SimulationError as error:
        raise MachineError(
            f"`simulated` of a ChaosTest is {simulated!r:.100}",
            hint='write `simulated = True`, or `simulated = [simulate.cancel("worker*")]`',
        ) from error
