"""The files that ``ordeal mutate`` is told to write: the report for the tools of Stryker, and beginnings of tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ordeal._engine.mutation.machines.running import MachineJudgement
from ordeal._engine.mutation.running import Judgement
from ordeal._engine.mutation.source import Source
from ordeal._report.mutation_stubs import mutation_stubs
from ordeal._report.stryker import stryker_json
from ordeal.errors import ConfigError


def refuse_existing(given: Mapping[str, Any]) -> None:
    """Refuse to write beginnings of tests over a file, before anything is judged.

    Raises:
        ConfigError: there is such a file.
    """
    if given["generate_stubs"] and Path(given["generate_stubs"]).exists():
        raise ConfigError(f"`{given['generate_stubs']}` is there already", hint="name a new file")


def write_files(
    given: Mapping[str, Any],
    sources: Sequence[Source],
    judgement: Judgement,
    machines: MachineJudgement | None = None,
) -> None:
    """Write what was asked for.

    Raises:
        ConfigError: it cannot be written.
    """
    if given["report_json"]:
        _save(given["report_json"], json.dumps(stryker_json(sources, judgement, machines)))
    if given["generate_stubs"]:
        refuse_existing(given)
        _save(given["generate_stubs"], mutation_stubs(sources, judgement))


def _save(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"`{path}` cannot be written: {error.strerror}", hint="name another file") from None
