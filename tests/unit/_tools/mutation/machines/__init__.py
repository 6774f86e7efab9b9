"""What the tests of the machine judge share."""

from __future__ import annotations

from ordeal._tools.mutation.mutants import Mutant

#: Mutants by the name of what holds them, the original and the replacement.
Mutants = dict[tuple[str, str, str], Mutant]


def mutant_of(mutants: Mutants, name: str, replacement: str) -> Mutant:
    """Return the first mutant of a function that puts this in."""
    return next(each for (owner, *_), each in mutants.items() if owner == name and each.replacement == replacement)
