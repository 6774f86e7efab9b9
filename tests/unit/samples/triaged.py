"""What the tests of a search and of triage share: settings, tapes by names, and listeners that write down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.execution.settings import Settings
from ordeal._engine.isolation.child import Limits
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.storage.state_file import Provenance
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.messages import Shrinking
from ordeal._engine.triage.setup import ReplaySetup
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._native import Tape
from ordeal.result import NoteKind
from ordeal.trace import Trace, TraceStep


class Counter(RuleBasedStateMachine):
    """Fails once the sum is above 9, and in a way of its own at once."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    @rule(by=st.integers(0, 6))
    def add(self, by: int) -> None:
        self.total += by
        if self.total > 9:
            raise ValueError("too much")

    @rule()
    def rest(self) -> None: ...

    @rule()
    def other(self) -> None:
        raise KeyError("other")


def settings_for(machine: type[RuleBasedStateMachine], **changes: Any) -> Settings:
    """The defaults, but for what reaches for other processes and for ``changes``."""
    options: dict[str, Any] = {
        "test_class": f"{machine.__module__}:{machine.__qualname__}",
        "session_seed": 42,
        "swarm": "off",
        "progress": None,
        "shrink_progress": None,
        "confirm_fresh": False,
        "max_time": 600.0,
        "max_shrink_time": 600.0,
    }
    return Settings(**(options | changes))


def setup_for(
    machine: type[RuleBasedStateMachine], *, rule_timeout: float | None = None, **changes: Any
) -> ReplaySetup:
    """What replays of ``machine`` have in common, without targets."""
    driver = make_driver(machine, rule_timeout)
    return ReplaySetup(settings_for(machine, rule_timeout=rule_timeout, **changes), driver, [], Limits())


def tape_for(driver: Driver, *steps: str | tuple[str, dict[str, list[Any]]]) -> Tape:
    """A tape of rules by their names, with their choices where they draw."""
    named = [(step, {}) if isinstance(step, str) else step for step in steps]
    return tape_of(
        Trace(1, 42, "x:Y", steps=[TraceStep("rule", name, choices=dict(drawn)) for name, drawn in named]), driver
    )


def finding_for(setup: ReplaySetup, tape: Tape, run_id: int = 7) -> Finding:
    """What ``tape`` fails with from a fresh machine of this process."""
    replayed = Replayer(setup.driver, setup.bucketer(), GlobalRandoms()).run(tape)
    assert replayed.outcome.error is not None
    return Finding(replayed.bucket, replayed.tape, origin(run_id), replayed.outcome.error)


def origin(run_id: int) -> Provenance:
    """Of a run from a fresh machine."""
    return Provenance(run_id, 0, None, 0)


class Told:
    """Listens to triage.

    Attributes:
        notes: the sentences with their kinds.
        progress: how far shrinking was, each time.
        interruptions: how often Ctrl-C was pressed.
    """

    def __init__(self, counts: int = 5) -> None:
        self.notes: list[tuple[str, NoteKind]] = []
        self.progress: list[tuple[int, int, Shrinking]] = []
        self.interruptions = 0
        self._counts = counts

    @property
    def sentences(self) -> list[str]:
        """The notes without their kinds."""
        return [text for text, _ in self.notes]

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """See ``Listener``."""
        self.notes.append((str(text), kind))

    def shrinking(self, number: int, total: int, now: Shrinking) -> None:
        """See ``Listener``."""
        self.progress.append((number, total, now))

    def interrupted(self) -> None:
        """See ``Listener``."""
        self.interruptions += 1

    def count_of(self, finding: Finding) -> int:
        """See ``Listener``."""
        return self._counts


def seed_files(folder: Path) -> list[str]:
    """The names of all saved seeds below ``folder``."""
    return sorted(path.name for path in folder.rglob("seed-*"))
