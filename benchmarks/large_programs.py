"""Steps per second of machines of large programs while these are traced, beside Hypothesis, and the longest stall.

usage: python benchmarks/large_programs.py [--seconds S] [--rounds N] [--projects NAME...] [--rules]

Beside the rates stands how many lines of the library ran: steps of one engine are not those of the other, as each draws
what it likes. So there is the ratio that ordeal would have if it called the rules as often as Hypothesis did, each for
what its calls took, and what a step takes besides the machine's own rules and invariants. ``--rules`` prints the calls
of each rule. The machines are those of xarray's and zarr's own test suites, as in `real_machines.py`. The engines take
turns in one process, with another seed in each round. A stall is the CPU time between two rules: what the engine takes,
with the machine's constructor, draws and invariants. The environments are made once, in `build/peers`.
"""

import argparse
import statistics
from collections import defaultdict
from importlib.metadata import version
from typing import Any

from harness.peers import PEERS
from harness.report import command, host, spread, table
from real_machines import measure
from upstream_machines.catalog import PROJECTS
from upstream_machines.sources import SourceError

TARGETS = {"xarray": ("xarray",), "zarr": ("zarr",)}
#: What stands for all invariants among the calls.
INVARIANTS = "(invariants)"
RATIO_GOAL = 1.5
STALL_GOAL_S = 0.1


def rate(engine: dict[str, Any]) -> float:
    """Steps per CPU second of a search."""
    return float(engine["steps"] / engine["seconds"]) if engine["seconds"] else 0.0


def rules_seconds(engine: dict[str, Any]) -> float:
    """CPU seconds in the rules of a machine, with the draws in their bodies."""
    return sum((float(seconds) for name, (_, seconds) in engine["calls"].items() if name != INVARIANTS), 0.0)


def own_share(engine: dict[str, Any]) -> str:
    """The share of the CPU time in the rules and invariants, and the milliseconds of a step in them and in all else."""
    own = rules_seconds(engine) + engine["calls"].get(INVARIANTS, (0, 0.0))[1]
    rest, steps = engine["seconds"] - own, engine["steps"] / 1000
    return f"{own / engine['seconds']:.0%}: {own / steps:.2f} + {rest / steps:.2f}"


def ratio_at_their_mix(found: dict[str, Any]) -> float | None:
    """The ratio of both rates, had ordeal called its rules in the proportions of Hypothesis' calls."""
    ours, theirs = found["ordeal"], found["Hypothesis"]
    both = ours["calls"].keys() - {INVARIANTS}
    calls = {name: count for name, (count, _) in theirs["calls"].items() if name in both}
    total = sum(calls.values())
    if not total or not ours["steps"] or not rate(theirs):
        return None
    of_rules = sum(count * ours["calls"][name][1] / ours["calls"][name][0] for name, count in calls.items()) / total
    of_all_else = (ours["seconds"] - rules_seconds(ours)) / ours["steps"]
    return float(1 / (of_rules + of_all_else) / rate(theirs))


def calls_table(name: str, found: dict[str, Any]) -> str:
    """The calls of each rule by both engines, and the CPU ms of each."""
    engines = [found["ordeal"]["calls"], found["Hypothesis"]["calls"]]
    names = sorted(set().union(*engines), key=lambda each: -engines[0].get(each, (0, 0.0))[1])
    cells = [
        [each, *(f"{count:,}, {1000 * seconds / max(count, 1):.1f}" for count, seconds in tallies)]
        for each in names
        for tallies in [[calls.get(each, (0, 0.0)) for calls in engines]]
    ]
    return f"\n{name}\n\n{table(['rule', 'ordeal: calls, CPU ms each', 'Hypothesis'], cells)}"


def row(name: str, rounds: list[dict[str, Any]]) -> list[str]:
    """A line of the table."""
    ours = [rate(found["ordeal"]) for found in rounds]
    theirs = [rate(found["Hypothesis"]) for found in rounds]
    ratios = [one / other for one, other in zip(ours, theirs, strict=True) if other]
    alike = [ratio for found in rounds if (ratio := ratio_at_their_mix(found)) is not None]
    last = rounds[-1]
    stalls = [found["ordeal"]["stall"] for found in rounds]
    refused = next((found["ordeal"]["refused"] for found in rounds if found["ordeal"]["refused"]), "")
    return [
        name,
        refused.replace("|", "/").replace("\n", " ")[:80] or rounds[-1]["ordeal"]["kind"],
        spread(ours, ",.0f"),
        spread(theirs, ",.0f"),
        f"{spread(ratios, '.2f')}{_verdict(statistics.median(ratios) >= RATIO_GOAL)}" if ratios else "-",
        spread(alike, ".2f") if alike else "-",
        *(own_share(last[engine]) if last[engine]["steps"] else "-" for engine in ("ordeal", "Hypothesis")),
        spread([found["ordeal"]["lines"] for found in rounds], ",.0f"),
        spread([found["Hypothesis"]["lines"] for found in rounds], ",.0f"),
        f"{spread(stalls, '.3f')}{_verdict(max(stalls) <= STALL_GOAL_S)}",
        spread([found["ordeal"].get("report_seconds", 0.0) for found in rounds], ".2f"),
    ]


def _verdict(is_met: bool) -> str:
    return " (goal met)" if is_met else " (goal missed)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each machine, engine and round (default: 10)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: 3)")
    parser.add_argument("--projects", nargs="+", default=list(TARGETS), choices=list(TARGETS), help="(default: all)")
    parser.add_argument("--rules", action="store_true", help="print the calls of each rule, too")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`: ordeal {version('ordeal')}, Hypothesis {version('hypothesis')}\n")
    rows, left_out, tables = [], [], []
    for project in PROJECTS:
        if project.name not in options.projects:
            continue
        machines = defaultdict(list)
        try:
            for found in measure(
                project,
                options.seconds,
                targets=TARGETS[project.name],
                rounds=options.rounds,
                keep=PEERS / f"{project.name}-{project.version}",
            ):
                test = found["test"].rpartition("::")[2]
                machines[f"{project.name}: {found['machine']} ({test})"].append(found)
        except SourceError as error:
            left_out.append(f"- Not run: {project.name} {project.version}: {error}")
        rows += [row(name, rounds) for name, rounds in machines.items()]
        if options.rules:
            tables += [calls_table(name, rounds[-1]) for name, rounds in machines.items()]
    header = ["machine", "states", "ordeal steps/CPU s", "Hypothesis steps/CPU s"]
    lines = ["lines run, ordeal", "Hypothesis"]
    mix = ["at Hypothesis' mix of rules", "rules and invariants: share, ms a step in them + besides", "Hypothesis"]
    print(table([*header, "ratio (goal 1.5)", *mix, *lines, "longest stall, s (goal 0.1)", "s after the search"], rows))
    print("\n".join(["", *left_out, *tables]))


if __name__ == "__main__":
    main()
