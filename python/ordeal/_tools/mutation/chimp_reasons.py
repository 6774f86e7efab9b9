"""Why no test notices a broken node: it seems to do nothing, or it never runs, or nobody observes what it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ordeal._base.formatting import counted
from ordeal._tools.mutation.dead import statement_of, stored_only, unreferenced, words_in
from ordeal._tools.mutation.interpreters import sitecustomize
from ordeal._tools.mutation.interpreters.handing_down import begins_with_ours
from ordeal._tools.mutation.interpreters.observations import SEPARATOR
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source

#: So often a node must have run before it is asked whether it does anything at all.
RUNS_MIN = 20
_DIFFERENCE_CHARS, _BEFORE_CHARS = 90, 20

Said = tuple[Literal["DEAD", "DEAD?", "UNCOVERED"], str]
#: Runs the tests that are about a mutant, or all, with it or on the original, and with more variables around them.
Run = Callable[[Mutant | None, bool, Mapping[str, str]], object]
#: How often the lines of a node ran, and what the calls of its function left, by process.
_Seen = tuple[int, list[list[str]]]


class Reasons:
    """What the tests run of the program, and what they observe of single functions.

    ``paths`` are the files that they run, by the names of the sources, and ``texts`` all of the project. Each Python
    that ``run`` starts says what it runs.
    """

    def __init__(
        self, sources: Sequence[Source], paths: Mapping[str, Path], texts: Sequence[Path], place: Path, run: Run
    ) -> None:
        self._paths, self._place, self._run = paths, place, run
        self._originals: dict[tuple[str, tuple[int, int], tuple[int, int]], _Seen | None] = {}
        self._words = words_in(texts)
        self._lines = self._run_lines([paths[source.shown] for source in sources])

    def of(self, source: Source, mutant: Mutant) -> Said:
        """Return the word for a broken node that no test noticed, and why."""
        statement = statement_of(source, mutant)
        name = unreferenced(source, statement, self._words)
        if name:
            return "DEAD?", f"nothing else names `{name}`"
        if stored := stored_only(source, mutant, statement):
            return stored
        path, (first, last) = str(self._paths[source.shown].resolve()), mutant.lines
        if self._lines and not any((path, line) in self._lines for line in range(first, last + 1)):
            return "UNCOVERED", "never run"
        if mutant.function is None or not self._lines:
            return "UNCOVERED", "no test fails"
        return self._observed(source, mutant)

    # Which lines run, and what a function does

    def _run_lines(self, targets: list[Path]) -> set[tuple[str, int]]:
        """Return the lines that the tests run; none where they run no Python that we can ask."""
        out = self._place / "lines"
        watched = "\n".join(sorted(str(each.resolve()) for each in targets))
        more = {sitecustomize.LINES: str(out), sitecustomize.WATCHED: watched}
        self._run(None, False, {**begins_with_ours(), **more})
        found = set()
        for row in out.read_bytes().splitlines() if out.exists() else ():
            _, line, path = row.split(b" ", 2)
            found.add((os.fsdecode(path), int(line)))
        return found

    def _observed(self, source: Source, mutant: Mutant) -> Said:
        assert mutant.function is not None
        key = (source.shown, mutant.function, mutant.lines)
        mutated = self._seen(mutant, is_broken=True)
        if key not in self._originals:
            first, second = self._seen(mutant, is_broken=False), self._seen(mutant, is_broken=False)
            self._originals[key] = first if first == second else None
        original = self._originals[key]
        if original is None:
            return "UNCOVERED", "it runs, and does not do the same each time; no test fails"
        ran, calls = original
        difference = _first_difference(calls, mutated[1])
        if difference:
            return "UNCOVERED", f"ran {_times(ran)}, no test fails: {difference}"
        if ran >= RUNS_MIN:
            same = f"{counted(sum(map(len, calls)), 'call')} returned, raised and changed the arguments as before"
            return "DEAD?", f"ran {_times(ran)}, and {same}"
        return "UNCOVERED", f"ran {_times(ran)}, no test fails"

    def _seen(self, mutant: Mutant, *, is_broken: bool) -> _Seen:
        assert mutant.function is not None
        out = self._place / "observed"
        out.unlink(missing_ok=True)
        place = " ".join(map(str, (*mutant.function, *mutant.lines, self._paths[mutant.shown].resolve())))
        more = {sitecustomize.OBSERVED: str(out), sitecustomize.OBSERVED_AT: place}
        self._run(mutant, is_broken, {**begins_with_ours(), **more})
        ran, calls = 0, dict[str, list[str]]()
        for row in out.read_text("utf-8", "replace").splitlines() if out.exists() else ():
            process, _, what = row.partition(" ")
            if what == "line":
                ran += 1
            else:
                calls.setdefault(process, []).append(what.removeprefix("call "))
        return ran, list(calls.values())


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _first_difference(original: list[list[str]], mutated: list[list[str]]) -> str:
    for ours, theirs in zip(original, mutated, strict=False):
        for was, now in zip(ours, theirs, strict=False):
            if was != now:
                return _shortest(was, now)
        if len(ours) != len(theirs):
            return f"{counted(len(theirs), 'call')}, were {len(ours)}"
    return "" if len(original) == len(mutated) else "other processes call it"


def _shortest(was: str, now: str) -> str:
    """Return the first part in which two calls differ, from a little before where it does."""
    for one, other in zip(was.split(SEPARATOR), now.split(SEPARATOR), strict=False):
        if one != other:
            head = was.partition(" ")[0]
            same = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
            since = 0 if max(len(one), len(other)) <= _DIFFERENCE_CHARS else max(0, same - _BEFORE_CHARS)
            first, second = (_cut(each.removeprefix(f"{head} "), since) for each in (other, one))
            return f"{head}: {first}, was: {second}"
    return "other calls"


def _cut(text: str, since: int) -> str:
    shown = text[since : since + _DIFFERENCE_CHARS]
    return f"{'...' if since else ''}{shown}{'...' if since + len(shown) < len(text) else ''}"
