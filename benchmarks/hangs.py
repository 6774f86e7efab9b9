"""What a rule that hangs for 40 s costs a search of 20 s, under the usual limit of 30 s.

usage: python benchmarks/hangs.py [--max-time S] [--hang S] [--workers N]

Three machines: one hangs where a signal ends it, two where nothing can; one of these in each call of a rule, the others
once some steps came before. Each is explored by workers in processes of their own. Nearly all of it is waiting.
"""

import argparse
import signal
import time
from typing import ClassVar

from harness.report import command, host, table
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal import ChaosTest
from ordeal.explore import Explorer

HANG_S, MAX_TIME_S = 40.0, 20.0


class Hanging(ChaosTest):
    """Hangs once enough is there, until a signal comes."""

    needs: ClassVar[int] = 9
    seconds: ClassVar[float] = HANG_S

    def __init__(self) -> None:
        super().__init__()
        self.added = 0

    @rule(items=st.integers(1, 3))
    def add(self, items: int) -> None:
        self.added += items

    @rule()
    def stall(self) -> None:
        if self.added >= self.needs:
            time.sleep(self.seconds)


class Blocked(Hanging):
    """Hangs once enough is there, and no signal ends that."""

    @rule()
    def stall(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        super().stall()


class BlockedAtOnce(Blocked):
    """Hangs in each call, and no signal ends that."""

    needs = 0


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-time", type=float, default=MAX_TIME_S, help="20")
    parser.add_argument("--hang", type=float, default=HANG_S, help="40")
    parser.add_argument("--workers", type=int, default=1, help="1")
    asked = parser.parse_args()
    Hanging.seconds = asked.hang
    print(f"{host()}\n`{command()}`\n")
    rows = []
    for machine in (Hanging, Blocked, BlockedAtOnce):
        began = time.monotonic()
        result = Explorer(machine, seed=1, workers=asked.workers, isolate=True).run(max_time=asked.max_time)
        took = time.monotonic() - began
        (failure,) = result.failures
        what = (machine.__doc__ or "").rstrip(".").lower()
        rows.append([machine.__name__, what, f"{result.total_runs}", f"{failure.step}", f"{took:.1f}"])
    print(table(["machine", "what it does", "runs", "steps of the failure", "seconds in all"], rows))


if __name__ == "__main__":
    main()
