"""Tells failures in one bucket apart: whether a run there needs what the minimal one needs, or fails without it.

A failing run that never executes what a failure needs is no case of it. So each lookalike is shrunk while it lacks
something of all failures known so far: a rule, a fault, or a line or branch of the targets. What comes out is another
failure if that something matters, and the same one on another path if it does not. It does not matter if runs nearby
take the path and pass, or leave it and fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

import ordeal._native as _native
from ordeal._base import untrusted
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.bucket import Bucketer, falls_into
from ordeal._engine.execution.driver import FAULT_OFF, FAULT_ON, RULE, Driver, Status
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayed, Replayer
from ordeal._engine.triage.executed import EdgesByStep, Watch
from ordeal._engine.triage.lookalikes import optional
from ordeal._engine.triage.variations import changed_arguments, changed_tapes, codes_of
from ordeal._hypothesis import skip_types
from ordeal._native import monotonic
from ordeal.errors import DivergenceError, OrdealError

#: Limits for one bucket: replays in all, candidates of one shrink, and runs near one failure.
REPLAYS_MAX = 4_000
CANDIDATES_MAX = 1_000
NEIGHBOURS_MAX = 120
#: How many parts of a run are left out, one after the other, to escape from what one failure needs.
CUTS_MAX = 24
ESCAPES_MAX = 8
#: How many steps of one failure are replaced by steps of another.
EXCHANGES_MAX = 4
#: How many failures are told apart in one bucket. More routes to a failure are rather one mistake than many.
FAILURES_MAX = 4
#: How many runs that pass show which lines only the failure executes.
PASSING_MAX = 24


class Sight(msgspec.Struct, frozen=True):
    """What a failing run executed: the edges of the targets while its machine was made, and in each step.

    ``is_compared`` says that a comparison after each step shows the failure, outside the targets, and ``depends_on`` is
    all that decides it, where an oracle knows that.
    """

    tape: _native.Tape
    codes: frozenset[int]
    edges: frozenset[int]
    steps: tuple[frozenset[int], ...]
    is_compared: bool = False
    depends_on: str = ""

    @property
    def before(self) -> frozenset[int]:
        """What the steps before the last executed."""
        return frozenset().union(*self.steps[:-1])

    def has_all_of(self, other: Sight) -> bool:
        """Return whether this run has the rules, faults and edges of another one."""
        return other.codes <= self.codes and other.edges <= self.edges


class Neighbour(msgspec.Struct, frozen=True):
    """A run with one choice changed, or without one step. ``alike`` says that it has the same steps.

    ``before`` says that it was changed before its last step.
    """

    tape: _native.Tape
    passed: bool
    alike: bool
    before: bool
    edges: frozenset[int]


@dataclass(slots=True)
class Form:
    """A minimal failing run. ``failure`` numbers the failure that it shows, and ``lookalike`` the run it comes from."""

    sight: Sight
    failure: int = 0
    lookalike: int = -1
    neighbours: list[Neighbour] | None = field(default=None)


class ToldFailure(msgspec.Struct, frozen=True):
    """A failure of the bucket: the first, or that of the run numbered ``lookalike``. ``count`` counts such runs."""

    tape: _native.Tape
    lookalike: int
    count: int
    name: str


class TellingApart:
    """Compares the failures of one ``bucket``, in ``seconds``. Used once; no other monitor may run meanwhile."""

    def __init__(
        self,
        replayer: Replayer,
        driver: Driver,
        bucketer: Bucketer,
        targets: Sequence[Target],
        bucket: str,
        *,
        seconds: float,
    ) -> None:
        self._replayer = replayer
        self._driver = driver
        self._bucketer = bucketer
        self._targets = targets
        self._compares_all = getattr(driver.definition.cls, "every", 1) == 1
        self._bucket = bucket
        self._deadline = monotonic() + seconds
        self._replays_left = REPLAYS_MAX
        self._watch = Watch(targets)
        self._known: list[Form] = []  # the failures, and other paths to them
        self._counts: list[int] = []  # of lookalikes, by failure

    def run(self, first: _native.Tape, lookalikes: Sequence[_native.Tape]) -> list[ToldFailure]:
        """Return the failures, each with a name of its own: that of the minimal tape ``first``, then the others.

        Empty if ``first`` does not fail alike each time.

        Raises:
            CoreError: other tools leave no way to watch the targets.
            KeyboardInterrupt: Ctrl-C was pressed.
        """
        with self._replayer.adapted(), self._watch.watching():
            form = self._form(first)
            if form is None:
                return []
            self._add(form)
            for number, tape in enumerate(lookalikes):
                if self._is_over or len(self._counts) > FAILURES_MAX:
                    break
                found = self._compared(tape)
                if found is not None:
                    found.lookalike = number
                    self._add(found)
            failures = self._failures()
            passing = [self._passing(form) for form in failures]
        names = [self._name(form, tapes) for form, tapes in zip(failures, passing, strict=True)]
        return [
            ToldFailure(
                form.sight.tape,
                form.lookalike,
                self._counts[form.failure],
                name if name not in names[:at] else f"{name}, {names[:at].count(name) + 1}",
            )
            for at, (form, name) in enumerate(zip(failures, names, strict=True))
        ]

    def _failures(self) -> list[Form]:
        """Return the first form of each failure. So many routes that no step is shared are routes to one mistake."""
        firsts = {form.failure: form for form in reversed(self._known)}
        failures = [firsts[failure] for failure in sorted(firsts)]
        return failures if len(failures) <= FAILURES_MAX else failures[:1]

    def _add(self, form: Form) -> None:
        """Add a form of a failure: of one that is known, if it does not differ from all of them."""
        self._known.append(form)
        sizes = {each.failure: len(each.sight.tape) for each in self._known[:-1]}
        for each in self._known[:-1]:
            sizes[each.failure] = min(sizes[each.failure], len(each.sight.tape))
        for other in self._known[:-1]:
            # A longer path to the same failure has steps that it does not need.
            if len(other.sight.tape) == sizes[other.failure] and not self._differ(form, other):
                form.failure = other.failure
                self._counts[form.failure] += 1
                return
        form.failure = len(self._counts)
        self._counts.append(0 if form.lookalike < 0 else 1)

    def _compared(self, tape: _native.Tape) -> Form | None:
        """Return the minimal form of a lookalike, if it lacks something of all forms that are known."""
        seen = self._look(tape)
        if seen is None:
            return None
        start = self._escaped(seen)
        if start is not None:
            return self._shrunk(start, lambda sight: not any(sight.has_all_of(form.sight) for form in self._known))
        # It has all that a known failure needs. What else its last step executes may be what it fails by.
        extra = seen.steps[-1].difference(*(form.sight.edges for form in self._known))
        return self._shrunk(seen, lambda sight: extra <= sight.edges) if extra else None

    # -- runs ---------------------------------------------------------------------------------------------------------

    @property
    def _is_over(self) -> bool:
        return self._replays_left <= 0 or monotonic() >= self._deadline

    def _run(self, tape: _native.Tape, observer: EdgesByStep | None = None) -> Replayed | None:
        """Return what a replay shows; None if it cannot run."""
        if self._is_over:
            return None
        self._replays_left -= 1
        self._watch.anew()
        try:
            with self._driver.watchdog.until(self._deadline):
                return self._replayer.run(tape, observer)
        except (OrdealError, OutOfTime):
            return None
        except skip_types():
            return None

    def _look(self, tape: _native.Tape) -> Sight | None:
        """Return what a run executes that fails in the bucket; None if it does not."""
        observer = EdgesByStep(self._watch.take)
        replayed = self._run(tape, observer)
        if replayed is None or not falls_into(replayed.bucket, self._bucket) or not observer.parts:
            return None
        made, *steps = observer.parts
        if len(steps) != len(replayed.tape) or not steps:
            return None
        error = replayed.outcome.error
        is_compared = (
            isinstance(error, DivergenceError) and self._compares_all and not self._bucketer.is_in_target(error)
        )
        depends_on = error.depends_on if isinstance(error, DivergenceError) else ""
        codes = optional(replayed.tape.codes())
        return Sight(replayed.tape, codes, made.union(*steps), tuple(steps), is_compared, depends_on)

    def _form(self, tape: _native.Tape) -> Form | None:
        """Return a minimal tape with what it executes each time; None if it does not fail each time."""
        first, again = self._look(tape), self._look(tape)
        if first is None or again is None:
            return None
        # What only ran the first time, to fill a cache or import a module, does not belong to it.
        return Form(msgspec.structs.replace(again, edges=first.edges & again.edges))

    # -- shrinking ----------------------------------------------------------------------------------------------------

    def _escaped(self, seen: Sight) -> Sight | None:
        """Return ``seen`` without some steps, so that it has all parts of no known form; None if there is no way."""
        for _ in range(ESCAPES_MAX):
            form = next((form for form in self._known if seen.has_all_of(form.sight)), None)
            if form is None:
                return seen
            without = self._without(seen, form)
            if without is None:
                return None
            seen = without
        return None

    def _without(self, seen: Sight, form: Form) -> Sight | None:
        """Return the run without some of the steps that have what the form has, if it fails all the same."""
        for cut in _cuts(seen, form.sight):
            found = self._look(seen.tape.subset([at not in cut for at in range(len(seen.tape))]))
            if found is not None and not found.has_all_of(form.sight):
                return found
        return None

    def _shrunk(self, start: Sight, holds: Callable[[Sight], bool]) -> Form | None:
        """Return ``start`` in its minimal form for which ``holds`` is true.

        None if there was no time for it, or if it fails with one step less: then it is a known failure and a detour.
        """

        def is_wanted(replayed: Replayed) -> bool:
            if not falls_into(replayed.bucket, self._bucket):
                return False
            return holds(Sight(replayed.tape, optional(replayed.tape.codes()), self._watch.edges(), ()))

        left = min(CANDIDATES_MAX, self._replays_left)
        seconds = self._deadline - monotonic()
        if left <= 0 or seconds <= 0:
            return None
        shrunk = self._replayer.shrink_while(
            start.tape, is_wanted, seconds, candidates_max=left, prepare=self._watch.anew
        )
        self._replays_left -= shrunk.candidates
        if shrunk.interrupted:
            raise KeyboardInterrupt
        if shrunk.failed_check is not None:
            raise shrunk.failed_check
        form = self._form(shrunk.tape) if shrunk.finished else None
        return None if form is None or self._is_detour(form.sight.tape) else form

    def _is_detour(self, tape: _native.Tape) -> bool:
        """Return whether the failure of ``tape`` stays without one of the steps before the last."""
        for left_out in range(len(tape) - 1):
            replayed = self._run(tape.subset([at != left_out for at in range(len(tape))]))
            if replayed is None or falls_into(replayed.bucket, self._bucket):
                return True
        return False

    # -- judging ------------------------------------------------------------------------------------------------------

    def _differ(self, form: Form, other: Form) -> bool:
        """Return whether two minimal forms show two failures."""
        mine, others = form.sight, other.sight
        if mine.depends_on and mine.depends_on == others.depends_on:
            return False
        if mine.codes != others.codes and (mine.edges <= others.edges or others.edges <= mine.edges):
            return False  # a rule that does all that the other one does
        if _share_most(mine.tape, others.tape):
            return False
        if mine.codes - others.codes and others.codes - mine.codes:
            return not (self._mix(mine, others) or self._end_alike(form, other))
        apart = mine.codes != others.codes
        own = changed_arguments(mine.tape, others.tape)
        matters = self._matters(form, mine.edges - others.edges, apart, own) or self._matters(
            other, others.edges - mine.edges, apart, own
        )
        are_alike = Counter(codes_of(mine.tape)) == Counter(codes_of(others.tape))
        return matters and not (are_alike and self._are_two_of_many(form, other))

    def _are_two_of_many(self, form: Form, other: Form) -> bool:
        """Return whether runs near two failures fail in the same steps, and execute what neither of the two does.

        Then one mistake has many consequences.
        """
        both = (form.sight.edges, other.sight.edges)
        return any(
            not each.passed and each.alike and not any(edges <= each.edges for edges in both)
            for near in (form, other)
            for each in self._near(near)
        )

    def _mix(self, one: Sight, other: Sight) -> bool:
        """Return whether steps that only one of two failures needs can stand for those that only the other needs."""
        for mine, others in ((one, other), (other, one)):
            for tape in _exchanged_tapes(mine, others):
                steps = Counter(codes_of(tape))
                if Counter(codes_of(mine.tape)) <= steps or Counter(codes_of(others.tape)) <= steps:
                    continue
                replayed = self._run(tape)
                if replayed is not None and falls_into(replayed.bucket, self._bucket):
                    return True
        return False

    def _end_alike(self, form: Form, other: Form) -> bool:
        """Return whether the last step of both goes wrong in code that no run nearby executes and passes.

        Each step before was compared, so what is wrong is what this one does, whichever steps prepared it.
        """
        if not (form.sight.is_compared and other.sight.is_compared):
            return False
        if codes_of(form.sight.tape)[-1] != codes_of(other.sight.tape)[-1]:
            return False
        passed = [each.edges for near in (form, other) for each in self._near(near) if each.passed]
        return bool(passed and (form.sight.steps[-1] & other.sight.steps[-1]).difference(*passed))

    def _matters(self, form: Form, edges: frozenset[int], apart: bool, own: frozenset[tuple[int, int]] | None) -> bool:
        """Return whether the failure of a form depends on one of these edges, as far as runs nearby show.

        No run with the same steps takes it and passes, and of those that do not take it more pass than fail. If the
        rules are ``apart``, runs with one step less count as well. ``own`` are the arguments in which the two forms
        differ, if they have the same steps: what another argument does is the same for both, and does not count.
        """
        if not edges:
            return False
        near = self._near(form)
        if any(each.passed and each.alike and each.before for each in near):
            # It goes wrong before the last step, and what that executes may be what came of it.
            edges &= form.sight.before
        suspects = edges.difference(*(each.edges for each in near if each.passed and each.alike))
        for edge in sorted(suspects):
            without = [
                each.passed
                for each in near
                if edge not in each.edges
                and (apart or each.alike)
                and (own is None or (changed_arguments(each.tape, form.sight.tape) or frozenset()) <= own)
            ]
            if sum(without) > len(without) - sum(without):
                return True
        return False

    def _near(self, form: Form) -> list[Neighbour]:
        """Return the runs near a form."""
        if form.neighbours is None:
            form.neighbours = list(self._neighbours(form.sight))
        return form.neighbours

    def _neighbours(self, sight: Sight) -> Iterator[Neighbour]:
        """Yield runs that differ from a failing one in a choice, or lack a step before the last."""
        codes = codes_of(sight.tape)
        for tape, before in changed_tapes(sight.tape, NEIGHBOURS_MAX):
            replayed = self._run(tape)
            if replayed is None or replayed.misaligned:
                continue
            passed = replayed.outcome.status is Status.DONE
            if passed or falls_into(replayed.bucket, self._bucket):
                alike = codes_of(replayed.tape) == codes
                yield Neighbour(tape, passed, alike, before, self._watch.edges())

    # -- names --------------------------------------------------------------------------------------------------------

    def _passing(self, form: Form) -> list[_native.Tape]:
        return [each.tape for each in self._near(form) if each.passed and each.alike][:PASSING_MAX]

    def _name(self, form: Form, passing: Sequence[_native.Tape]) -> str:
        """Return what a failure goes through: the rules and faults before its last step, and a line of its own."""
        *before, last = self._step_names(form.sight.tape)
        parts = list(dict.fromkeys(name for name in before if name))
        if passing:
            lines = self._lines(form.sight.tape).difference(*(self._lines(tape) for tape in passing))
            texts = (f"{Path(file).name}: {untrusted.source_line(file, line)}" for file, line in sorted(lines))
            parts += [next(texts)] if lines else []
        return (", ".join(parts) or last)[: untrusted.NAME_CHARS_MAX]

    def _step_names(self, tape: _native.Tape) -> Iterator[str]:
        """Yield the name of each rule, and of each fault that is switched on; nothing for what every run does."""
        for kind, target, *_rest in tape.steps():
            if kind == FAULT_ON:
                yield f"+{self._driver.faults[target].name}"
            else:
                yield self._driver.definition.rules[target].name if kind == RULE else ""

    def _lines(self, tape: _native.Tape) -> set[tuple[str, int]]:
        """Return the lines that a replay executes, with their files."""
        watch = Watch(self._targets)
        with watch.watching():
            try:
                self._replayer.run(tape)
            except OrdealError:
                return set()
            except skip_types():
                return set()
        return {(file, line) for file, lines in watch.monitor.lines().items() for line in lines}


def _share_most(tape: _native.Tape, other: _native.Tape) -> bool:
    """Return whether two failures of other steps need the same ones for the most part: then these are the mistake."""
    (*mine, last), (*others, other_last) = codes_of(tape), codes_of(other)
    if last != other_last:
        mine, others = [*mine, last], [*others, other_last]
    steps, other_steps = Counter(mine), Counter(others)
    shared = (steps & other_steps).total()
    return steps != other_steps and shared > 2 * max(steps.total() - shared, other_steps.total() - shared)


def _cuts(seen: Sight, form: Sight) -> Iterator[frozenset[int]]:
    """Yield sets of steps before the last: of one rule or fault of a form, and those that execute an edge of it."""
    codes = codes_of(seen.tape)
    last = len(codes) - 1
    cuts: dict[frozenset[int], None] = {}
    for code in sorted(form.codes):
        same = {code, code - FAULT_ON + FAULT_OFF} if code & 7 == FAULT_ON else {code}
        cuts[frozenset(at for at, each in enumerate(codes) if each in same)] = None
    by_edge = {frozenset(at for at, edges in enumerate(seen.steps) if edge in edges) for edge in form.edges}
    for cut in sorted(by_edge, key=lambda each: (len(each), sorted(each))):
        cuts[cut] = None
    yield from [cut for cut in cuts if cut and last not in cut][:CUTS_MAX]


def _exchanged_tapes(one: Sight, other: Sight) -> Iterator[_native.Tape]:
    """Yield the tape of ``one`` with one step that only it needs replaced by one that only ``other`` needs."""
    steps, others = one.tape.steps(), other.tape.steps()
    own = [at for at, code in enumerate(codes_of(one.tape)) if code in one.codes - other.codes]
    theirs = [others[at] for at, code in enumerate(codes_of(other.tape)) if code in other.codes - one.codes]
    for at in own[-EXCHANGES_MAX:]:
        for step in theirs[-EXCHANGES_MAX:]:
            yield _native.Tape.from_steps([*steps[:at], step, *steps[at + 1 :]])
