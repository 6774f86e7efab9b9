"""Break each node of a program, in memory or in a copy, run any command of tests on it, and say why none fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol

from ordeal._base.formatting import counted, one_line
from ordeal._base.interpreter import end, start
from ordeal._tools.mutation.dead import statement_of, stored_only, unreferenced, words_in
from ordeal._tools.mutation.interpreters import sitecustomize
from ordeal._tools.mutation.interpreters.handing_down import begins_with_ours
from ordeal._tools.mutation.interpreters.observations import SEPARATOR
from ordeal._tools.mutation.interpreters.sitecustomize import MUTANT, real_path
from ordeal._tools.mutation.judging import only_these
from ordeal._tools.mutation.mutants import CHIMP, Mutant, equals_original, mutants_of
from ordeal._tools.mutation.running import NoVerdictError, judge_with_pytest
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


Outcome = Literal["passed", "failed", "late"]
#: What is observed is cut by no limit that holds for a verdict: a busy machine may take so many times as long.
PATIENCE = 4
_NO_MORE: Mapping[str, str] = MappingProxyType({})


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


class InPlace:
    """The tests of pytest where they are: what begins with our ``sitecustomize`` imports a mutant from memory."""

    def __init__(
        self,
        verdicts: Mapping[str, Verdict],
        sources: Sequence[Source],
        command: Sequence[str],
        seconds: float,
        folder: Path,
        place: Path,
    ) -> None:
        self.folder = folder
        self._verdicts, self._command, self._seconds, self._place = verdicts, command, seconds, place
        self._sources = {source.shown: source for source in sources}

    def say_of(self, mutant: Mutant) -> Outcome:
        """Return what they said."""
        verdict = self._verdicts[mutant.id]
        if verdict.word == "not run":
            return self.run(mutant, True, _NO_MORE)
        if verdict.word == "timeout":
            return "late"
        return "failed" if verdict.word in DETECTED else "passed"

    def run(self, mutant: Mutant | None, is_broken: bool, more: Mapping[str, str]) -> Outcome:
        """Run the tests that execute a mutant, or all."""
        found, command = {**begins_with_ours(), **more}, [*self._command, "-o", f"cache_dir={self._place / 'cache'}"]
        covering = self._verdicts[mutant.id].covering if mutant is not None else ()
        if covering:
            names = self._place / "names"
            names.write_text("\n".join(covering), "utf-8")
            found[only_these.NAMES] = str(names)
            command += ["-p", only_these.__name__]
        if mutant is not None and is_broken:
            source, text = self._sources[mutant.shown], self._place / "mutant"
            text.write_bytes(os.fsencode(real_path(str(source.path))) + b"\n" + mutant.applied(source.text))
            found[MUTANT] = str(text)
        return run_tests(command, self.folder, self._seconds * (PATIENCE if more else 1), found)


def run_tests(command: Sequence[str], folder: Path, seconds: float, more: Mapping[str, str] = _NO_MORE) -> Outcome:
    """Run a command of tests in a folder, and end all that it started. ``late`` is one that takes longer.

    Raises:
        ConfigError: it cannot be run.
    """
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", **more}
    try:
        process = start(command, folder=folder, environment=environment)
    except OSError as error:
        raise ConfigError(f"`{command[0]}` cannot be run: {error.strerror}", hint="check `--tests`") from None
    try:
        return "failed" if process.wait(seconds) else "passed"
    except subprocess.TimeoutExpired:
        return "late"
    finally:
        end(process)


_NOT_COPIED = shutil.ignore_patterns(".git", "__pycache__", "*.pyc", ".ordeal", ".pytest_cache", ".hypothesis")
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
    """Break each node, and run the command on it. The program is not written: that happens in memory, or in a copy.

    ``progress`` is told, often, how far this is.

    Raises:
        NoVerdictError: the command fails on the unchanged program, or does not use it.
    """
    with tempfile.TemporaryDirectory(prefix="ordeal-chimp-") as place:
        mutants = {source.shown: mutants_of(source, [CHIMP]) for source in sources}
        dead = {each.id for source in sources for each in mutants[source.shown] if equals_original(source, each)}
        judged = verdicts_in_memory(sources, mutants, dead, command, folder, progress)
        if judged is None:
            progress("the command runs on the unchanged program")
            tests: Tests = _Copy(sources, command, seconds, folder, Path(place))
            texts = sorted(tests.folder.rglob("*"))
        else:
            tests = InPlace(judged, sources, command, seconds, folder, Path(place))
            texts = list(project_files([folder]))
        paths = {source.shown: tests.folder / source.path.relative_to(folder) for source in sources}
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
                    reasons = reasons or Reasons(sources, paths, texts, Path(place), tests.run)
                    yield Broken(source, mutant, *reasons.of(source, mutant))
                else:
                    yield Broken(source, mutant, "killed" if said == "failed" else "timeout")


def _not_copied(folder: str, names: list[str]) -> set[str]:
    """Return what is left out of a copy: caches, and what is neither a file nor a folder, such as a socket."""
    paths = {name: Path(folder, name) for name in names}
    special = {name for name, path in paths.items() if not (path.is_symlink() or path.is_file() or path.is_dir())}
    return _NOT_COPIED(folder, names) | special


class Tests(Protocol):
    """The tests, and the folder that holds the program that they run."""

    folder: Path

    def say_of(self, mutant: Mutant) -> Outcome:
        """Return what they say of a mutant."""

    def run(self, mutant: Mutant | None, is_broken: bool, more: Mapping[str, str]) -> object:
        """Run those that are about a mutant, or all, with the mutant or on the original."""


class _Copy:
    """Any command, in a copy of the folder of the program: each mutant is written there."""

    def __init__(
        self, sources: Sequence[Source], command: Sequence[str], seconds: float, folder: Path, place: Path
    ) -> None:
        self.folder = place / "copy"
        self._command, self._seconds = command, seconds
        try:
            shutil.copytree(folder, self.folder, ignore=_not_copied, symlinks=True)
        except OSError as error:  # one error of `copytree` stands for several
            first = error.args[0][0] if isinstance(error, shutil.Error) and error.args[0] else None
            what = f"{first[0]}: {first[2]}" if first else error.strerror or str(error)
            raise NoVerdictError(
                f"the current folder cannot be copied: {one_line(what)}", hint="run it from the folder of the program"
            ) from None
        _refuse_links_out(sources, folder, self.folder)
        if run_tests(command, self.folder, seconds) == "failed":
            raise NoVerdictError("the tests fail on the unchanged program", hint="mend them first")
        _refuse_unused(sources, command, seconds, folder, self.folder)
        self._files = {source.shown: (source, self.folder / source.path.relative_to(folder)) for source in sources}
        self._written: Mutant | None = None

    def say_of(self, mutant: Mutant) -> Outcome:
        """Write it, and run the command."""
        return self.run(mutant, True, {})

    def run(self, mutant: Mutant | None, is_broken: bool, more: Mapping[str, str]) -> Outcome:
        """Run the command."""
        self._put(mutant if is_broken else None)
        return run_tests(self._command, self.folder, self._seconds * (PATIENCE if more else 1), more)

    def _put(self, mutant: Mutant | None) -> None:
        before = self._written
        if before is not None and before != mutant:
            source, path = self._files[before.shown]
            path.write_bytes(source.path.read_bytes())
        if mutant is not None and before != mutant:
            source, path = self._files[mutant.shown]
            path.write_bytes(mutant.applied(source.text))
        self._written = mutant


def _refuse_links_out(sources: Sequence[Source], folder: Path, copy: Path) -> None:
    """Refuse files of which the copy is a link to what is outside: writing there would write the user's own."""
    inside = copy.resolve()
    for source in sources:
        if not (copy / source.path.relative_to(folder)).resolve().is_relative_to(inside):
            raise ConfigError(
                f"`{source.shown}` is, or lies behind, a link that leads out of the folder",
                hint="name the folder that it leads to with `--code`, or leave it out with `--exclude`",
            )


def _refuse_unused(sources: Sequence[Source], command: Sequence[str], seconds: float, folder: Path, copy: Path) -> None:
    """Refuse where the tests pass although no file can be imported: they use another copy of the program."""
    if run_tests(command, copy, seconds) != "passed":
        raise NoVerdictError("the tests do not pass within `--timeout` each time", hint="give them longer")
    targets = [copy / source.path.relative_to(folder) for source in sources]
    for target in targets:
        target.write_text("raise SystemError\n", "utf-8")
    said = run_tests(command, copy, seconds)
    for target, source in zip(targets, sources, strict=True):
        target.write_bytes(source.path.read_bytes())
    if said == "passed":
        raise NoVerdictError("the tests pass although no file of the program can be imported", hint="check `--code`")
