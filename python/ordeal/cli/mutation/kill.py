"""``ordeal mutate kill ID``: searches a run in which a machine notices a survivor, and writes it as a test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from ordeal._engine.formatting import counted, one_line
from ordeal._engine.mutation.machines.closing import Closed
from ordeal._engine.mutation.machines.running import close_with_machines
from ordeal._engine.mutation.mutants import CHIMP, Mutant, mutants_of
from ordeal._engine.mutation.operators import PRESETS
from ordeal._engine.mutation.source import Source
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal._engine.storage.trace_file import Trace
from ordeal.cli import terminal
from ordeal.cli.mutation.machines import GUARDS, machine_options
from ordeal.cli.mutation.mutate import operators_of, sources_of
from ordeal.cli.mutation.settings import with_settings
from ordeal.errors import ConfigError, OrdealError


def run(given: Mapping[str, Any]) -> int:
    """Close a survivor. Return the exit code: 0 when there is a test of it, 1 when there is none."""
    _, *words = given["paths"]
    given = with_settings(given)
    if not words:
        raise ConfigError("`kill` needs the id of a mutant", hint="`ordeal mutate --with machines` prints them")
    output = Path(given["output"]) if given["output"] else None
    if output is not None and output.exists():
        raise ConfigError(f"`{output}` exists", hint="name another file: tests in it are yours")
    source, mutant = _named(words[0], sources_of(words[1:] or given["targets"]), operators_of(given))
    options = machine_options(given, 1)
    terminal.say(one_line(f"{mutant.id}  {mutant.shown}:{mutant.line}  {mutant.name}  {mutant.operator}"))
    closed = close_with_machines(
        source, mutant, options, folder=Path.cwd(), budget=given["kill_budget"], pin=given["pin"]
    )
    if closed.test and output is not None:
        _save(output, closed.test)
    guard = _guarded(closed)
    if given["json"]:
        terminal.write(json.dumps({"id": mutant.id, **msgspec.to_builtins(closed), "guard": guard}, indent=2) + "\n")
    else:
        terminal.write("".join(f"{line}\n" for line in _lines(closed, output, pin=given["pin"])))
        if guard:
            terminal.write(one_line(f"kept as a judge of later mutants: {guard}") + "\n")
    return 0 if closed.test else 1


def _guarded(closed: Closed) -> str:
    """Keep the run of a test that kills, and return its file; nothing where it cannot be kept."""
    if not (closed.trace and closed.test):
        return ""
    with suppress(OrdealError):
        return str(SeedCorpus(GUARDS).save(Trace.from_json(closed.trace.encode())))
    return ""


def _named(name: str, sources: list[Source], operators: tuple[str, ...]) -> tuple[Source, Mutant]:
    """Return the mutant whose id begins so, looked for among those of the given operators, then among all others."""
    for each in (operators, PRESETS["thorough"], PRESETS["extreme"], (CHIMP,)):
        found = [(source, mutant) for source in sources for mutant in mutants_of(source, each)]
        found = [pair for pair in found if pair[1].id.startswith(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ConfigError(f"{len(found)} ids begin with `{name}`", hint="write more of it")
    raise ConfigError(f"no mutant has the id `{name}`", hint="`ordeal mutate --list` prints all ids")


def _lines(closed: Closed, output: Path | None, *, pin: bool) -> Iterator[str]:
    searched = f" in {counted(closed.searched, 'run')}" if closed.searched else ""
    if closed.how == "killed":
        yield one_line(f"killed{searched}, in {counted(closed.steps, 'step')}: {closed.why}")
    elif closed.how == "pinned":
        yield f"nothing failed{searched}" if searched else "nothing failed"
        yield one_line(f"pinned, in {counted(closed.steps, 'step')}: {closed.why}; is that right?")
    else:
        yield one_line(f"open{searched}: {closed.why}")
    if closed.test:
        yield f"fails on the mutant {closed.failed} of 10 times, passes on the original {closed.passed} of 10"
        yield f"written: {output}" if output is not None else f"\n{closed.test.rstrip()}"
    elif not pin:
        yield "--pin writes a test of what differs today, where a state does"


def _save(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OrdealError(f"`{path}` cannot be written: {error.strerror}", hint="name another file") from None
