"""Break each node of a program, in memory or in a sandbox, run any command of tests on it; say why none fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from ordeal._base.formatting import counted
from ordeal._tools.mutation.dead import proof, statement_of, unread, unreferenced, words_in
from ordeal._tools.mutation.interpreters import sitecustomize
from ordeal._tools.mutation.interpreters.handing_down import begins_with_ours
from ordeal._tools.mutation.interpreters.observations import SEPARATOR
from ordeal._tools.mutation.judging import only_these
from ordeal._tools.mutation.mutants import CHIMP, Mutant, equals_original, mutants_of
from ordeal._tools.mutation.running import judge_with_pytest
from ordeal._tools.mutation.sandbox import NoVerdictError, Sandbox, end_all, sandbox
from ordeal._tools.mutation.saved import project_files
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import DETECTED, Verdict
from ordeal.errors import ConfigError

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
        if why := proof(source, mutant, statement):
            return "DEAD", why
        if name := unread(source, mutant, statement):
            return "DEAD?", f"`{name}` is stored and never read"
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


Outcome = Literal["passed", "failed", "late"]
#: What is observed is cut by no limit that holds for a verdict: a busy machine may take so many times as long.
PATIENCE = 4
_NO_MORE: Mapping[str, str] = MappingProxyType({})
_NO_FILES: Mapping[str, bytes] = MappingProxyType({})


def verdicts_in_memory(
    sources: Sequence[Source],
    mutants: Mapping[str, Sequence[Mutant]],
    dead: Collection[str],
    command: Sequence[str],
    folder: Path,
    progress: Callable[[str], None],
) -> dict[str, Verdict] | None:
    """Return the verdicts of pytest, by the ids of mutants; None where it cannot judge this way.

    ``progress`` is told how far they are.
    """
    arguments = _arguments(command)
    if arguments is None:
        return None
    asked = [each for source in sources for each in mutants[source.shown] if each.id not in dead]
    workers = os.cpu_count() or 1
    done = 0

    def take(_: Verdict) -> None:
        nonlocal done
        done += 1
        progress(f"{done}/{counted(len(asked), 'node')} broken in memory")

    try:
        found = judge_with_pytest(
            *(sources, asked), tests=arguments, folder=folder, workers=workers, progress=take, beginning=progress
        )
    except NoVerdictError:
        return None  # the slow way says why, or can do without
    if found.was_interrupted:
        raise KeyboardInterrupt
    return {each.mutant.id: each for each in found.verdicts}


def _arguments(command: Sequence[str]) -> list[str] | None:
    """Return what pytest is given, if the command starts pytest in the interpreter that runs this."""
    name, *rest = command
    program = shutil.which(name)
    if program is None or Path(program).parent != Path(sys.executable).parent:
        return None
    if Path(name).name in ("pytest", "py.test"):
        return rest
    return rest[2:] if Path(name).name.startswith("python") and rest[:2] == ["-m", "pytest"] else None


class Command:
    """Any command of tests, in a sandbox in which a mutant is written to its file.

    ``verdicts`` are those of pytest in memory, if it could judge there: they say which tests are about a mutant.
    """

    def __init__(
        self,
        here: Sandbox,
        verdicts: Mapping[str, Verdict],
        sources: Sequence[Source],
        command: Sequence[str],
        seconds: float,
    ) -> None:
        self._here, self._verdicts, self._command, self._seconds = here, verdicts, command, seconds
        self._sources = {source.shown: source for source in sources}
        if shutil.which(command[0]) is None:
            raise ConfigError(f"`{command[0]}` cannot be run: there is no such command", hint="check `--tests`")

    def refuse_useless(self) -> None:
        """Refuse a command that fails on the unchanged program, or uses another copy of it.

        Raises:
            NoVerdictError: it does.
        """
        said = [self._run(), self._run()]
        if said[0] == "failed":
            raise NoVerdictError("the tests fail on the unchanged program", hint="mend them first")
        if said != ["passed", "passed"]:
            raise NoVerdictError("the tests do not pass within `--timeout` each time", hint="give them longer")
        if self._run(dict.fromkeys(self._sources, b"raise SystemError\n")) == "passed":
            raise NoVerdictError(
                "the tests pass although no file of the program can be imported", hint="check `--code`"
            )

    def say_of(self, mutant: Mutant) -> Outcome:
        """Return what the tests say of a mutant."""
        verdict = self._verdicts.get(mutant.id)
        if verdict is None or verdict.word == "not run":
            return self.run(mutant, True, _NO_MORE)
        if verdict.word == "timeout":
            return "late"
        return "failed" if verdict.word in DETECTED else "passed"

    def run(self, mutant: Mutant | None, is_broken: bool, more: Mapping[str, str]) -> Outcome:
        """Run the tests that execute a mutant, or all, with the mutant or on the original."""
        found, options = dict(more), list[str]()
        covering = self._verdicts[mutant.id].covering if mutant is not None and mutant.id in self._verdicts else ()
        if covering:
            names = self._here.place / "names"
            names.write_text("\n".join(covering), "utf-8")
            found[only_these.NAMES] = str(names)
            options = ["-p", only_these.__name__]
        written = {}
        if mutant is not None and is_broken:
            written = {mutant.shown: mutant.applied(self._sources[mutant.shown].text)}
        return self._run(written, found, options)

    def _run(
        self, written: Mapping[str, bytes] = _NO_FILES, more: Mapping[str, str] = _NO_MORE, options: Sequence[str] = ()
    ) -> Outcome:
        """Run the command with other texts of some files, and end all that it started."""
        files = {self._here.seen(self._sources[shown].path): text for shown, text in written.items()}
        process = self._here.start([*self._command, *options], more, files)
        try:
            return "failed" if process.wait(self._seconds * (PATIENCE if more else 1)) else "passed"
        except subprocess.TimeoutExpired:
            return "late"
        finally:
            end_all(process)
            if not self._here.is_isolated:
                for shown in written:
                    Path(self._here.seen(self._sources[shown].path)).write_bytes(self._sources[shown].text)


Label = Literal["killed", "timeout", "DEAD", "DEAD?", "UNCOVERED"]
LABELS: tuple[Label, ...] = ("killed", "timeout", "DEAD", "DEAD?", "UNCOVERED")


@dataclass(frozen=True, slots=True)
class Broken:
    """What the tests said of one broken node, and ``why`` it is not killed.

    DEAD cannot matter. UNCOVERED passes all tests. DEAD? does so as well, and seems to do nothing: that is a question.
    """

    source: Source
    mutant: Mutant
    label: Label
    why: str = ""


def chimp_sources(code: str, exclude: Sequence[str], folder: Path) -> list[Source]:
    """Return the files below ``code``, without hidden ones and those that a pattern names as ``code/...``."""
    root = folder / code
    if not root.is_dir():
        raise ConfigError(f"`--code` is `{code}`, not a folder", hint="name the folder of the program, such as `.`")
    found = []
    for path in sorted(root.rglob("*.py")):
        inner = path.relative_to(root)
        named = f"{code.rstrip('/')}/{inner.as_posix()}"
        hidden = any(part.startswith(".") for part in inner.parts)
        if not hidden and not any(fnmatch(named, pattern) for pattern in exclude):
            found.append(Source.of(path, inner.as_posix() if code == "." else named))
    return found


def _say_nothing(_text: str) -> None:
    """Tell nobody."""


def broken_nodes(
    sources: Sequence[Source],
    command: Sequence[str],
    seconds: float,
    folder: Path,
    progress: Callable[[str], None] = _say_nothing,
) -> Iterator[Broken]:
    """Break each node, and run the command on it. The program is not written: that happens in memory, or in a sandbox.

    ``progress`` is told, often, how far this is.

    Raises:
        NoVerdictError: the command fails on the unchanged program, or does not use it.
    """
    with sandbox(folder) as here:
        mutants = {source.shown: mutants_of(source, [CHIMP]) for source in sources}
        dead = {each.id for source in sources for each in mutants[source.shown] if equals_original(source, each)}
        judged = verdicts_in_memory(sources, mutants, dead, command, folder, progress)
        tests = Command(here, judged or {}, sources, command, seconds)
        if judged is None:
            progress("the command runs on the unchanged program")
            tests.refuse_useless()
        texts = list(project_files([folder]))
        paths = {source.shown: Path(here.seen(source.path)) for source in sources}
        reasons: Reasons | None = None
        done, total = 0, sum(map(len, mutants.values()))
        for source in sources:
            for mutant in mutants[source.shown]:
                progress(f"{done}/{counted(total, 'node')}")
                done += 1
                if mutant.id in dead:
                    yield Broken(source, mutant, "DEAD", "compiles to the same program")
                    continue
                said = tests.say_of(mutant)
                if said == "passed":
                    reasons = reasons or Reasons(sources, paths, texts, here.place, tests.run)
                    yield Broken(source, mutant, *reasons.of(source, mutant))
                else:
                    yield Broken(source, mutant, "killed" if said == "failed" else "timeout")
