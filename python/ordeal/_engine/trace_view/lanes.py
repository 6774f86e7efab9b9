"""The lanes of a simulated world: what was decided for each of its tasks and nodes, in order."""

from __future__ import annotations

from collections.abc import Sequence

from ordeal._base.formatting import one_line
from ordeal._base.trace_file import SCHEDULE, Trace
from ordeal._engine.trace_view.view import LaneEvent
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.runtime.decisions import Decided

EVENTS_MAX = 500

#: For which task or node something was decided, what, where, and in which step of a machine, 0 for none.
Decision = tuple[str, str, str, int]


def lanes_of(trace: Trace) -> list[LaneEvent]:
    """Return what the trace of a schedule decided, each in the lane of the task or node that it was decided for.

    What is decided between two of them leads from the one to the other.
    """
    step = trace.steps[0]
    labels, texts = step.choices[SCHEDULE][::2], step.draws
    found: list[Decision] = []
    for number, label in enumerate(labels[:EVENTS_MAX]):
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
