"""Break each node of a program, in memory or in a sandbox; run any command of tests on it; report why none fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

from ordeal._base.formatting import counted
from ordeal._tools.mutation.dead import never_read, proof, statement_of, unread, unreferenced, words_in
from ordeal._tools.mutation.interpreters import sitecustomize
from ordeal._tools.mutation.interpreters.handing_down import begins_with_ours
from ordeal._tools.mutation.mutants import CHIMP, Mutant, equals_original, mutants_of
from ordeal._tools.mutation.running import judge_with_pytest
from ordeal._tools.mutation.sandbox import NoVerdictError, Sandbox, end_all, sandbox
from ordeal._tools.mutation.saved import project_files
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import DETECTED, Verdict
from ordeal.errors import ConfigError

Label = Literal["killed", "timeout", "DEAD", "DEAD?", "UNCOVERED"]
LABELS: tuple[Label, ...] = ("killed", "timeout", "DEAD", "DEAD?", "UNCOVERED")


@dataclass(frozen=True, slots=True)
class Broken:
    """The verdict on one broken node, and ``why`` it is not killed.

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


def broken_nodes(
    sources: Sequence[Source], command: Sequence[str], seconds: float, folder: Path, progress: Callable[[str], None]
) -> Iterator[Broken]:
    """Break each node, and run the command on it. The files of the program stay as they are.

    ``progress`` is called often, with a text that says how far this is.

    Raises:
        NoVerdictError: the command fails on the unchanged program, or does not use it.
    """
    pairs = [(source, mutant) for source in sources for mutant in mutants_of(source, [CHIMP])]
    dead = {mutant.id for source, mutant in pairs if equals_original(source, mutant)}
    asked = [mutant for _, mutant in pairs if mutant.id not in dead]
    words = words_in(project_files([folder]))
    with sandbox(folder) as here:
        tests = _Command(here, sources, command, seconds)
        judged = _verdicts_in_memory(sources, asked, command, folder, progress)
        if judged is None:
            progress("the command runs on the unchanged program")
            tests.refuse_useless()
        lines = tests.lines() if judged is None else set()
        for done, (source, mutant) in enumerate(pairs):
            progress(f"{done}/{counted(len(pairs), 'node')}")
            verdict = judged.get(mutant.id) if judged is not None else None
            if mutant.id in dead:
                yield Broken(source, mutant, "DEAD", "compiles to the same program")
                continue
            if verdict is None or verdict.word == "not run":
                outcome = tests.run({mutant.shown: mutant.applied(source.text)})
                first, last = mutant.lines
                runs = not lines or any((mutant.shown, line) in lines for line in range(first, last + 1))
            else:
                outcome = "killed" if verdict.word in DETECTED else "passed"
                outcome = "timeout" if verdict.word == "timeout" else outcome
                runs = verdict.word != "uncovered"
            if outcome == "passed":
                yield Broken(source, mutant, *_why(source, mutant, words, runs=runs))
            else:
                yield Broken(source, mutant, outcome)


def _why(source: Source, mutant: Mutant, words: Counter[str], *, runs: bool) -> tuple[Label, str]:
    """Return the word for a broken node that no test noticed, and why."""
    statement = statement_of(source, mutant)
    if name := unreferenced(source, statement, words):
        return "DEAD?", f"nothing else names `{name}`"
    if why := proof(source, mutant, statement):
        return "DEAD", why
    if name := unread(source, mutant, statement):
        return "DEAD?", never_read(name)
    return "UNCOVERED", "no test fails" if runs else "never run"


def _verdicts_in_memory(
    sources: Sequence[Source],
    asked: Sequence[Mutant],
    command: Sequence[str],
    folder: Path,
    progress: Callable[[str], None],
) -> dict[str, Verdict] | None:
    """Return the verdicts of pytest, by the ids of mutants; None where it cannot judge this way."""
    arguments = _arguments(command)
    if arguments is None:
        return None
    done = 0

    def take(_: Verdict) -> None:
        nonlocal done
        done += 1
        progress(f"{done}/{counted(len(asked), 'node')} broken in memory")

    workers = os.cpu_count() or 1
    try:
        found = judge_with_pytest(
            *(sources, asked), tests=arguments, folder=folder, workers=workers, progress=take, beginning=progress
        )
    except NoVerdictError:
        return None  # the slow way reports why, or does not need it
    if found.was_interrupted:
        raise KeyboardInterrupt
    return {each.mutant.id: each for each in found.verdicts}


def _arguments(command: Sequence[str]) -> list[str] | None:
    """Return the arguments of pytest, if the command starts pytest in the interpreter that runs this."""
    name, *rest = command
    program = shutil.which(name)
    if program is None or Path(program).parent != Path(sys.executable).parent:
        return None
    if Path(name).name in ("pytest", "py.test"):
        return rest
    return rest[2:] if Path(name).name.startswith("python") and rest[:2] == ["-m", "pytest"] else None


class _Command:
    """Any command of tests, in a sandbox in which a mutant is written to its file."""

    def __init__(self, here: Sandbox, sources: Sequence[Source], command: Sequence[str], seconds: float) -> None:
        self._here, self._command, self._seconds = here, command, seconds
        self._sources = {source.shown: source for source in sources}
        if shutil.which(command[0]) is None:
            raise ConfigError(f"`{command[0]}` cannot be run: the command does not exist", hint="check `--tests`")

    def refuse_useless(self) -> None:
        """Refuse a command that fails on the unchanged program, or uses another copy of it.

        Raises:
            NoVerdictError: it does.
        """
        outcomes = [self.run({}), self.run({})]
        if outcomes[0] == "killed":
            raise NoVerdictError("the tests fail on the unchanged program", hint="fix them first")
        if outcomes != ["passed", "passed"]:
            raise NoVerdictError("the tests do not pass within `--timeout` each time", hint="give a longer `--timeout`")
        if self.run(dict.fromkeys(self._sources, b"raise SystemError\n")) == "passed":
            raise NoVerdictError(
                "the tests pass although no file of the program can be imported", hint="check `--code`"
            )

    def lines(self) -> set[tuple[str, int]]:
        """Return the lines that the command runs, by the names of the sources; none if it starts no Python."""
        out = self._here.place / "lines"
        seen = {str(Path(self._here.seen(each.path)).resolve()): each.shown for each in self._sources.values()}
        watched = {sitecustomize.LINES: str(out), sitecustomize.WATCHED: "\n".join(sorted(seen))}
        self.run({}, {**begins_with_ours(), **watched})
        rows = [row.split(b" ", 2) for row in out.read_bytes().splitlines()] if out.exists() else []
        return {(seen[os.fsdecode(path)], int(line)) for _, line, path in rows}

    def run(
        self, written: Mapping[str, bytes], more: Mapping[str, str] | None = None
    ) -> Literal["passed", "killed", "timeout"]:
        """Run the command with other texts of some files and more variables, and end all that it started."""
        files = {self._here.seen(self._sources[shown].path): text for shown, text in written.items()}
        process = self._here.start(self._command, more or {}, files)
        try:
            return "killed" if process.wait(self._seconds) else "passed"
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            end_all(process)
            if not self._here.is_isolated:
                for shown in written:
                    Path(self._here.seen(self._sources[shown].path)).write_bytes(self._sources[shown].text)
