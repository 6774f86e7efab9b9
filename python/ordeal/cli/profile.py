"""``ordeal profile``: what the steps of a test cost, in figures that no clock decides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import aligned, counted
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.class_path import split_class_path, trust, trust_settings
from ordeal._report.formats.document import line
from ordeal._tools.profile.figures import ProfileReport, TestProfile, findings, measured, read_baseline, unlike
from ordeal.cli import terminal
from ordeal.cli.folders import failure_path
from ordeal.config.flags import ProfileFlags
from ordeal.config.options import DEFAULT_PATH
from ordeal.config.settings_file import load_config, load_settings
from ordeal.config.table import values_of
from ordeal.errors import FOUND, WRONG_USE, ConfigError


def run(given: Mapping[str, Any]) -> int:
    """Measure. Return 1 for a finding, 2 if a test cannot run."""
    flags = ProfileFlags(**values_of(load_settings(given["config"]).profile), tests=given["tests"]).with_flags(given)
    trust_settings(Path(DEFAULT_PATH))
    baseline = None if flags.baseline is None else read_baseline(flags.baseline)
    report = ProfileReport([])
    subjects = _subjects(flags)
    # What is rare and large says how a cost grows; a leak shows in any run, and these are made many times.
    runs = flags.runs or (20 if flags.memory else 60)
    for test, trace in subjects:
        terminal.say(f"Profiling {test} ...")
        made = measured(test, trace, runs=runs, seed=flags.seed, memory=flags.memory, seconds=flags.max_time)
        if made.error and len(subjects) == 1:
            raise ConfigError(f"`{test}` cannot be profiled: {made.error}", hint=made.hint)
        before = next((each for each in baseline.profiles if each.test == test), None) if baseline else None
        report.profiles.append(made)
        report.findings += findings(made, before, budget=flags.budget, slowest=flags.growth, leaks=flags.leaks)
        if not flags.json:
            terminal.write(_shown(made))
    if baseline is not None:
        report.not_compared = [*unlike(report.profiles, baseline)]
        for test in report.not_compared:
            terminal.say(line(f"not compared, as the baseline has other steps, runs or another seed: {test}"))
    if flags.json:
        terminal.write(msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n")
    else:
        terminal.write("".join(f"{line(each)}\n" for each in report.findings) or "nothing exceeds its budget\n")
        # A command that makes the runs without counting.
        name = flags.tests[0] if flags.tests else load_config(flags.config).tests[0].class_path
        is_trace = ":" not in name or Path(name).exists()
        again = f"ordeal replay {name}" if is_trace else f"ordeal explore {name} --in-process"
        terminal.say(f"CPU time depends on the computer: `py-spy record -o profile.svg -- {again}`")
    if any(each.error for each in report.profiles):
        return WRONG_USE
    return FOUND if report.findings else 0


def _subjects(flags: ProfileFlags) -> list[tuple[str, Trace | None]]:
    """Return each test with its trace; None for random runs."""
    if not flags.tests:
        return [(each.class_path, None) for each in load_config(flags.config).tests]
    found: list[tuple[str, Trace | None]] = []
    for name in flags.tests:
        if ":" in name and not Path(name).exists():
            split_class_path(name)
            trust(name)
            found.append((name, None))
        else:
            trace = Trace.load(failure_path(name))
            found.append((trace.test_class, trace))
    return found


def _shown(made: TestProfile) -> str:
    runs = counted(made.runs, "run")
    if made.error:
        return line(f"{made.test}: {made.error}") + "\n\n"
    if made.leaks is not None:
        return line(f"{made.test}: {runs}, {counted(len(made.leaks), 'leak')}") + "\n\n"
    simulated = [f"{made.events:,} events", f"{made.messages:,} messages"] if made.events else []
    lines = [line(f"{made.test}: {', '.join([runs, f'{made.steps:,} steps', *simulated])}")]
    has_latency = any(each.latency for each in made.figures.values())
    rows = [("step", "calls", "instructions", "allocations", *(("p50 s", "p99 s") if has_latency else ()), "growth")]
    for name, each in sorted(made.figures.items(), key=lambda pair: -(pair[1].instructions or 0)):
        latency = tuple(f"{each.latency[at]:g}" if each.latency else "" for at in (0, 2)) if has_latency else ()
        growth = f"{each.growth.name} in {each.growth.of}" if each.growth.name else ""
        unknown = "varies" if each.instructions is None else "not counted"
        counts = (unknown if count is None else f"{count:,}" for count in (each.instructions, each.allocations))
        rows.append((line(name), f"{each.calls:,}", *counts, *latency, growth))
    lines += [f"  {line(each)}" for each in aligned(rows, range(1, len(rows[0]) - 1))]
    return "\n".join(lines) + "\n\n"
