"""One cell of the hunt: one engine on one mutant. It prints a line of JSON and ends.

usage: python -m mutants.cell --library NAME --folder DIR (--engine ENGINE --seconds S --seed N | --reach)

Run with the interpreter of the engine's environment, and the benchmarks folder on PYTHONPATH. DIR holds the library.
With --reach no engine runs: it prints which lines of the library plain runs of Hypothesis execute.
"""

import argparse
import importlib
import json
import os
import resource
import signal
import sys
import warnings
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from bugs.cell import outcome, tell_and_end
from bugs.libraries import silence, taken_out
from bugs.watch import Watch

from mutants.catalog import Library, library_named

MEMORY_BYTES = 4 << 30
# A mutant may turn a loop into one without end. That is seen by whoever has called it, and is a finding like another.
HANG_S = 3
REACH_RUNS = 300


def load(library: Library, folder: Path) -> ModuleType:
    """Import the machine of a library against the release in a folder."""
    taken = taken_out(folder)
    sys.path.insert(0, str(folder))
    importlib.import_module(library.module)
    module = importlib.import_module(f"mutants.machines.{library.machine}")
    sys.modules.update(taken)
    return module


def end_hangs(watch: Watch, output: int) -> None:
    """End the cell with a finding when a call of the library takes seconds of processor time."""
    seen = [-1, 0]

    def tick(_number: int, _frame: object) -> None:
        seen[1] = seen[1] + 1 if watch.calls == seen[0] else 0
        seen[0] = watch.calls
        if watch.calls and seen[1] >= HANG_S:
            fields = outcome(watch) | {"found": True, "note": "a call does not end"}
            os.write(output, f"{json.dumps(fields)}\n".encode())
            os._exit(0)

    signal.signal(signal.SIGVTALRM, tick)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1, 1)


def reached(library: Library, folder: Path) -> dict[str, list[int]]:
    """The lines of the library's files that plain runs execute, imports left out."""
    lines: dict[str, set[int]] = {file: set() for file in library.files}
    names = {str(folder / file): file for file in library.files}
    module = load(library, folder)

    def line(code: CodeType, number: int) -> object:
        if code.co_filename in names:
            lines[names[code.co_filename]].add(number)
        return sys.monitoring.DISABLE

    tool: Any = sys.monitoring
    tool.use_tool_id(2, "reach")
    tool.register_callback(2, tool.events.LINE, line)
    tool.set_events(2, tool.events.LINE)
    from hypothesis import HealthCheck, Phase, seed, settings  # noqa: PLC0415  Only here.
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415

    seed(1)(module.Machine)
    run_state_machine_as_test(
        module.Machine,
        settings=settings(
            max_examples=REACH_RUNS, deadline=None, database=None, phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
    tool.free_tool_id(2)
    return {file: sorted(numbers) for file, numbers in lines.items()}


def main() -> None:
    """Search, and print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--engine")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--reach", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    library = library_named(options.library)
    if options.reach:
        print(json.dumps(reached(library, options.folder)))
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    output = os.dup(sys.stdout.fileno())
    engine = importlib.import_module(f"bugs.engines.run_{options.engine}")
    watch = Watch(load(library, options.folder), options.seconds)
    silence()
    end_hangs(watch, output)
    engine.search(watch, (library.module,), options.seed)
    tell_and_end(watch, output)


if __name__ == "__main__":
    main()
