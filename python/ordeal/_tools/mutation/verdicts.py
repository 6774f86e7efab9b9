"""The verdicts on mutants, the score, and the verdicts on functions whose bodies are replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from ordeal._tools.mutation.mutants import Mutant, mutants_of
from ordeal._tools.mutation.operators import BODY_OPERATORS
from ordeal._tools.mutation.source import Source

Word = Literal["killed", "timeout", "memory", "crash", "survived", "uncovered", "dead", "not run"]
DETECTED: tuple[Word, ...] = ("killed", "timeout", "memory", "crash")
WORDS: tuple[Word, ...] = (*DETECTED, "survived", "uncovered", "dead", "not run")
#: The operators that remove a whole statement: a survivor within it adds nothing.
WHOLE_STATEMENTS = ("delete_statement", "chimp", "body_none", "finally_drop")
#: The note of a survivor whose state differed under machines.
STATE_DIFFERS = "state differs"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one mutant: the word, the test that noticed it, how many ran, and details.

    Of a survivor ``nearest`` is the test that is most about it; ``covering`` are all tests that run it. ``asserted``
    distinguishes a mutant that an assertion noticed from one that only raised another error. ``doubt`` is why the code
    of an unnoticed mutant may be unused.
    """

    mutant: Mutant
    word: Word
    killer: str = ""
    tests: int = 0
    route: str = ""
    note: str = ""
    nearest: str = ""
    covering: tuple[str, ...] = ()
    asserted: bool = False
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """How many of the judged mutants were detected, and how many of them by an assertion."""

    detected: int
    undetected: int
    uncovered: int
    not_run: int
    asserted: int = 0

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Score:
        """Count verdicts."""
        verdicts = list(verdicts)
        counts = Counter(verdict.word for verdict in verdicts)
        detected = sum(counts[word] for word in DETECTED)
        asserted = sum(verdict.asserted for verdict in verdicts)
        undetected = counts["survived"] + counts["uncovered"]
        return cls(detected, undetected, counts["uncovered"], counts["not run"], asserted)

    @property
    def judged(self) -> int:
        """The number of mutants that were judged."""
        return self.detected + self.undetected

    @property
    def percent(self) -> float | None:
        """The share of the judged ones that was detected; None without mutants."""
        return _percent(self.detected, self.judged)

    @property
    def covered_percent(self) -> float | None:
        """The same of those that a test runs."""
        return _percent(self.detected, self.judged - self.uncovered)

    @property
    def asserted_percent(self) -> float | None:
        """The share of the judged ones that an assertion noticed."""
        return _percent(self.asserted, self.judged)

    @property
    def range(self) -> tuple[float, float] | None:
        """The range of the score over all verdicts that unjudged mutants could get; None without mutants."""
        every = self.judged + self.not_run
        return (
            (self.detected * 1000 // every / 10, (self.detected + self.not_run) * 1000 // every / 10) if every else None
        )

    @property
    def least_asserted(self) -> float | None:
        """The assertion score if no unjudged mutant is noticed by an assertion; None without mutants."""
        return _percent(self.asserted, self.judged + self.not_run)

    def interval(self, drawn_from: int) -> tuple[float, float] | None:
        """Return the 95 percent interval of the score of all ``drawn_from`` mutants, of which these are a sample."""
        count = self.judged
        if not 0 < count < drawn_from:
            return None
        # Wilson's interval, narrower as the sample comes near to the whole.
        # 1.96 standard deviations around a mean hold 95 percent.
        wide = 1.96**2 * (drawn_from - count) / (drawn_from - 1) / count
        share = self.detected / count
        middle, half = share + wide / 2, sqrt(wide * (share * (1 - share) + wide / 4))
        return round(100 * (middle - half) / (1 + wide), 1), round(100 * (middle + half) / (1 + wide), 1)


def _percent(part: int, of: int) -> float | None:
    """Return a share in percent, rounded down to a tenth: 100 only for all of them."""
    return part * 1000 // of / 10 if of else None


def rates[Key: (str, tuple[str, str])](
    verdicts: Iterable[Verdict], of: Callable[[Verdict], Key]
) -> list[tuple[Key, Score]]:
    """Return the score of each group of verdicts, as ``of`` names it, the weakest first."""
    groups: dict[Key, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(of(verdict), []).append(verdict)
    found = [(name, Score.of(each)) for name, each in groups.items()]
    # A group without a score comes last; among equal ones the one with more survivors comes first.
    return sorted(found, key=lambda pair: (pair[1].percent is None, pair[1].percent, -pair[1].undetected, pair[0]))


def weakest_first(verdicts: Sequence[Verdict], *, every: bool = False) -> list[Verdict]:
    """Return the unnoticed mutants in the order of files and lines: all, or only the first survivor of each line.

    Survivors within a statement that survived as a whole are then left out too: ``inside`` counts them.
    """
    survived = [verdict for verdict in verdicts if verdict.word == "survived"]
    if every:
        return survived
    within = {id(each) for found in inside(survived).values() for each in found}
    shown: list[Verdict] = []
    seen: set[tuple[str, int]] = set()
    for verdict in survived:
        place = (verdict.mutant.shown, verdict.mutant.line)
        if id(verdict) not in within and place not in seen:
            seen.add(place)
            shown.append(verdict)
    return shown


def inside(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Return the survivors within each surviving removal of a statement, by the id of the outermost one."""
    survived = [verdict for verdict in verdicts if verdict.word == "survived"]
    by_file: dict[str, list[Verdict]] = {}
    for verdict in survived:
        if verdict.mutant.operator in WHOLE_STATEMENTS:
            by_file.setdefault(verdict.mutant.shown, []).append(verdict)
    found: dict[str, list[Verdict]] = {}
    for verdict in survived:
        inner = verdict.mutant
        around = [
            each.mutant
            for each in by_file.get(inner.shown, ())
            if each.mutant.start <= inner.start and inner.end <= each.mutant.end
        ]
        outermost = max(around, key=lambda each: each.end - each.start, default=inner)
        if outermost.end - outermost.start > inner.end - inner.start:
            found.setdefault(outermost.id, []).append(verdict)
    return found


Depth = Literal["tested", "partially tested", "pseudo-tested", "not covered"]
DEPTHS: tuple[Depth, ...] = ("tested", "partially tested", "pseudo-tested", "not covered")


@dataclass(frozen=True, slots=True)
class FunctionVerdict:
    """A function, and whether tests notice when its body is replaced.

    It is tested if each replacement is noticed, partially tested if some are, pseudo-tested if it runs and none is.
    """

    shown: str
    name: str
    line: int
    word: Depth
    verdicts: tuple[Verdict, ...]


def functions_of(sources: Sequence[Source], verdicts: Iterable[Verdict]) -> list[FunctionVerdict]:
    """Return the functions whose replacements were all judged, in their order."""
    judged = {each.mutant.id: each for each in verdicts if each.mutant.operator in BODY_OPERATORS}
    found: dict[tuple[str, str, tuple[int, int]], list[Verdict | None]] = {}
    for mutant in (each for source in sources if judged for each in mutants_of(source, BODY_OPERATORS)):
        found.setdefault((mutant.shown, mutant.name, mutant.lines), []).append(judged.get(mutant.id))
    functions = []
    for (shown, name, lines), each in found.items():
        whole = tuple(verdict for verdict in each if verdict is not None and verdict.word != "not run")
        if len(whole) == len(each):
            noticed = sum(one.word in DETECTED for one in whole)
            word: Depth = "tested" if noticed == len(whole) else "partially tested"
            if not noticed:
                word = "pseudo-tested" if any(one.word == "survived" for one in whole) else "not covered"
            functions.append(FunctionVerdict(shown, name, lines[0], word, whole))
    return functions
