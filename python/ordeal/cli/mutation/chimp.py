"""``ordeal chimp``: breaks a program node by node, and runs any command of tests on each."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._tools.mutation.chimp import LABELS, Broken, broken_nodes, chimp_sources
from ordeal.cli import terminal
from ordeal.cli.mutation.mutate import progress_lines
from ordeal.config.flags import ChimpFlags
from ordeal.errors import ConfigError

_KINDS = {"dead": ("DEAD", "DEAD?"), "uncovered": ("UNCOVERED",)}


def run(flags: ChimpFlags) -> int:
    """Print the nodes that no test notices. Return 1 if any is of a kind that ``--fail-on`` names, otherwise 0."""
    fails: list[str] = []
    for word in flags.fail_on.split(",") if flags.fail_on else ():
        if word not in _KINDS:
            raise ConfigError(f"`--fail-on` is `{flags.fail_on}`", hint="write `dead`, `uncovered` or `dead,uncovered`")
        fails += _KINDS[word]
    tests, exclude = _split(flags.words)
    folder = Path.cwd()
    counts: Counter[str] = Counter()
    sources = chimp_sources(flags.code, exclude, folder)
    for broken in broken_nodes(sources, tests, flags.timeout, folder, progress_lines()):
        counts[broken.label] += 1
        if broken.why:
            mutant = broken.mutant
            where = f"{mutant.shown}:{mutant.line}"
            first = mutant.original.partition("\n")[0]
            terminal.write(f"{broken.label:<9}  {one_line(where)}  {one_line(first)}  ({one_line(broken.why)})\n")
            if flags.logs:
                _log(broken)
    terminal.write("  ".join(f"{label} {counts[label]}" for label in LABELS) + "\n")
    return int(any(counts[label] for label in fails))


def _log(broken: Broken) -> None:
    """Append a node to the log next to its file, with the four fields of Chaos Chimp."""
    mutant, source = broken.mutant, broken.source
    column = mutant.start - (source.text.rfind(b"\n", 0, mutant.start) + 1)
    path = source.path.with_name(f"{source.path.name}.log")
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(
                f"Failure: {broken.label}, {broken.why}\nLine {mutant.line}:{column}\nCode:\n{mutant.original}\n\n"
            )
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}", hint="leave `--logs` out") from None


def _split(words: tuple[str, ...]) -> tuple[list[str], list[str]]:
    tests: list[str] = []
    exclude: list[str] = []
    into: list[str] | None = None
    for word in words:
        if word in ("--tests", "--exclude"):
            into = tests if word == "--tests" else exclude
        elif into is None:
            raise ConfigError(f"`{word}` comes before `--tests`", hint="write `--tests COMMAND`")
        else:
            into.append(word)
    if not tests:
        raise ConfigError("no command of tests is given", hint="write `--tests COMMAND`, for example `--tests pytest`")
    try:
        return (shlex.split(tests[0]) if len(tests) == 1 else tests), exclude
    except ValueError:
        raise ConfigError(
            f"`--tests` is `{tests[0]}`, where a quotation mark is missing", hint="write both, or none"
        ) from None
