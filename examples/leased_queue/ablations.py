"""Leaves one thing out of leased_queue.py at a time, and looks for a run in which it is missed."""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordeal import simulate

HERE = Path(__file__).parent

#: What is left out: the text in leased_queue.py, and what stands in its place.
ABLATIONS = {
    "an old token may finish a job": ('if self.jobs[job]["token"] != token:', "if False:"),
    "a job that is done is paid again": ('if not self.jobs[job]["done"]:', "if True:"),
    "a job that is put twice is new": ("if job not in self.jobs:", "if True:"),
    "that a job is paid is not saved": ("self.paid.append(job)\n            self.save()", "self.paid.append(job)"),
    "the disk is not synced": ("            os.fsync(file.fileno())\n", ""),
    "a lease never ends": (
        'not job["done"] and self.ends.get(name, 0.0) <= now',
        'not job["done"] and name not in self.ends',
    ),
    "a request is what one read returns": ("line := await reader.readline()", "line := await reader.read(1000)"),
    "a late answer is taken for the next": ("                self.hang_up()\n", "                pass\n"),
}


@contextmanager
def queue_without(name: str | None) -> Iterator[types.ModuleType]:
    """Import the test of a queue in which something is left out; nothing is for None."""
    text = (HERE / "leased_queue.py").read_text("utf-8")
    if name is not None:
        old, new = ABLATIONS[name]
        assert text.count(old) == 1, name
        text = text.replace(old, new)
    module = types.ModuleType("leased_queue")
    exec(compile(text, str(HERE / "leased_queue.py"), "exec"), vars(module))
    before = sys.modules.get("leased_queue")
    sys.modules["leased_queue"] = module
    try:
        test = types.ModuleType("test_queue")
        exec(compile((HERE / "test_queue.py").read_text("utf-8"), str(HERE / "test_queue.py"), "exec"), vars(test))
        yield test
    finally:
        del sys.modules["leased_queue"]
        if before is not None:
            sys.modules["leased_queue"] = before


def search(name: str | None, runs: int, seed: int = 0) -> simulate.Report:
    """Look for a failing run of the queue in which something is left out."""
    with queue_without(name) as test:
        return simulate.explore(test.payment, faults=test.FAULTS, runs=runs, seed=seed, check=False)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name in (*ABLATIONS, None):
        report = search(name, runs)
        failure = report.failure
        found = "nothing found" if failure is None else f"run {failure.run}: {str(failure.error).splitlines()[0]}"
        print(f"{name or 'nothing is left out':50} {report.runs:6} runs   {found}")


if __name__ == "__main__":
    main()
