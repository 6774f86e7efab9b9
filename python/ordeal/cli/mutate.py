"""``ordeal mutate``: breaks a program in many places, one at a time, and says which breaks no test notices."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ordeal._engine.formatting import counted
from ordeal._engine.mutation.mutants import CHIMP, Mutant, mutants_of
from ordeal._engine.mutation.operators import PRESETS
from ordeal._engine.mutation.running import Judgement, NoVerdictError, judge_with_pytest
from ordeal._engine.mutation.source import Source
from ordeal._engine.mutation.targets import changed_lines, files_of
from ordeal._engine.mutation.verdicts import Score, Verdict
from ordeal._report.mutation import mutation_json, mutation_text
from ordeal.cli import terminal

_INTERRUPTED = 130


def run(given: Mapping[str, Any]) -> int:
    """Judge the mutants. Return the exit code: 0, 1 when the score is below the threshold, 130 when interrupted."""
    folder = Path.cwd()
    sources = [Source.of(path, _shown(path, folder)) for path in files_of(given["paths"], folder)]
    operators = (CHIMP,) if given["preset"] == CHIMP else PRESETS[given["preset"]]
    mutants = [mutant for source in sources for mutant in mutants_of(source, operators)]
    mutants = _chosen(mutants, sources, given, folder)
    if not mutants:
        if given["since"]:
            terminal.say("no mutants in the lines that changed")
            return 0
        raise NoVerdictError("there is nothing to mutate", hint="name other files, or another `--preset`")
    workers = given["workers"] or os.cpu_count() or 1
    terminal.say(f"{counted(len(mutants), 'mutant')} of preset {given['preset']}, {counted(workers, 'worker')}")
    progress = _Progress(len(mutants))
    arguments = [part for each in given["tests"] for part in shlex.split(each)]
    judgement = judge_with_pytest(
        sources,
        mutants,
        tests=arguments,
        folder=folder,
        workers=workers,
        isolation=given["isolation"],
        progress=progress.take,
    )
    _write(given, sources, judgement)
    return _exit_code(judgement, given["threshold"])


def _shown(path: Path, folder: Path) -> str:
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def _chosen(mutants: list[Mutant], sources: Sequence[Source], given: Mapping[str, Any], folder: Path) -> list[Mutant]:
    if given["mutant"]:
        mutants = [mutant for mutant in mutants if mutant.id.startswith(given["mutant"])]
    if given["since"]:
        changed = changed_lines(given["since"], folder)
        files = {source.shown: changed.get(source.path.resolve(), set()) for source in sources}
        mutants = [
            each
            for each in mutants
            if files[each.shown] & set(range(each.line, each.line + each.original.count("\n") + 1))
        ]
    if given["sample"] and given["sample"] < len(mutants):
        # By a digest of its id, so that a mutant stays in the sample when others come or go.
        digests = sorted(_digest(mutant, given["seed"]) for mutant in mutants)
        mutants = [mutant for mutant in mutants if _digest(mutant, given["seed"]) < digests[given["sample"]]]
    return mutants


def _digest(mutant: Mutant, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {mutant.id}".encode()).digest()


class _Progress:
    """One line for each tenth of the mutants."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._survived, self._told = total, 0, 0, 0

    def take(self, verdict: Verdict) -> None:
        self._done += 1
        self._survived += verdict.word == "survived"
        if self._done * 10 // self._total > self._told:
            self._told = self._done * 10 // self._total
            terminal.say(f"  {self._done}/{self._total}  survived {self._survived}")


def _write(given: Mapping[str, Any], sources: Sequence[Source], judgement: Judgement) -> None:
    if given["json"]:
        terminal.write(json.dumps(mutation_json(sources, judgement), indent=2) + "\n")
        return
    terminal.write(mutation_text(sources, judgement))
    flags = [*given["paths"], "--preset", given["preset"], *(f"--tests={each}" for each in given["tests"])]
    terminal.write(f"one of them again: ordeal mutate {shlex.join(flags)} --mutant ID\n")


def _exit_code(judgement: Judgement, threshold: float | None) -> int:
    if judgement.was_interrupted:
        return _INTERRUPTED
    percent = Score.of(judgement.verdicts).percent
    return int(threshold is not None and (percent is None or percent < threshold))
