"""Finds a saved failure by a short name: its id, the hash of its seed, or its file; without a name the last one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from ordeal._base.limits import FILES_MAX, LISTED_MAX
from ordeal._base.trace_file import LINE, Trace
from ordeal._engine.execution.bucket import place_of
from ordeal._engine.seed_corpus.paths import seed_name, seed_paths
from ordeal.errors import ConfigError, OrdealError
from ordeal.result.failure import failure_id

_SUFFIXES = (".json", ".gz", ".zst", ".zip")


@dataclass(frozen=True, slots=True)
class SavedFailure:
    """A file with the names by which it can be meant: ids of its failure, and the hash of a seed."""

    path: Path
    names: tuple[str, ...]
    test_class: str


def find_failure(name: str | None, traces_dirs: Iterable[Path], corpus_dirs: Iterable[Path]) -> Path:
    """Return the file of the saved failure ``name``, or of the last one that was saved.

    A name that is a path, or the line of a trace, is returned as it is. If an id has several files, the newest counts.

    Raises:
        ConfigError: nothing is saved, no failure has this id, or failures of several classes have it.
    """
    is_path = name is not None and ("/" in name or "\\" in name or name.startswith(LINE) or name.endswith(_SUFFIXES))
    if name is not None and (is_path or Path(name).is_file()):
        return Path(name)
    files = _files(traces_dirs, corpus_dirs)
    if name is None:
        if not files:
            raise ConfigError("no failure is saved here", hint="`ordeal explore` saves those that it finds")
        return files[0]
    saved = list(_read(files[:FILES_MAX]))
    found = [each for each in saved if name in each.names] or [
        each for each in saved if name and any(known.startswith(name) for known in each.names)
    ]
    if not found:
        ids = list(dict.fromkeys(each.names[0] for each in saved if each.names))
        hint = "nothing is saved here: `ordeal explore` saves what it finds, and a path names any other trace"
        if ids:
            more = f" and {len(ids) - LISTED_MAX} more" if len(ids) > LISTED_MAX else ""
            hint = f"saved here, the newest first: {', '.join(ids[:LISTED_MAX])}{more}"
        if close := get_close_matches(name, [known for each in saved for known in each.names], n=1, cutoff=0.5):
            hint = f"did you mean `{close[0]}`?"
        raise ConfigError(f"no saved failure has the id `{name}`", hint=hint)
    several = {(each.names[0], each.test_class) for each in found}
    if len(several) > 1:
        listed = ", ".join(str(each.path) for each in found[:LISTED_MAX])
        raise ConfigError(f"`{name}` may be one of {len(several)} failures", hint=f"name its file: {listed}")
    return found[0].path


def saved_failures(traces_dirs: Iterable[Path], corpus_dirs: Iterable[Path]) -> list[SavedFailure]:
    """Return the saved failures that can be read, the newest first."""
    return list(_read(_files(traces_dirs, corpus_dirs)[:FILES_MAX]))


def _files(traces_dirs: Iterable[Path], corpus_dirs: Iterable[Path]) -> list[Path]:
    """Return the files of saved failures, the newest first."""
    # The traces of several classes are in a folder for each.
    patterns = ("fail-*.json*", "*/fail-*.json*")
    paths = [path for folder in traces_dirs for pattern in patterns for path in folder.glob(pattern)]
    paths += [path for folder in corpus_dirs for path in seed_paths(folder)]
    times = {}
    for path in paths:
        with suppress(OSError):
            times[path] = path.stat().st_mtime_ns
    return sorted(times, key=lambda path: (times[path], str(path)), reverse=True)


def _read(paths: Sequence[Path]) -> Iterable[SavedFailure]:
    """Yield the files that can be read; a replay of the others says what is wrong with them."""
    for path in paths:
        with suppress(OrdealError):
            trace = Trace.load(path)
            bucket = "" if trace.failure is None else trace.failure.bucket
            ids = dict.fromkeys(failure_id(each) for each in (bucket, place_of(bucket)) if each)
            own = seed_name(path)
            yield SavedFailure(path, (*ids, own.removeprefix("fail-").removeprefix("seed-"), own), trace.test_class)
