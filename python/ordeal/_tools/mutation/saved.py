"""The verdicts of the last run, kept in ``.ordeal/mutate``: to be shown, and to be reused while nothing has changed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from ordeal._base.limits import STATUS_SECONDS
from ordeal._base.regular_file import read_regular
from ordeal._base.trace_file import write_atomically
from ordeal._native import monotonic
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.verdicts import Verdict
from ordeal.errors import ConfigError

_FILE = Path(".ordeal", "mutate", "last.json")
_JUDGE = Path(__file__).parent
_SKIPPED = {".git", ".hg", ".ordeal", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache", "__pycache__"}
_FILES_MAX, _BYTES_MAX = 20_000, 1 << 28


class _Kept(msgspec.Struct):
    """A verdict whose covering tests are kept by number: names would take too much room."""

    verdict: Verdict
    covering: tuple[int, ...]


class Saved(msgspec.Struct):
    """A saved judgement. ``key`` is a digest of all that it depends on; empty if that is too much to read."""

    key: str
    kept: list[_Kept]
    rest: Judgement

    def verdicts(self) -> list[Verdict]:
        """Return the verdicts on the mutants."""
        names = self.rest.names
        return [
            dataclasses.replace(each.verdict, covering=tuple(names[at] for at in each.covering if 0 <= at < len(names)))
            for each in self.kept
        ]

    def judgement(self) -> Judgement:
        """Return the whole judgement."""
        return dataclasses.replace(self.rest, verdicts=self.verdicts())

    def one(self, start: str) -> Verdict:
        """Return the verdict on the mutant whose id begins so.

        Raises:
            ConfigError: there is none, or there are several.
        """
        found = [each for each in self.verdicts() if each.mutant.id.startswith(start)]
        if len(found) != 1:
            what = "no mutant of the last run begins with" if not found else f"{len(found)} mutants begin with"
            raise ConfigError(f"{what} `{start}`", hint="the id is at the end of the first line of each survivor")
        return found[0]


def save(folder: Path, key: str, judgement: Judgement) -> str:
    """Keep a judgement. A folder that cannot be written keeps none: return why, else nothing."""
    try:
        path = folder / _FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(".gitignore").write_text("*\n", "utf-8")
        numbers = {name: number for number, name in enumerate(judgement.names)}
        kept = [
            _Kept(dataclasses.replace(each, covering=()), tuple(numbers[name] for name in each.covering))
            for each in judgement.verdicts
        ]
        # Its duration, and whether it was interrupted, mean nothing for the next run.
        rest = dataclasses.replace(judgement, verdicts=[], seconds=0.0, cpu_seconds=0.0, was_interrupted=False)
        write_atomically(path, msgspec.json.encode(Saved(key, kept, rest)))
    except OSError as error:
        return error.strerror or str(error)
    return ""


class Keeper:
    """Keeps the verdicts of a run once a second, so that they are there if it is killed."""

    def __init__(self, folder: Path, key: str, earlier: Iterable[Verdict]) -> None:
        self._folder, self._key, self._verdicts = folder, key, [*earlier]
        self._judgement = Judgement()
        self._next = monotonic() + STATUS_SECONDS

    def begin(self, judgement: Judgement) -> None:
        """Note how the tests run without a mutant."""
        self._judgement = judgement

    def take(self, verdict: Verdict) -> None:
        """Keep one more."""
        self._verdicts.append(verdict)
        if monotonic() >= self._next:
            save(self._folder, self._key, dataclasses.replace(self._judgement, verdicts=self._verdicts))
            self._next = monotonic() + STATUS_SECONDS


def load(folder: Path) -> Saved | None:
    """Return the last saved judgement; None if there is none, or it cannot be read."""
    try:
        return msgspec.json.decode(read_regular(folder / _FILE, _BYTES_MAX), type=Saved)
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError):
        return None


def standing(saved: Saved | None, key: str) -> list[Verdict]:
    """Return the saved verdicts that still hold: those from the same files, tests, options and distributions.

    A run with a test that did not pass each time has none, and neither has a verdict that a busy machine may change.
    """
    if saved is None or not key or saved.key != key or saved.rest.flaky:
        return []
    unsteady = ("not run", "memory", "crash")
    # A limit of turns, unlike one of time, leaves a note.
    return [each for each in saved.verdicts() if each.word not in unsteady and (each.word != "timeout" or each.note)]


def key_of(folder: Path, mutants: Sequence[Mutant], options: Mapping[str, Any]) -> str:
    """Return a digest of all that verdicts depend on; empty if that is too much to read."""
    digest = hashlib.sha256()
    settings = {
        name: value for name, value in os.environ.items() if name.startswith(("PYTEST", "PYTHON", "HYPOTHESIS"))
    }
    digest.update(json.dumps([options, platform.python_build(), platform.platform(), settings]).encode())
    roots = [folder, *map(Path, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))]
    for each in metadata.distributions():
        digest.update(f"{each.name} {each.version}\n".encode())
        origin = each.read_text("direct_url.json")
        with suppress(ValueError, AttributeError, TypeError):
            found = json.loads(origin or "{}")
            if each.name != "ordeal" and found.get("dir_info", {}).get("editable"):
                roots.append(Path(unquote(urlsplit(found["url"]).path)))
    for mutant in mutants:
        digest.update(mutant.id.encode())
    for path in sorted(_JUDGE.rglob("*.py")):  # a version in development may judge differently each day
        digest.update(path.read_bytes())
    left_files, left_bytes = _FILES_MAX, _BYTES_MAX
    for path in project_files(roots):
        try:
            data = read_regular(path, left_bytes)
        except OSError:
            data = b"unreadable"
        left_files, left_bytes = left_files - 1, left_bytes - len(data)
        if left_files < 0 or left_bytes < 0:
            return ""
        digest.update(f"{path}\0{len(data)}\0".encode(errors="surrogateescape") + data)
    return digest.hexdigest()


def project_files(roots: Sequence[Path]) -> Iterator[Path]:
    """Yield the files below some folders, without those of version control, caches and environments."""
    done: list[Path] = []
    for root in sorted({each.resolve() for each in roots}):
        if any(root.is_relative_to(each) for each in done):
            continue
        done.append(root)
        for place, folders, names in os.walk(root):
            folders[:] = sorted(
                each for each in folders if each not in _SKIPPED and not Path(place, each, "pyvenv.cfg").exists()
            )
            for name in sorted(names):
                path = Path(place, name)
                if path.is_file() and not name.endswith(".pyc"):
                    yield path
