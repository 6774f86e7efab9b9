"""Compares two versions by the same traces: the first step of each that differs, by what differs, and the shortest run.

This process runs no code of the user's: each version runs in a separate interpreter.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.interpreter import answer_of
from ordeal._base.limits import LISTED_MAX
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.class_path import is_trusted
from ordeal._tools.compare.seen import Answer, SeenRun, SeenStep
from ordeal.errors import ConfigError

RUNS = 2000
#: How many runs of each difference are made again, to see whether chance decides: the shortest.
CHECKED = 3
#: How long the runs of a version may take on a busy computer: rules have limits, so that none of them hangs.
_GRACE_SECONDS = 600.0
#: An index or a key within the path of a part of the state.
_KEY = re.compile(r"\[(?:'[^']*'|\"[^\"]*\"|[^\]]*)\]")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a program.

    Attributes:
        folder: where its machine runs.
        paths: where its modules are found first.
        other_folder: a folder from which no module may come, as it holds another version; empty for none.
    """

    name: str
    folder: Path
    paths: tuple[Path, ...]
    other_folder: str = ""

    def asked(self, request: dict[str, Any], seconds: float) -> Answer:
        """Return what this version answers.

        Raises:
            ConfigError: it cannot run the class, or its process hung or ended.
        """
        request |= {"path": [*map(str, self.paths), *sys.path], "other_folder": self.other_folder}
        request["trusted"] = is_trusted(request["class"])
        # A fixed hash seed gives sets the same order in both versions. A release may be of a package that ordeal itself
        # imports.
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(self.paths[0])}
        try:
            data = answer_of(
                "ordeal._tools.compare.child",
                request,
                seconds=seconds + _GRACE_SECONDS,
                folder=self.folder,
                environment=environment,
            )
            # The texts of errors name files, and the folders of two versions differ.
            answer = msgspec.json.decode(data.replace(str(self.folder).encode(), b"."), type=Answer)
        except (OSError, ValueError) as error:
            hint = f"`ordeal explore {request['class']}` shows what ends it"
            raise ConfigError(f"`{request['class']}` cannot run on {self.name}: {error}", hint=hint) from None
        if answer.error:
            raise ConfigError(f"`{request['class']}` cannot run on {self.name}: {answer.error}", hint=answer.hint)
        return answer


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """The first step in which two versions differ in a run.

    Attributes:
        kind: ``result``, ``error``, ``state``, ``inside`` for attributes that belong to the program alone, or ``call``
            where the versions do not draw the same.
        what: the attribute of the state that differs, keys as ``*``; empty for other kinds.
        calls: the calls until then.
        old, new: what the versions returned, raised or held.
    """

    test_class: str
    kind: str
    name: str
    what: str
    calls: tuple[str, ...]
    old: str
    new: str

    @property
    def group(self) -> tuple[str, ...]:
        """What makes two differences one."""
        return self.test_class, self.kind, self.name, self.what


@dataclass(slots=True)
class Compared:
    """What a comparison has found, and of how many runs.

    Attributes:
        unsteady: the number of differing runs that are another on one version alone.
        inside: the places of differences in attributes whose names begin with an underscore, with nothing else to see.
    """

    differences: list[VersionDifference] = field(default_factory=list)
    runs: int = 0
    unsteady: int = 0
    inside: list[str] = field(default_factory=list)


def compare(
    old: Version,
    new: Version,
    class_path: str,
    targets: Sequence[str],
    kept: Iterable[Trace],
    *,
    seed: int,
    seconds: float,
) -> Compared:
    """Compare two versions by ``kept`` traces of a class and by those that a short search on each of them draws.

    Raises:
        ConfigError: the class cannot run on one of them.
    """
    request = {"class": class_path, "targets": list(targets), "seed": seed, "runs": RUNS, "seconds": seconds}
    texts = [each.to_json().decode() for each in kept if each.test_class == class_path and not each.is_schedule]
    for version, other_seed in ((old, 0), (new, RUNS)):
        texts += version.asked(request | {"seed": seed + other_seed}, seconds).traces
    texts = [*dict.fromkeys(texts)]
    if not texts:
        raise ConfigError(f"no run of `{class_path}` finished", hint=f"run `ordeal doctor {class_path}`")
    pair = _Pair(old, new, class_path, seconds)
    found = Compared(runs=len(texts))
    found_first = [*zip(texts, pair.differences(texts), strict=True)]
    found.inside = [each.what for _, each in found_first if each is not None and each.kind == "inside"]
    differing = [(text, each) for text, each in found_first if each is not None and each.kind != "inside"]
    tried = Counter[tuple[str, ...]]()
    texts = []
    for text, differs in sorted(differing, key=lambda pair: len(pair[1].calls)):
        tried[differs.group] += 1
        if tried[differs.group] <= CHECKED:
            texts.append(_cut(Trace.from_json(text.encode()), len(differs.calls)).to_json().decode())
    shortest: dict[tuple[str, ...], tuple[str, VersionDifference]] = {}
    for text, each in zip(texts, pair.steady(texts), strict=True):
        if each is None or each.kind == "inside":
            found.unsteady += 1
        elif each.group not in shortest or len(each.calls) < len(shortest[each.group][1].calls):
            shortest[each.group] = text, each
    found.differences = pair.shrunk([*shortest.values()][:LISTED_MAX])
    return found


