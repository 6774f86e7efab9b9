"""Which traces judge a mutant, of all that run its lines."""

from __future__ import annotations

from collections.abc import Iterable

from ordeal._tools.mutation.machines.traces import Kept, Lines

#: A trace that runs the lines of a mutant, and the steps in which it does, as bits.
Judging = tuple[Kept, int]
#: So many traces judge a mutant, unless all shall. Of the 337 mutants of five examples that any of at most 35 traces
#: notice, one is noticed only by others; of the traces with the fewest steps, twenty are needed for as much.
JUDGING_MAX = 6
#: In so many of them the invariants are asked after each step; in the others only after the last one: most of what is
#: broken stays so, and invariants may take three quarters of a replay. Of 588 mutants of three programs that any of at
#: most 84 traces notices, six such traces notice 584, and six that are asked after each step 586 in twice the time.
CHECKED_TRACES = 2
#: States are compared after so many steps of so many of them; in the others only the last states.
COMPARED_STEPS, COMPARED_TRACES = 16, 3


def covering(kept: Iterable[Kept], lines: Lines) -> list[Judging]:
    """Return the traces that run any of the lines, long ones first, and among them those that run the lines often."""
    found = []
    for each in kept:
        hits = 0
        for line in lines:
            hits |= each.hits.get(line, 0)
        if hits:
            found.append((each, hits))
    return sorted(found, key=lambda pair: (-pair[1].bit_count() * len(pair[0].sketches) ** 2, pair[0].number))


def first_step(each: Kept, path: str, function: tuple[int, int]) -> int:
    """Return the first step that can differ from the original; 0 where the invariants must be asked in any case.

    It is the one that enters the function: one without its ``yield`` differs before the changed line would run.
    """
    if not each.only_looks:
        return 0
    hits = 0
    for line in range(function[0], function[1] + 1):
        hits |= each.hits.get((path, line), 0)
    return max(0, (hits & -hits).bit_length() - 1)


def only_steps_differ(each: Kept, path: str, function: tuple[int, int]) -> bool:
    """Return whether invariants have no part in the states of a trace: they change nothing, and run no mutant."""
    return each.only_looks and not any((path, line) in each.looked for line in range(function[0], function[1] + 1))


def compared(each: Kept, hits: int, place: int) -> int:
    """Return the steps after which the states of a trace are compared, the trace with this place among the judges.

    A state differs first where the lines run, or later, through what no state shows: so the last one is looked at, too.
    """
    due = 1 << len(each.sketches) - 1
    for _ in range(COMPARED_STEPS if place < COMPARED_TRACES else 0):
        due |= hits & -hits
        hits &= hits - 1
    return due
