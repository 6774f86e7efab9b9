"""Breaks each node of a program in a copy of its folder, and runs any command of tests on it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Literal

from ordeal._engine.mutation.chimp_reasons import NO_MORE, Reasons
from ordeal._engine.mutation.mutants import CHIMP, Mutant, equals_original, mutants_of
from ordeal._engine.mutation.running import NoVerdictError
from ordeal._engine.mutation.source import Source
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


def broken_nodes(sources: Sequence[Source], command: Sequence[str], seconds: float, folder: Path) -> Iterator[Broken]:
    """Break each node and run the command in a copy of ``folder``, which is never written itself.

    Raises:
        NoVerdictError: the command fails on the unchanged copy, or does not use the program.
    """
    with tempfile.TemporaryDirectory(prefix="ordeal-chimp-") as place:
        copy = Path(place, "copy")
        shutil.copytree(folder, copy, ignore=_NOT_COPIED, symlinks=True)
        _refuse_links_out(sources, folder, copy)
        if _run(command, copy, seconds) != "failed":
            _refuse_unused(sources, command, seconds, folder, copy)
        else:
            raise NoVerdictError("the tests fail on the unchanged program", hint="mend them first")
        run = partial(_run, command, copy, seconds)
        reasons = Reasons(sources, folder, copy, Path(place), run)
        for source in sources:
            target = copy / source.path.relative_to(folder)
            for mutant in mutants_of(source, [CHIMP]):
                if equals_original(source, mutant):
                    yield Broken(source, mutant, "DEAD", "compiles to the same program")
                    continue
                target.write_bytes(mutant.applied(source.text))
                said = run()
                if said == "passed":
                    yield Broken(source, mutant, *reasons.of(source, mutant, target))
                else:
                    yield Broken(source, mutant, "killed" if said == "failed" else "timeout")
            target.write_bytes(source.path.read_bytes())


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
    if _run(command, copy, seconds) != "passed":
        raise NoVerdictError("the tests do not pass within `--timeout` each time", hint="give them longer")
    targets = [copy / source.path.relative_to(folder) for source in sources]
    for target in targets:
        target.write_text("raise SystemError\n", "utf-8")
    said = _run(command, copy, seconds)
    for target, source in zip(targets, sources, strict=True):
        target.write_bytes(source.path.read_bytes())
    if said == "passed":
        raise NoVerdictError("the tests pass although no file of the program can be imported", hint="check `--code`")


def _run(
    command: Sequence[str], folder: Path, seconds: float, more: Mapping[str, str] = NO_MORE
) -> Literal["passed", "failed", "late"]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", **more}
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
    except OSError as error:
        raise ConfigError(f"`{command[0]}` cannot be run: {error.strerror}", hint="check `--tests`") from None
    try:
        return "failed" if process.wait(seconds) else "passed"
    except subprocess.TimeoutExpired:
        return "late"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
