"""``ordeal mutate kill``: searches runs in which machines notice survivors, and writes them as tests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import counted, one_line
from ordeal._base.trace_file import Trace, write_atomically
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal._tools.mutation.machines.evidence import Closed, one_file
from ordeal._tools.mutation.machines.running import close_with_machines
from ordeal._tools.mutation.mutants import CHIMP, Mutant, mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.running import by_line
from ordeal._tools.mutation.saved import load
from ordeal._tools.mutation.source import Source
from ordeal.cli import terminal
from ordeal.cli.mutation import last
from ordeal.cli.mutation.mutate import GUARDS, machine_options, operators_of, sources_of
from ordeal.cli.mutation.settings import refuse_options_of_others, with_settings
from ordeal.cli.own_files import is_none, place_for
from ordeal.errors import ConfigError, OrdealError


def run(words: Mapping[str, Any]) -> int:
    """Close survivors. Return the exit code: 0 if each has a test now, otherwise 1."""
    refuse_options_of_others("kill", words)
    given = with_settings(words)
    _, *names = given.paths
    output = place_for("-o", Path(given.output), is_none, given.on_exists) if given.output else None
    is_all = not names or (names[0] != "" and Path(names[0]).exists())
    if not is_all:
        source, mutant = _named(names[0], sources_of(names[1:] or given.targets, given.exclude), operators_of(given))
        sources, mutants = [source], [mutant]
    else:
        sources, mutants = _survivors(names, given.exclude)
    options = machine_options(given, 1)
    found = []
    for mutant, closed in close_with_machines(sources, mutants, options, folder=Path.cwd(), budget=given.kill_budget):
        terminal.say(one_line(f"{mutant.id}  {mutant.shown}:{mutant.line}  {mutant.name}  {mutant.operator}"))
        guard = _guarded(closed)
        found.append((mutant, closed, guard))
        if not given.json:
            terminal.write("".join(f"{line}\n" for line in _lines(closed, output)))
            if guard:
                terminal.write(one_line(f"kept as a judge of later mutants: {guard}") + "\n")
    tests = [closed.test for _, closed, _ in found if closed.test]
    if tests and output is not None:
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(output, one_file(tests).encode())
        except OSError as error:
            raise OrdealError(f"`{output}` cannot be written: {error.strerror}", hint="name another file") from None
        if not given.json:
            terminal.write(one_line(f"written: {output}") + "\n")
    if given.json:
        shown = [{"id": mutant.id, **msgspec.to_builtins(closed), "guard": guard} for mutant, closed, guard in found]
        terminal.write(json.dumps(shown if is_all else shown[0], indent=2) + "\n")
    elif len(found) > 1:
        words = Counter(closed.how for _, closed, _ in found)
        terminal.write(f"{counted(len(found), 'survivor')}  {'  '.join(f'{how} {words[how]}' for how in words)}\n")
    return int(len(tests) < len(found))


def _survivors(paths: Sequence[str], exclude: Sequence[str]) -> tuple[list[Source], list[Mutant]]:
    """Return the survivors of the last run, in the named files if any; one of each line comes first."""
    saved = load(Path.cwd())
    if saved is None:
        raise ConfigError("no saved run has survivors to close", hint="run `ordeal mutate` first, or name an id")
    shown = {source.shown for source in sources_of(paths, exclude)} if paths else None
    found = [each.mutant for each in saved.verdicts() if each.word == "survived"]
    found = by_line([each for each in found if shown is None or each.shown in shown])
    if not found:
        raise ConfigError("nothing survived the last run there", hint="`ordeal mutate` judges again")
    return [
        last.source_of(next(each for each in found if each.shown == name))
        for name in dict.fromkeys(each.shown for each in found)
    ], found


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


def _lines(closed: Closed, output: Path | None) -> Iterator[str]:
    searched = f" in {counted(closed.searched, 'run')}" if closed.searched else ""
    if closed.how == "killed":
        yield one_line(f"killed{searched}, in {counted(closed.steps, 'step')}: {closed.why}")
    else:
        yield one_line(f"open{searched}: {closed.why}")
    if closed.test:
        yield f"fails on the mutant {closed.failed} of 10 times, passes on the original {closed.passed} of 10"
        if output is None:
            yield f"\n{closed.test.rstrip()}"
