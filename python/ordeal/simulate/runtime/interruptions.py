"""Decides which task is cancelled where: between its wake-up and its turn, while it waits, or before time passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ordeal.simulate.runtime.decisions import CANCEL, DecisionSource, name_key
from ordeal.simulate.runtime.scheduled_faults import CLIENTS, Cancel, SimulatedFault
from ordeal.simulate.runtime.sites import Site
from ordeal.simulate.runtime.tasks import TaskRecord, is_shielded

#: Where a task is cancelled, as values of a decision. The first takes half of the draws.
IN_WINDOW, WHILE_WAITING, WHEN_IDLE = 1, 2, 3
_AIMS = 4
_START = Site("before its first step", "its start")


class Interruptions:
    """The cancellations of one run, and where tasks waited."""

    def __init__(
        self,
        schedule: DecisionSource,
        faults: Sequence[SimulatedFault],
        call_soon: Callable[[Callable[[TaskRecord, int], object], TaskRecord, int], object],
    ) -> None:
        """Calls ``call_soon(function, record, waits)`` to have something done after what is ready now."""
        self._schedule = schedule
        self._call_soon = call_soon
        self._cancels = [fault for fault in faults if isinstance(fault, Cancel)]
        self._idle: list[tuple[TaskRecord, int]] = []
        self._sites: dict[TaskRecord, Site] = {}
        self.waited: dict[str, int] = {}
        """How often tasks that may be cancelled waited at each site."""
        self.struck: dict[str, int] = {}
        """How many of them were cancelled there."""

    @property
    def has_any(self) -> bool:
        """Whether any task may be cancelled."""
        return bool(self._cancels)

    def strikes(self, name: str, is_client: bool) -> bool:
        """Return whether a task with this name may be cancelled."""
        return bool(self._cancels) and any(fault.strikes(name, is_client=is_client) for fault in self._cancels)

    def wants_clients(self) -> bool:
        """Return whether it matters which tasks are clients."""
        return any(fault.tasks == CLIENTS for fault in self._cancels)

    def aim_at_start(self, record: TaskRecord) -> None:
        """Decide whether a new task is cancelled before its first step."""
        self._decide(record, _START, IN_WINDOW + 1)

    def aim(self, record: TaskRecord) -> None:
        """Decide whether a task that was just suspended is cancelled during this wait, and when."""
        if record.struck_at is not None or record.task.cancelling() or self._is_spared(record):
            record.may_be_cancelled = False
            return
        aim = self._decide(record, record.site(), _AIMS)
        if aim == WHILE_WAITING:
            self._call_soon(self._strike_waiting, record, record.waits)
        elif aim == WHEN_IDLE:
            self._idle.append((record, record.waits))

    def _decide(self, record: TaskRecord, site: Site, bound: int) -> int:
        self.waited[site.name] = self.waited.get(site.name, 0) + 1
        record.aim = self._schedule.decide(CANCEL, record.key, name_key(site.name), bound)
        if record.aim:
            self._sites[record] = site
        return record.aim

    def before_turn(self, record: TaskRecord) -> None:
        """Cancel a task that was woken and whose turn comes now, if that was decided."""
        aim, record.aim = record.aim, 0
        if aim == IN_WINDOW:
            record.struck_in_window = self._strike(record)

    def strike_idle(self) -> bool:
        """Cancel the tasks that are to be cancelled before time passes; return whether there was one."""
        idle, self._idle = self._idle, []
        struck = [self._strike_waiting(record, waits) for record, waits in idle]
        return any(struck)

    def _strike_waiting(self, record: TaskRecord, waits: int) -> bool:
        return record.waits == waits and record.aim != 0 and self._strike(record)

    def _strike(self, record: TaskRecord) -> bool:
        record.aim = 0
        task = record.task
        if not record.is_living or task.done() or task.cancelling() or self._is_spared(record) or not task.cancel():
            return False
        site = record.struck_at = self._sites[record]
        self.struck[site.name] = self.struck.get(site.name, 0) + 1
        return True

    def _is_spared(self, record: TaskRecord) -> bool:
        """Return whether a task is shielded, and nobody asked for it by name: who waits for it cannot cancel it."""
        return is_shielded(record.task) and not self.strikes(record.name, is_client=False)

    def forget(self) -> None:
        """Drop what is known of the tasks of a run that has ended."""
        self._idle.clear()
        self._sites.clear()
