"""Watches a replay step by step: what changed, which lines were new, what was printed, what was swallowed."""

from __future__ import annotations

import io
import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import CodeType
from typing import Any, override

from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.formatting import counted, describe_error, one_line, safe_lines
from ordeal._base.limits import LISTED_MAX, RECORDED_CHARS_MAX, ROWS_MAX, TEXT_CHARS_MAX
from ordeal._base.monitoring_tools import free_tool, take_tool
from ordeal._base.trace_file import SCHEDULE, Trace
from ordeal._engine.execution.bucket import user_frames
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.execution.where import shown_path
from ordeal._engine.trace_view.values import StateReader
from ordeal._engine.trace_view.view import CodeSpot, LaneEvent, StepView, Swallowed, changes_between
from ordeal._hypothesis.machines import Rule
from ordeal.chaos import ChaosTest
from ordeal.faults import Fault
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.runtime.decisions import Decided

#: A decision: for which task or node, what, where, and in which step of a machine, 0 for none.
Decision = tuple[str, str, str, int]


def lanes_of(trace: Trace) -> list[LaneEvent]:
    """Return what the trace of a schedule decided, each in the lane of the task or node that it was decided for.

    What is decided between two of them leads from the one to the other.
    """
    step = trace.steps[0]
    labels, texts = step.choices[SCHEDULE][::2], step.draws
    found: list[Decision] = []
    for number, label in enumerate(labels[:ROWS_MAX]):
        try:
            decided = Decided.from_label(label, 0)
        except SimulationError:
            continue
        text = texts[number] if number < len(texts) else decided.site
        found.append((decided.actor, text, decided.site, 0))
    return lanes_between(found)


def lanes_between(found: Sequence[Decision]) -> list[LaneEvent]:
    """Return decisions as events of lanes: one whose site is another actor leads there."""
    actors = {actor for actor, _, _, _ in found}
    return [
        LaneEvent(one_line(actor), one_line(text), one_line(site) if site in actors - {actor} else "", step)
        for actor, text, site, step in found
    ]


_MONITORING = sys.monitoring
_EVENTS = _MONITORING.events


