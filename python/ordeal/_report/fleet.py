"""The text of ``ordeal fleet``, from the records that launcher and members keep in the store."""

from __future__ import annotations

from collections.abc import Mapping

from ordeal._base.formatting import counted
from ordeal._base.limits import ROWS_MAX
from ordeal._engine.parallel.fleet.board import (
    LAUNCHER,
    OVER,
    Record,
    member_state,
    number_of,
    runs_other_code,
    state_of,
    text_of,
    total_of,
)

_STATES = {"left": "goes on without its launcher", "lost": "its launcher is gone"}
#: The state of a member in words, where its name alone is not enough.
_MEMBER_STATES = {"waiting": "waiting for a free CPU"}

Records = Mapping[str, Record]


def fleet_text(name: str, records: Records, now: float) -> str:
    """Return how the fleet is, with a line for each member. ``now`` is the time since the epoch, in seconds."""
    state, launcher = state_of(records, now), records.get(LAUNCHER, {})
    members = {key: record for key, record in records.items() if key != LAUNCHER}
    if state == "ended":
        # One that could not record how it ended was lost.
        members = {
            key: each if text_of(each, "state") in OVER else {**each, "state": "lost"} for key, each in members.items()
        }
    running = [each for each in members.values() if member_state(each, now) == "running"]
    rate = sum(number_of(each, "rate") for each in running)
    runs = sum(total_of(each, "runs") for each in members.values())
    edges = max((int(number_of(each, "edges")) for each in members.values()), default=0)
    wanted = int(number_of(launcher, "members"))
    shown = f"{counted(runs, 'run')}, {rate:.0f} runs/s, {counted(edges, 'edge')} at most"
    state = state_of(records, now)
    lines = [
        f"Fleet {name}: {_STATES.get(state, state)}, {text_of(launcher, 'class')} on {text_of(launcher, 'on')}",
        f"  {counted(len(running), 'member')} running of {wanted}; {shown}",
    ]
    shown_members = list(members.items())[:ROWS_MAX]
    width = max((len(member_text(record, now)) for _, record in shown_members), default=0)
    for key, record in shown_members:
        rate = number_of(record, "rate") if member_state(record, now) == "running" else 0
        parts = [f"{total_of(record, 'runs'):>9} runs", f"{rate:>7.0f}/s"]
        if failures := int(number_of(record, "failures")):
            parts.append(counted(failures, "failure"))
        about = "  ".join(filter(None, [*parts, text_of(record, "host"), remark(record, launcher)]))
        lines.append(f"  {_number(key):>4}  {member_text(record, now):<{width}}  {about}")
    if len(members) > ROWS_MAX:
        lines.append(f"  ... and {len(members) - ROWS_MAX} more (--json shows all)")
    return "\n".join(lines) + "\n"


def _number(key: str) -> str:
    return str(int(key.removeprefix("member-")))


def member_text(record: Record, now: float) -> str:
    """Return the state of a member in words."""
    state = member_state(record, now)
    return (
        f"silent for {now - number_of(record, 'at'):,.0f} s" if state == "silent" else _MEMBER_STATES.get(state, state)
    )


def remark(record: Record, launcher: Record) -> str:
    """Return a remark on a member: what keeps it from the others, what it found last, or why it ended."""
    if runs_other_code(record, launcher):
        return f"explores other code than its launcher ({text_of(record, 'code')}), and shares nothing"
    return (text_of(record, "finding") or text_of(record, "error")).partition("\n")[0]


def log_text(name: str, records: Records, _now: float) -> str:
    """Return the logs of the members that failed or were lost."""
    members = {key: each for key, each in records.items() if key != LAUNCHER}
    said = {key: text_of(each, "log") or text_of(each, "error") for key, each in members.items()}
    shown = [f"Member {_number(key)} of {name}:\n{text.rstrip()}\n" for key, text in said.items() if text]
    return "\n".join(shown) or f"No member of {name} failed or was lost.\n"
