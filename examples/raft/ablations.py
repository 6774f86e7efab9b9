"""Leaves one thing out of raft.py at a time, and looks for a run in which it is missed: ``python ablations.py``."""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordeal import simulate

HERE = Path(__file__).parent

#: What is left out: the text in raft.py, and what stands in its place.
ABLATIONS = {
    "a node votes twice": ('self.voted_for in (None, message["by"])', "True"),
    "a node votes for one who has less": (
        '[message["last_term"], message["length"]] >= [self.last_term, len(self.log)]',
        "True",
    ),
    "a leader stays when it hears of a later term": (
        "            self.follow()\n            self.save()",
        "            self.save()",
    ),
    "two copies are a majority of one": ("(len(self.others) + 1) // 2 + 1", "(len(self.others) + 1) // 2"),
    "a new leader adds no entry": ("            self.log.append([self.term, None])\n", ""),
    "the disk is not synced": ("            os.fsync(file.fileno())\n", ""),
}


@contextmanager
def raft_without(name: str | None) -> Iterator[types.ModuleType]:
    """Import the test of a Raft in which something is left out; nothing is for None."""
    text = (HERE / "raft.py").read_text("utf-8")
    if name is not None:
        old, new = ABLATIONS[name]
        assert text.count(old) == 1, name
        text = text.replace(old, new)
    module = types.ModuleType("raft")
    exec(compile(text, str(HERE / "raft.py"), "exec"), vars(module))
    before = sys.modules.get("raft")
    sys.modules["raft"] = module
    try:
        test = types.ModuleType("test_raft")
        exec(compile((HERE / "test_raft.py").read_text("utf-8"), str(HERE / "test_raft.py"), "exec"), vars(test))
        yield test
    finally:
        del sys.modules["raft"]
        if before is not None:
            sys.modules["raft"] = before


def search(name: str | None, runs: int, seed: int = 0) -> simulate.Report:
    """Look for a failing run of the Raft in which something is left out."""
    with raft_without(name) as test:
        return simulate.explore(test.agreement, faults=test.FAULTS, runs=runs, seed=seed, check=False)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name in (*ABLATIONS, None):
        report = search(name, runs)
        failure = report.failure
        found = "nothing found" if failure is None else f"run {failure.run}: {str(failure.error).splitlines()[0]}"
        print(f"{name or 'nothing is left out':50} {report.runs:6} runs   {found}")


if __name__ == "__main__":
    main()
