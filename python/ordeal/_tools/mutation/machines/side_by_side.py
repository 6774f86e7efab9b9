"""One recorded run on the original and on a mutant, step by step: what each changes, and where they part."""

from __future__ import annotations

import ordeal._native as _native
from ordeal._base.trace_file import Trace
from ordeal._tools.mutation.machines.bench import Bench, State
from ordeal._tools.mutation.machines.views import Beside, Side, SideBySide
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, Swap

#: So many parts of a state are shown of one step.
CHANGES_MAX = 12


def side_by_side(
    bench: Bench, trace: Trace, tape: _native.Tape, number: int, live: LiveFunctions, source: Source, mutant: Mutant
) -> SideBySide:
    """Replay a trace on both."""
    with bench.running():
        original = bench.states(tape)
        swap = Swap(live, source, mutant)
        try:
            changed = bench.states(tape)
            kill = bench.run(tape, number)
        finally:
            swap.undo()
    calls = ["(the machine is made)", *map(_call, trace.taken_steps())]
    steps = [
        Beside(call, _side(original, changed, step), _side(changed, original, step))
        for step, call in enumerate(calls[: max(len(original), len(changed))])
    ]
    first = next((step for step, each in enumerate(steps) if each.original.others or each.mutant.others), -1)
    failure = f"step {kill.step}: {kill.error} by {kill.by}" if kill is not None else ""
    return SideBySide(trace.test_class, number, steps, failure, first)


def _call(step: object) -> str:
    name, params, text = (getattr(step, each) for each in ("name", "params", "text"))
    arguments = ", ".join(f"{key}={text.get(key, value)}" for key, value in params.items())
    return f"{name}({arguments})" if name[:1] not in "+-" else name


def _side(here: list[State], there: list[State], step: int) -> Side:
    if step >= len(here):
        return Side([], [], is_there=False)
    before, after = here[step - 1] if step else {}, here[step]
    other = there[step] if step < len(there) else {}
    changes = [pair for pair in after.items() if before.get(pair[0]) != pair[1]] if step else []
    changes += [(path, "gone") for path in before if path not in after]
    others = [pair for pair in after.items() if other.get(pair[0]) != pair[1]]
    others += [(path, "nothing") for path in other if path not in after]
    return Side(changes[:CHANGES_MAX], others[:CHANGES_MAX])
