"""What a search of schedules found, as text: what a failure needs, how to repeat it, and how far the search reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ordeal._base.formatting import PLURALS, counted, describe_error, one_line
from ordeal._base.limits import LISTED_MAX
from ordeal._base.untrusted import error_message, leaves_of, type_name
from ordeal.simulate.errors import SimulationFailure
from ordeal.simulate.network.datagrams import DOUBLED, LOST
from ordeal.simulate.network.links import ON_LINKS, SENT_AGAIN
from ordeal.simulate.runtime.decisions import HEAD_STARTS, OVERLAP, VALUE_MAX, Decided
from ordeal.simulate.runtime.examination import Examined
from ordeal.simulate.runtime.faults import (
    CLIENTS,
    LENGTH,
    MANNER,
    NODE_FAULTS,
    SKEWS,
    STEP,
    TORN,
    Cancel,
    NodeFault,
    SimulatedFault,
    length_s,
    packet_latencies,
    stall_lengths,
    strike_step,
)
from ordeal.simulate.runtime.sites import raised_at
from ordeal.simulate.runtime.tasks import START

#: The noun under which a decision of each kind counts.
NOUNS = {
    "order": "change of order",
    "stall": "stall",
    "arrival": "late result",
    "cancel": "cancellation",
    "packet": "late packet",
    "cut": "cut",
    "datagram": "datagram lost, doubled or late",
    "disk": "loss of what was not synced",
    "silence": "silent crash",
    "crash": "crash",
    "pause": "pause",
    "partition": "partition",
    "reset": "reset",
    "slow": "slow node",
    "skew": "wrong clock",
    "clog": "clog",
    "disk_full": "full disk",
    "disk_error": "broken disk",
}
_CUT_OFF = ("both ways", "what it sends", "what it gets")
_WHEN = ("", "between its wake-up and its turn", "while it waits", "before time passes")
_ARRIVES = ("at once", *(f"after {length}" for length in ("1 ms", "10 ms", "100 ms", "1 s")), "with the next time-out")
_CUT_WHERE = ("nowhere", "in the middle", "after the first byte", "before the last byte")
_UNEXAMINED = Examined()


def needed_text(decided: Sequence[Decided]) -> str:
    """Return the number of decisions that a failure needs, by kind, such as ``1 cancellation, 2 stalls``."""
    counts = Counter(noun for decision in decided if (noun := noun_of(decision)))
    parts = [_counted(number, noun) for noun, number in counts.items()]
    return ", ".join(parts) if parts else "nothing special"


def noun_of(decision: Decided) -> str:
    """Return the noun under which a decision counts; empty for a detail of another."""
    if decision.site == OVERLAP:
        return "overlap"
    return "" if decision.site in (LENGTH, MANNER, TORN) else NOUNS[decision.kind]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {PLURALS[noun]}" if number != 1 and noun in PLURALS else counted(number, noun)


def decision_text(decision: Decided, faults: Sequence[SimulatedFault], examined: Examined = _UNEXAMINED) -> str:
    """Return what a decision does, in a line."""
    who, value = decision.actor, decision.value
    who = f"{examined.names[who]} ({who})" if who in examined.names else who
    cause, where = examined.causes.get(decision.label, ("", ""))
    nth = f"time {decision.occurrence + 1} there" if decision.occurrence and decision.kind != "stall" else ""
    nth = f" ({', '.join(filter(None, (nth, where)))})" if nth or where else ""
    if decision.kind == "cancel":
        at = START if decision.site == START else f"{_WHEN[min(value, 3)]}, at `{decision.site}`"
        return one_line(f"cancel {who}, {at}{nth}", limit=300)
    if decision.kind == "stall":
        lengths = stall_lengths(faults)
        timer = cause or ("the next timer" if value == 1 else "the next time-out")
        is_until = value == 1 or value - 2 == len(lengths)
        took = f"until {timer} is due" if is_until else f"{lengths[min(value - 2, len(lengths) - 1)]:g} s"
        return one_line(f"stall step {decision.occurrence + 1} of {who}: it takes {took}{nth}", limit=300)
    if decision.kind == "order" and decision.site == OVERLAP:
        steps = HEAD_STARTS[min(value, len(HEAD_STARTS) - 1)] or 0
        return f"after {counted(steps, 'step')} of it the next rule begins: they overlap"
    if decision.kind == "order" and cause:
        return one_line(f"{cause}{nth}", limit=300)
    if decision.kind == "order":
        return one_line(f"of timers with one deadline, number {value + 1} fires before that of {who}{nth}")
    if decision.kind == "arrival":
        job = cause or f"the job {decision.site}{'' if who == 'executor' else f' of {who}'}"
        what = f"the result of {job} arrives" if who == "executor" else f"{job} begins in an executor"
        return one_line(f"{what} {_ARRIVES[min(value, 5)]}{nth}", limit=300)
    if decision.kind in NODE_FAULTS:
        return one_line(f"{_node_fault_text(decision, faults)}{f' ({where})' if where else ''}")
    if decision.kind == "disk":
        if decision.site == TORN:
            survive = "survives" if value == 1 else "survive"
            return one_line(f"  {who}: {counted(value, 'byte')} of the first lost write {survive}{nth}")
        return one_line(f"{who}: {_lost_changes_text(value, decision.bound - 1)}{nth}")
    if decision.kind == "silence":
        return one_line(f"{who}: its peers do not notice the crash{nth}")
    if decision.site in ON_LINKS:
        return one_line(f"{who}: datagram {decision.occurrence + 1} {ON_LINKS[decision.site]}, as the link may do it")
    if decision.kind == "datagram":
        latencies = packet_latencies(faults)
        late = f"takes {_late_text(max(value - DOUBLED, 0), latencies)}"
        fate = {LOST: "is lost", DOUBLED: "arrives twice"}.get(value, late)
        return one_line(f"{who}: datagram {decision.occurrence + 1} {fate}")
    if decision.kind == "packet":
        latencies = packet_latencies(faults)
        if decision.site == SENT_AGAIN:
            return one_line(f"{who}: packet {decision.occurrence + 1} is lost, and sent again")
        named = {"connect": "connecting", "process": "the process"}
        what = named.get(decision.site, f"packet {decision.occurrence + 1}")
        return one_line(f"{who}: {what} takes {_late_text(value, latencies)}")
    return one_line(f"{who}: what arrives is cut {_CUT_WHERE[min(value, 3)]}{nth}")


def _late_text(value: int, latencies: Sequence[float]) -> str:
    return f"{latencies[value]:g} s" if value < len(latencies) else "until the next time-out is due"


def _lost_changes_text(lost: int, known: int) -> str:
    """Return what a crash takes from a disk; ``known`` is the number of changes, or VALUE_MAX - 1 where it is open."""
    if known == 1:
        return "the one change that was not synced is lost"
    changes = f"the {known:,} changes" if known < VALUE_MAX - 1 else "the changes"
    last = "last is" if lost == 1 else f"last {lost:,} are"
    return f"of {changes} that were not synced, the {last} lost"


def _node_fault_text(decision: Decided, faults: Sequence[SimulatedFault]) -> str:
    """Return when a fault strikes a node, how long it lasts, or in what way it strikes."""
    who, kind, value = decision.actor, decision.kind.replace("_", " "), decision.value
    nth = f" {decision.occurrence + 1}" if decision.occurrence else ""
    longest = next((each.longest for each in faults if isinstance(each, NodeFault) and each.kind == decision.kind), 1.0)
    if decision.site == STEP:
        return f"{who}: {kind}{nth} after {counted(strike_step(value), 'own step')}"
    if decision.site == LENGTH:
        return f"  {kind}{nth} of {who} lasts {length_s(value, 10.0 if kind == 'slow' else longest):.3g} s"
    if kind == "partition":
        whom = "from all others" if value < len(_CUT_OFF) else f"from the other node {value // len(_CUT_OFF)}"
        return f"  partition{nth} of {who} cuts {_CUT_OFF[value % len(_CUT_OFF)]}, {whom}"
    if kind == "skew":
        share, rate = SKEWS[min(value, len(SKEWS) - 1)]
        return f"  the clock of {who} is moved by {share * longest:g} s, and goes at {rate:g}"
    if kind == "clog":
        return f"  what {who} sends and gets takes {length_s(value, longest):.3g} s longer"
    if kind == "slow":
        return f"  each step of {who} takes {length_s(value, longest):.3g} s"
    return f"  {kind}{nth} of {who} in way {value + 1}"


def failure_text(failure: ScheduleFailure, replay: str | None = None) -> str:
    """Return what a failure needs and how to repeat it: by default with a call of ``run``."""
    how = "steered by earlier runs: no seed alone repeats it" if failure.is_steered else f"seed {failure.seed}"
    lines = [
        f"Found by run {failure.run:,} ({how}).",
        f"Needed: {needed_text(failure.decided)}, of {counted(failure.made, 'decision')}.",
        *(f"  {decision_text(decision, failure.faults, failure.examined)}" for decision in failure.decided),
        *failure.examined.lines(has_events=not isinstance(failure.error, SimulationFailure)),
    ]
    if failure.shrink_limit:
        lines.append(f"Shrinking ended at its limit, {failure.shrink_limit}: fewer decisions may suffice.")
    if failure.is_flaky:
        lines.append("It did not fail again with the same decisions: something decides that the simulation does not")
        lines.append("control, such as a thread, a file, the order of a set, or what an earlier run left behind.")
    lines.append(replay or f"Replay: {replay_call(failure, failure.name)}")
    return "\n".join(lines)


def replay_call(failure: ScheduleFailure, name: str) -> str:
    """Return the call that repeats a failure; ``name`` is that of the function that was run."""
    parts = [name, *([f"seed={failure.chance}"] if failure.chance else [])]
    if failure.faults:
        parts.append(f"faults=[{', '.join(map(fault_call, failure.faults))}]")
    rows = [f"    {label!r}: {value}," for label, value in failure.decisions.items()]
    parts.append("\n".join(["decisions={", *rows, "}"]) if rows else "decisions={}")
    return f"simulate.run({', '.join(parts)})"


def fault_call(fault: SimulatedFault) -> str:
    """Return a fault as Python."""
    if isinstance(fault, Cancel):
        given = [*([] if fault.tasks == CLIENTS else [repr(fault.tasks)]), *(["private=True"] if fault.private else [])]
        return f"simulate.cancel({', '.join(given)})"
    if isinstance(fault, NodeFault):
        longest = "" if fault.kind == "reset" else f", longest={fault.longest!r}"
        return f"simulate.{fault.kind}({fault.nodes!r}{longest})"
    return f"simulate.{type(fault).__name__.lower()}({fault.longest!r})"


def reach_text(report: Report) -> str:
    """Return how far a search reached."""
    disturbed = ", ".join(_counted(number, NOUNS[kind]) for kind, number in report.disturbed.most_common())
    lines = [
        f"{counted(report.runs, 'run')}, {counted(report.steps, 'step')}, {report.simulated_s:,.3f} simulated seconds",
        f"{counted(report.made, 'decision')}: {disturbed or 'all of them nothing special'}",
    ]
    if report.cut_short:
        lines.append(f"{counted(report.cut_short, 'run')} ended early: the test awaited a task that was cancelled")
    if report.waited:
        struck = sum(1 for site in report.waited if report.struck[site])
        lines.append(f"cancelled at {struck} of {counted(len(report.waited), 'place')} where tasks waited:")
        rows = report.waited.most_common(LISTED_MAX)
        lines += [f"  {report.struck[site]:7,} of {number:9,}  {one_line(site)}" for site, number in rows]
    for kind in sorted({kind for kind, _ in report.strikes}):
        nodes = sorted(node for found, node in report.strikes if found == kind)
        struck_nodes = ", ".join(f"{node} {report.strikes[kind, node]:,}" for node in nodes[:LISTED_MAX])
        lines.append(one_line(f"struck by {kind}: {struck_nodes}", limit=1_000))
    lines += report.vain
    if report.nondeterministic:
        lines.append(f"NOT DETERMINISTIC: {report.nondeterministic}")
    return "\n".join(lines)


def vain_faults(faults: Iterable[SimulatedFault], reach: Report) -> Iterator[str]:
    """Yield a sentence for each fault that had nothing to strike."""
    for fault in faults:
        why = ""
        if isinstance(fault, Cancel) and not reach.waited:
            why = "no task was there that it cancels: never the test, nor without `private=True` what the target makes"
        elif isinstance(fault, NodeFault) and not any(map(fault.strikes, reach.nodes)):
            nodes = ", ".join(reach.nodes)
            why = f"no node has such a name, the nodes were {nodes}" if nodes else "there were no nodes"
        if why:
            yield one_line(f"{fault_call(fault)} struck nothing in {counted(reach.runs, 'run')}: {why}", limit=500)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFailure:
    """A failure: its ``error``, the decisions that it needs, the ``faults`` of the test, the ``seed`` of its run."""

    error: BaseException
    bucket: str
    """What makes two failures the same."""
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
    examined: Examined = _UNEXAMINED
    """What else was seen in it: its last events, logged errors, and tasks that ended with an error."""
    shrink_limit: str = ""
    """The limit at which shrinking ended, as text; empty if each decision that is left is known to be needed."""

    name: str = "main"
    """The name of the function that was run."""

    @property
    def decisions(self) -> dict[str, int]:
        """The decisions as ``simulate.run(decisions=...)`` takes them."""
        return {decision.label: decision.value for decision in self.decided}

    def __str__(self) -> str:
        return failure_text(self)


@dataclass(slots=True, kw_only=True)
class Report:
    """What a search did in its ``runs``, which took ``simulated_s`` seconds of simulated time, and what it found."""

    runs: int = 0
    steps: int = 0
    """How many steps of tasks all runs made."""
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
    vain: tuple[str, ...] = ()
    """A sentence for each fault that struck nothing though it was to."""
    failure: ScheduleFailure | None = None
    nondeterministic: str = ""
    """Where a repeated run first did something else; empty if none did."""

    def __str__(self) -> str:
        reach = reach_text(self)
        if self.failure is None:
            return reach
        error = self.failure.error
        message = error_message(error)
        shown = f"{type_name(type(error))}: {message}" if message else type_name(type(error))
        lines = [one_line(line, limit=500) for line in shown.splitlines()]
        if not isinstance(error, SimulationFailure):
            places = [f"{'' if each is error else describe_error(each)}{raised_at(each)}" for each in leaves_of(error)]
            lines += [f"  {place.removeprefix(', ')}" for place in places[:LISTED_MAX] if place]
        return "\n".join([reach, "", *lines, failure_text(self.failure)])