class ReplayWatch(RunRecorder):
    """Records a replay. Between two steps it reads the state; that costs time, but nothing of it is searched.

    ``is_target`` selects the files to watch, ``own_files`` are those of the machine.
    """

    def __init__(
        self, cls: type[RuleBasedStateMachine], is_target: Callable[[str], bool], own_files: frozenset[str]
    ) -> None:
        super().__init__()
        self.views: list[StepView] = []
        self.start: dict[str, str] = {}
        self.decisions: list[Decision] = []
        self.codes: set[CodeType] = set()
        self._reader = StateReader(cls)
        self._is_target = is_target
        self._own_files = own_files
        self._state: dict[str, str] = {}
        self._machine_now: RuleBasedStateMachine | None = None
        # Once this much is shown of all steps together, further ones have only their names and arguments.
        self._left = 10 * TEXT_CHARS_MAX
        self._output = io.StringIO()
        self._lines: list[tuple[str, int]] = []
        self._raised: dict[int, tuple[BaseException, str]] = {}
        self._met: dict[str, tuple[int, int]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take what is printed, and see which lines run, during the block."""
        tool = free_tool()
        with redirect_stdout(self._output), redirect_stderr(self._output):
            if tool is None:
                yield
                return
            take_tool(tool, "ordeal viewer")
            _MONITORING.register_callback(tool, _EVENTS.LINE, self._line)
            _MONITORING.register_callback(tool, _EVENTS.RAISE, self._raise)
            _MONITORING.set_events(tool, _EVENTS.LINE | _EVENTS.RAISE)
            try:
                yield
            finally:
                _MONITORING.set_events(tool, 0)
                _MONITORING.free_tool_id(tool)

    # -- the run ------------------------------------------------------------------------------------------------------

    @override
    def started(self, machine: RuleBasedStateMachine) -> None:
        super().started(machine)
        self._machine_now = machine
        self.start = self._state = self._reader.read(machine)

    @override
    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        self._end_step()
        super().rule(rule, initialize, values, resolved)
        self._begin_step()

    @override
    def fault(self, fault: Fault, on: bool) -> None:
        self._end_step()
        super().fault(fault, on)
        self._begin_step()

    @override
    def decided(self, text: str, actor: str, site: str, noun: str) -> None:
        super().decided(text, actor, site, noun)
        if text and len(self.decisions) < ROWS_MAX:
            self.decisions.append((actor, text, site, len(self.steps)))

    @override
    def ending(self) -> None:
        error = sys.exception()
        self._end_step(error)
        super().ending()

    def _begin_step(self) -> None:
        self._output.seek(0)
        self._output.truncate()
        self._lines.clear()
        self._raised.clear()
        self._met = self._uses()

    def _uses(self) -> dict[str, tuple[int, int]]:
        """Return for each fault that acts on calls how many met it so far, and how many it changed."""
        faults = self._machine_now.faults if isinstance(self._machine_now, ChaosTest) else ()
        uses = ((fault.name, fault.observed) for fault in faults if fault.counts_calls)
        return {name: (seen.calls, seen.hits) for name, seen in uses}

    def _end_step(self, error: BaseException | None = None) -> None:
        """Note what the last step did; nothing before the first."""
        if len(self.views) == len(self.steps) or self._machine_now is None:
            return
        step = self.steps[-1]
        decided = [one_line(text) for _, text, _, number in self.decisions if number == len(self.steps)]
        view = StepView(
            kind=step.kind,
            name=one_line(step.name),
            arguments=dict(step.text),
            draws=list(step.draws),
            result=step.result,
            faults_on=list(step.active_faults),
            fired=[hit for hit in step.hits if hit not in decided],
            decided=decided,
            failed=error is not None,
        )
        view.fired += [
            f"{one_line(name)}, in {counted(hits - self._met[name][1], 'call')}"
            for name, (_, hits) in self._uses().items()
            if name in self._met and hits > self._met[name][1]
        ]
        new_lines = sorted(set(self._lines))
        view.new_lines = [CodeSpot(shown_path(file), line, code_at(file, line)) for file, line in new_lines[:40]]
        view.new_lines_more = max(0, len(new_lines) - 40)
        view.output = safe_lines(self._output.getvalue()[:RECORDED_CHARS_MAX])
        chain = _chain_of(error)
        for raised, place in self._raised.values():
            if id(raised) not in chain and len(view.swallowed) < LISTED_MAX:
                view.swallowed.append(Swallowed(describe_error(raised), place))
        self._raised.clear()
        if self._left > 0:
            before, self._state = self._state, self._reader.read(self._machine_now)
            view.changes = changes_between(before, self._state)
            self._left -= sum(len(change.path) + len(change.after or "") for change in view.changes)
        self.views.append(view)

    # -- events -------------------------------------------------------------------------------------------------------

    def _line(self, code: CodeType, line: int) -> object:
        if self._is_target(code.co_filename):
            self._lines.append((code.co_filename, line))
            self.codes.add(code)
        return _MONITORING.DISABLE

    def _raise(self, code: CodeType, _offset: int, error: BaseException) -> None:
        if code.co_filename in self._own_files and len(self._raised) < 10 * LISTED_MAX:
            # Where the program raised it, or where it called the fault that did.
            frames = user_frames(error)
            place = f"{shown_path(frames[-1][0].co_filename)}:{frames[-1][1]}" if frames else ""
            self._raised.setdefault(id(error), (error, place))


def _chain_of(error: BaseException | None) -> set[int]:
    """Return the ids of an exception and of those that led to it."""
    found: set[int] = set()
    waiting = [error]
    while waiting and len(found) < 100:
        each = waiting.pop()
        if each is not None and id(each) not in found:
            found.add(id(each))
            waiting += [each.__cause__, each.__context__]
            if isinstance(each, BaseExceptionGroup):
                waiting += each.exceptions
    return found


def code_at(file: str, line: int) -> str:
    """Return a line of a source file, stripped, cut where it is long."""
    return one_line(linecache.getline(file, line).strip(), limit=120)
