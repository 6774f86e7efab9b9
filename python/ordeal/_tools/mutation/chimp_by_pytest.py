"""The chimp's fast way, where the command of tests is pytest of this interpreter: nodes are broken in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from ordeal._base.formatting import counted
from ordeal._base.interpreter import end, start
from ordeal._tools.mutation.interpreters.handing_down import begins_with_ours
from ordeal._tools.mutation.interpreters.sitecustomize import MUTANT, real_path
from ordeal._tools.mutation.judging import only_these
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import NoVerdictError, judge_with_pytest
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import DETECTED, Verdict
from ordeal.errors import ConfigError

Outcome = Literal["passed", "failed", "late"]
#: What is observed is cut by no limit that holds for a verdict: a busy machine may take so many times as long.
PATIENCE = 4
_NO_MORE: Mapping[str, str] = MappingProxyType({})


def judged(
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
