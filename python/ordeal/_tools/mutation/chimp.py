"""Breaks each node of a program in a copy of its folder, and runs any command of tests on it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal, Protocol

from ordeal._base.formatting import counted, one_line
from ordeal._tools.mutation import chimp_by_pytest
from ordeal._tools.mutation.chimp_by_pytest import PATIENCE, Outcome, run_tests
from ordeal._tools.mutation.chimp_reasons import Reasons
from ordeal._tools.mutation.mutants import CHIMP, Mutant, equals_original, mutants_of
from ordeal._tools.mutation.running import NoVerdictError
from ordeal._tools.mutation.saved import project_files
from ordeal._tools.mutation.source import Source
from ordeal.errors import ConfigError

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
        judged = chimp_by_pytest.judged(sources, mutants, dead, command, folder, progress)
        if judged is None:
            progress("the command runs on the unchanged program")
            tests: Tests = _Copy(sources, command, seconds, folder, Path(place))
            texts = sorted(tests.folder.rglob("*"))
        else:
            tests = chimp_by_pytest.InPlace(judged, sources, command, seconds, folder, Path(place))
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
