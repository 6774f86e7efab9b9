"""What machines replay to judge mutants, and what fewer replays, or cheaper ones, would notice.

usage: python benchmarks/machine_replays.py [--of NAME ...] [--runs N]

Each mutant of the projects of machine_mutants.py is judged by all recorded runs that reach it, twice: with the
invariants asked after each step, and at the end alone. The table counts what ways to judge would notice: `6 + 0` is six
runs asked after each step, `2 + 4` two of them and four more asked at the end. It says how many steps of the six runs
lie before the first that enters the mutant's function, and of the survivors, how many change a state: what snapshots
and checks of single values could spare.
"""

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import machine_mutants
import msgspec
from harness.report import command, host, table

from ordeal._tools.mutation.forks import Job, Say, run_jobs
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines.batch import JUDGING_MAX, first_step
from ordeal._tools.mutation.machines.judge_process import BATCH, Judge, Order
from ordeal._tools.mutation.machines.running import MachineOptions, _fields
from ordeal._tools.mutation.machines.turns import TurnLimit
from ordeal._tools.mutation.mutants import Mutant, mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.own_process import send_output_to
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import NotSwappable, Swap
from ordeal._tools.mutation.targets import files_of

WAYS = ((6, 0), (4, 0), (2, 0), (1, 0), (2, 4), (2, 8), (1, 5))
_SECONDS = 900.0


class Replays(Judge):
    """A judge that asks all runs of each mutant."""

    def __init__(self, order: Order) -> None:
        super().__init__(order, lambda _: None)
        self.rows: list[dict[str, Any]] = []
        self.steps = self.before = 0

    def _forced_failures(self, mutants: list[Mutant]) -> None:
        for mutant in mutants:
            path = real_path(str(self._sources[mutant.shown].path))
            for each, _ in self._judging(mutant):
                self.steps += len(each.sketches)
                self.before += first_step(each, path, mutant.function or (0, 0))
        parts = [mutants[at : at + BATCH] for at in range(0, len(mutants), BATCH)]
        jobs = [Job(lambda say, part=part: self._ask(part, say), 0, _SECONDS) for part in parts]  # type: ignore[misc]
        self.rows = [said for ended in run_jobs(jobs, 1) for said in ended.said]
        mutants.clear()  # there is nothing more to judge

    def _ask(self, mutants: list[Mutant], say: Say) -> None:
        send_output_to(os.devnull)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        turns = TurnLimit(self._live)
        benches = [self._bench(number, turns=turns) for number in range(len(self._benches))]
        for mutant in mutants:
            try:
                swap = Swap(self._live, self._sources[mutant.shown], mutant)
            except NotSwappable:
                continue
            turns.watch(swap.codes())
            path = real_path(str(self._sources[mutant.shown].path))
            whole, ends, differs = [], [], False
            for each, hits in self._covering(mutant):
                bench, last = benches[each.machine], len(each.sketches) - 1
                with bench.running():
                    kill = bench.run(
                        each.tape, each.number, each.sketches, first=first_step(each, path, mutant.function or (0, 0))
                    )
                    end = bench.run(each.tape, each.number, each.sketches, first=last if each.only_looks else 0)
                    differs = differs or (
                        kill is None and bench.first_other(each.tape, each.sketches, hits) is not None
                    )
                whole.append(kill is not None)
                ends.append(end is not None)
                if kill is not None and kill.kind == "timeout":
                    break
            swap.undo()
            say({"whole": whole, "ends": ends, "differs": differs})


def _row(name: str, judge: Replays) -> list[str]:
    noticed = [
        sum(any(row["whole"][:whole]) or any(row["ends"][whole : whole + ends]) for row in judge.rows)
        for whole, ends in WAYS
    ]
    survivors = [row for row in judge.rows if not any(row["whole"][:JUDGING_MAX])]
    return [
        *(name, str(len(judge.rows)), str(sum(any(row["whole"]) for row in judge.rows))),
        *map(str, noticed),
        f"{judge.before / judge.steps:.0%}",
        f"{sum(row['differs'] for row in survivors)} of {len(survivors)}",
    ]


def _judge_of(project: machine_mutants.Project, runs: int) -> Replays:
    os.chdir(project.folder)
    sys.path.insert(0, str(project.folder))
    sources = [
        Source.of(path, path.relative_to(project.folder).as_posix())
        for path in files_of(list(project.paths), project.folder)
    ]
    mutants = [mutant for source in sources for mutant in mutants_of(source, PRESETS["standard"])]
    options = MachineOptions(tuple(dict.fromkeys(project.machines.values())), (project.package,), runs=runs)
    return Replays(msgspec.json.decode(msgspec.json.encode(_fields(sources, mutants, options)), type=Order))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--of", nargs="*", choices=list(machine_mutants.PROJECTS), default=list(machine_mutants.PROJECTS)
    )
    parser.add_argument("--runs", type=int, default=700)
    given = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    rows = []
    for name in given.of:
        with tempfile.TemporaryDirectory(prefix="ordeal-replays-") as place:
            judge = _judge_of(machine_mutants.PROJECTS[name](Path(place)), given.runs)
            judge.judge()
            rows.append(_row(name, judge))
            os.chdir("/")
    ways = [f"{whole} + {ends}" for whole, ends in WAYS]
    print(table(["of", "mutants", "any run", *ways, "steps before", "survivors that differ"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
