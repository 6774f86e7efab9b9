"""What a search of schedules found: its failure with the decisions that it needs, and how far the search reached."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ordeal.simulate.runtime.decisions import Decided, labelled
from ordeal.simulate.runtime.scheduled_faults import SimulatedFault
from ordeal.simulate.runtime.text import failure_text, report_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFailure:
    """A failure, with what has to be decided for it to happen."""

    error: BaseException
    bucket: str
    decided: tuple[Decided, ...]
    """The decisions that it needs; all others are 0."""
    run: int
    """The run that found it, from 1."""
    seed: int
    made: int
    """How many decisions that run made."""
    chance: int = 0
    """What seeded the generators of the program."""
    faults: tuple[SimulatedFault, ...] = ()
    is_flaky: bool = False
    """Whether it did not happen again with the same decisions."""
    is_steered: bool = False
    """Whether what earlier runs did decided what the run that found it was to do, so that no seed alone repeats it."""
    shared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Which nodes wrote the globals that several have written: real machines would each have their own."""
    shrink_limit: str = ""
    """The limit at which shrinking ended, as text; empty if each decision that is left is known to be needed."""

    @property
    def decisions(self) -> dict[str, int]:
        """The decisions as ``simulate.run(decisions=...)`` takes them."""
        return labelled(self.decided)

    def __str__(self) -> str:
        return failure_text(self)


@dataclass(slots=True, kw_only=True)
class Report:
    """What a search did, and what it found."""

    runs: int = 0
    steps: int = 0
    made: int = 0
    """How many decisions all runs made."""
    disturbed: Counter[str] = field(default_factory=Counter)
    """How many of them were not 0, by kind."""
    simulated_s: float = 0.0
    cut_short: int = 0
    """How many runs ended because a fault cancelled a task that the test waited for."""
    waited: Counter[str] = field(default_factory=Counter)
    """For each place where tasks that may be cancelled waited, how often."""
    struck: Counter[str] = field(default_factory=Counter)
    """For each such place, how many were cancelled there."""
    strikes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often which fault struck which node."""
    nodes: dict[str, None] = field(default_factory=dict)
    """The names of all nodes that there were."""
    calm_at_once: int = 0
    """In how many runs all faults were ended before any time had passed."""
    vain: tuple[str, ...] = ()
    """A sentence for each fault that struck nothing though it was to."""
    failure: ScheduleFailure | None = None
    nondeterministic: str = ""
    """Where a repeated run first did something else; empty if none did."""

    def __str__(self) -> str:
        return report_text(self)