class _Pair:
    """Two versions that run the same traces of one class."""

    def __init__(self, old: Version, new: Version, class_path: str, seconds: float) -> None:
        self._old, self._new = old, new
        self._class, self._seconds = class_path, seconds

    def differences(self, texts: Sequence[str]) -> list[VersionDifference | None]:
        """Return where the versions first differ, trace by trace."""
        return self._compared(self._runs(self._old, texts), self._runs(self._new, texts))

    def steady(self, texts: Sequence[str]) -> list[VersionDifference | None]:
        """Return the differences without those of traces that do not do the same twice on one version."""
        (old, old_again), (new, new_again) = (
            (self._runs(version, texts), self._runs(version, texts)) for version in (self._old, self._new)
        )
        found = self._compared(old, new)
        for alone in (self._compared(old, old_again), self._compared(new, new_again)):
            found = [None if _is_chance(*pair) else pair[0] for pair in zip(found, alone, strict=True)]
        return found

    def shrunk(self, found: Sequence[tuple[str, VersionDifference]]) -> list[VersionDifference]:
        """Return differences with the fewest steps that still show them: steps that nothing needs are left out."""
        left = [(_cut(Trace.from_json(text.encode()), len(each.calls)), each) for text, each in found]
        while True:
            tries = [(number, shorter) for number, (trace, _) in enumerate(left) for shorter in _shorter(trace)]
            seen = self.differences([trace.to_json().decode() for _, trace in tries]) if tries else []
            better = dict[int, tuple[Trace, VersionDifference]]()
            for (number, trace), each in zip(tries, seen, strict=True):
                if each is None or each.group != left[number][1].group:
                    continue
                least = len(better[number][1].calls) if number in better else len(left[number][1].calls)
                if len(each.calls) < least:
                    better[number] = _cut(trace, len(each.calls)), each
            if not better:
                return [each for _, each in left]
            left = [better.get(number, pair) for number, pair in enumerate(left)]

    def _compared(self, old: Sequence[SeenRun], new: Sequence[SeenRun]) -> list[VersionDifference | None]:
        return [first_difference(self._class, *runs) for runs in zip(old, new, strict=True)]

    def _runs(self, version: Version, texts: Sequence[str]) -> list[SeenRun]:
        if not texts:
            return []
        return version.asked({"class": self._class, "traces": list(texts)}, self._seconds).runs


def _is_chance(found: VersionDifference | None, alone: VersionDifference | None) -> bool:
    """Return True if a version differs from itself where the versions differ, or before."""
    if found is None or alone is None or (alone.kind == "inside" and found.kind != "inside"):
        return False
    return len(alone.calls) <= len(found.calls)


def _cut(trace: Trace, steps: int) -> Trace:
    return replace(trace, steps=trace.taken_steps()[:steps], failure=None)


def _shorter(trace: Trace) -> list[Trace]:
    """Return traces that lack a part: halves, quarters and so on down to single steps. The last step stays."""
    steps, found = trace.steps, list[Trace]()
    last, size = len(steps) - 1, len(steps) // 2
    while size:
        parts = ((start, min(start + size, last)) for start in range(0, last, size))
        found += (replace(trace, steps=[*steps[:start], *steps[end:]]) for start, end in parts)
        size //= 2
    return found


def first_difference(class_path: str, old: SeenRun, new: SeenRun) -> VersionDifference | None:
    """Return the first step in which two runs of a trace differ; None where they do the same.

    What a program keeps to itself is named if nothing else differs: a release may rename all of it and do the same.
    """
    inside = None
    for number in range(max(len(old.steps), len(new.steps))):
        one, other = _step(old, number), _step(new, number)
        calls = tuple(each.call for each in (new if len(new.steps) > number else old).steps[: number + 1])
        if one is None or other is None or one.call != other.call:
            # The step before was the same: what is drawn from it is not.
            return VersionDifference(
                class_path, "call", (one or other or _NOTHING).name, "", calls, _call(one), _call(other)
            )
        if one.error != other.error:
            kind = (one.error or other.error).partition(":")[0]
            shown = one.error or f"returns {one.result or None}", other.error or f"returns {other.result or None}"
            return VersionDifference(class_path, "error", one.name, kind, calls, *shown)
        if one.result != other.result:
            return VersionDifference(class_path, "result", one.name, "", calls, one.result, other.result)
        for path, before, after in _other_parts(one, other):
            what, shown = _KEY.sub("[*]", path), (f"{path} = {before}", f"{path} = {after}")
            if "._" not in what:
                return VersionDifference(class_path, "state", one.name, what, calls, *shown)
            inside = inside or VersionDifference(class_path, "inside", one.name, what, calls, *shown)
    return inside


_NOTHING = SeenStep("", "", "")


def _step(run: SeenRun, number: int) -> SeenStep | None:
    return run.steps[number] if number < len(run.steps) else None


def _call(step: SeenStep | None) -> str:
    return "the run has ended" if step is None else step.call


def _other_parts(one: SeenStep, other: SeenStep) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield each part of the state that two steps leave in another way, with what each leaves."""
    left, right = ({each.path: each.after for each in step.changes} for step in (one, other))
    before = {each.path: each.before for step in (one, other) for each in step.changes}
    for path in {**left, **right}:
        values = left.get(path, before[path]), right.get(path, before[path])
        if values[0] != values[1]:
            yield path, *values
