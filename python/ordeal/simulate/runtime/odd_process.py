"""Runs the same seeds in fresh processes that differ in what a program should not depend on, and compares them."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ordeal._base.formatting import counted
from ordeal._base.interpreter import start_code
from ordeal.simulate.errors import NotDeterministic, SimulationError, checked_number
from ordeal.simulate.runtime.decisions import SEED_MAX, drawn_schedule, run_seeds
from ordeal.simulate.runtime.faults import fault_of_text, fault_text
from ordeal.simulate.runtime.running import Main, RunSettings, checked_main, run_once, run_settings
from ordeal.simulate.runtime.surroundings import Surroundings

#: A new process makes all runs of a test.
_PROCESS_S_MAX = 600.0
#: Two processes that should do the same, and what a difference between them says.
_PLAIN = {"PYTHONHASHSEED": "1"}
_OTHER_HASHES = {"PYTHONHASHSEED": "4321"}
_ODD = {**_OTHER_HASHES, "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
if "t" not in sys.abiflags:  # a build without a GIL has a single allocator
    _ODD["PYTHONMALLOC"] = "malloc"
_CAUSES = (
    (_PLAIN, "what differs from process to process: os.getpid, id, real time, an unseeded generator, a real file"),
    (_OTHER_HASHES, "the order of a set or hash() of texts"),
    (_ODD, "the folder, the time zone, the locale, or where objects lie in memory"),
)

type Logs = list[list[str]]

#: What this process runs for another one that checks it, if it does.
_checked: list[str] = []


def check(main: Main, *, runs: int = 20, seed: int = 0, faults: Any = ()) -> None:
    """Run the same seeds in several fresh processes, and raise an error where one first does something else.

    The processes differ in their hash seed, folder, time zone and memory. So it finds what comes from outside of the
    simulation, as far as it decides what the program does.

    Args:
        main: an ``async def`` function of a module, or a test made by ``simulate.test``.
        runs: how many seeds to run.
        seed: that of the search whose first runs they are.
        faults: a list such as ``[cancel(), stall(), crash()]``.

    Raises:
        NotDeterministic: two processes differ. The error names the first step that does, and what it may depend on.
        SimulationError: an argument cannot be used, or a fresh process cannot import the function.
        SystemExit: in the fresh process, if the file of the function calls this when it is imported.
    """
    if _checked:  # or each process would start another one, without end
        raise SystemExit(
            "its file calls simulate.check when it is imported; call it below `if __name__ == '__main__':`"
        )
    settings = run_settings(faults, (), 1.0)
    checked_number("runs", runs, 1)
    checked_number("seed", seed, 0, SEED_MAX)
    function = inspect.unwrap(main)
    name = getattr(function, "__qualname__", "")
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    if not name or "<" in name or not Path(file).is_file():
        raise SimulationError(
            f"{name or repr(main)} cannot be imported by another process", hint="pass a function of a module"
        )
    job = {
        "module": function.__module__,
        "name": name,
        "file": str(Path(file).absolute()),
        "runs": runs,
        "seed": seed,
        "faults": [fault_text(fault) for fault in settings.faults],
        "path": [str(Path(entry).absolute()) for entry in sys.path],
    }
    first = _logs(job, _PLAIN)
    for environment, cause in _CAUSES:
        for number, one, other in zip(run_seeds(seed, len(first)), first, _logs(job, environment), strict=True):
            pairs = zip([*one, "its end"], [*other, "its end"], strict=False)
            for step, (here, there) in enumerate(pairs, 1):
                if here != there:
                    what = f"with seed {number}, step {step} is {here} in one process and {there} in another"
                    raise NotDeterministic(f"{what}\nit may depend on {cause}", site=what)


def _logs(job: dict[str, Any], environment: dict[str, str]) -> Logs:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        code = start_code("ordeal.simulate.runtime.odd_process", "run_job()")
        path = os.pathsep.join(job["path"])
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code],
                env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment},
                cwd=folder,
                input=json.dumps({**job, "result": str(result)}),
                capture_output=True,
                text=True,
                timeout=_PROCESS_S_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SimulationError(
                f"{counted(job['runs'], 'run')} of {job['name']} took more than {_PROCESS_S_MAX:g} s in a new process",
                hint="make fewer runs: `runs=3`",
            ) from None
        if done.returncode == 0 and result.exists():
            logs: Logs = json.loads(result.read_text("utf-8"))
            return logs
    last = (done.stderr.strip().splitlines() or ["no reason"])[-1]
    raise SimulationError(
        f"a fresh process cannot run {job['name']}: {last:.300}", hint="import it in a new process to see the error"
    )


def run_job() -> None:
    """Run the job on the standard input, and write what each run did into a file."""
    job = json.load(sys.stdin)
    _checked.append(job["name"])
    try:
        namespace = vars(importlib.import_module(job["module"]))
    except ImportError:
        namespace = runpy.run_path(job["file"], run_name="ordeal_checked")
    if job["module"] == "__main__":
        namespace = runpy.run_path(job["file"], run_name="ordeal_checked")
    first, *rest = job["name"].split(".")
    main = checked_main(inspect.unwrap(functools.reduce(getattr, rest, namespace[first])))
    settings = RunSettings(faults=tuple(fault_of_text(text) for text in job["faults"]))
    surroundings = Surroundings()
    logs: Logs = []
    with surroundings.entered():
        for seed in run_seeds(job["seed"], job["runs"]):
            log: list[str] = []
            note = lambda at, who, what, log=log: log.append(f"{who} at {at:.9f} s in `{what}`")  # noqa: E731
            outcome = run_once(main, drawn_schedule(seed), settings, surroundings, chance=seed, log=note)
            log.append(f"the end with {outcome.bucket or 'success'}")
            logs.append(log)
    Path(job["result"]).write_text(json.dumps(logs), "utf-8")
