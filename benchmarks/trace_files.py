"""What a trace file costs: the time to replay one of fifty steps, and the space of one of five thousand.

usage: python benchmarks/trace_files.py [--replays N] [--profile]

The machine is a bank with ten rules of about a microsecond each. Its arguments are of the usual kinds: integers,
choices, booleans, floats, text, and values of bundles. The run fails at a step that is chosen beforehand, so that a
trace has as many steps as are wanted. Floats and text are drawn less often than the rest, because a run ends once they
fill Hypothesis' buffer.
"""

import argparse
import cProfile
import functools
import pstats
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
from harness.report import command, host, spread, table
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes, invariant, precondition, rule

from ordeal import trace
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

SHORT, LONG = 50, 5_000
STEPS_PER_RUN_MAX = 10_000
OPEN_MAX = 20
UNLIMITED_S = 3600.0
SUFFIXES = (".json", ".json.gz", ".json.zst")
PROFILE_LINES = 15


@dataclass(eq=False)
class Account:
    """Money of one owner."""

    owner: str
    balance: int = 0
    rate: float = 0.0
    labels: set[str] = field(default_factory=set)
    frozen: bool = False


class Bank(ChaosTest):
    """Moves money about, until the step comes at which the run is to fail."""

    accounts = Bundle("accounts")
    steps_max = LONG

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.open_accounts = 0

    @precondition(lambda self: self.steps % 2 == 0 and self.open_accounts < OPEN_MAX)
    @rule(target=accounts, owner=st.text(max_size=10))
    def open(self, owner: str) -> Account:
        self.steps += 1
        self.open_accounts += 1
        return Account(owner)

    @rule(account=accounts, amount=st.integers(1, 10**6))
    def deposit(self, account: Account, amount: int) -> None:
        self.steps += 1
        account.balance += amount

    @rule(account=accounts, amount=st.integers(1, 10**6))
    def withdraw(self, account: Account, amount: int) -> None:
        self.steps += 1
        account.balance -= min(account.balance, amount)

    @rule(source=accounts, to=accounts, amount=st.integers(1, 10**6))
    def transfer(self, source: Account, to: Account, amount: int) -> None:
        self.steps += 1
        source.balance, to.balance = source.balance - amount, to.balance + amount

    @precondition(lambda self: self.steps % 2 == 0)
    @rule(account=accounts, rate=st.floats(0, 0.2))
    def set_rate(self, account: Account, rate: float) -> None:
        self.steps += 1
        account.rate = rate

    @rule(account=accounts, label=st.sampled_from(["private", "business", "savings", "closed by owner"]))
    def label(self, account: Account, label: str) -> None:
        self.steps += 1
        account.labels.add(label)

    @rule(account=accounts, frozen=st.booleans())
    def freeze(self, account: Account, frozen: bool) -> None:
        self.steps += 1
        account.frozen = frozen

    @rule(account=accounts, days=st.integers(1, 365))
    def pay_interest(self, account: Account, days: int) -> None:
        self.steps += 1
        account.balance += int(account.balance * account.rate * days / 365)

    @rule(account=accounts)
    def reset_labels(self, account: Account) -> None:
        self.steps += 1
        account.labels.clear()

    @precondition(lambda self: self.open_accounts > 1)
    @rule(account=consumes(accounts))
    def close(self, account: Account) -> None:
        self.steps += 1
        self.open_accounts -= 1
        account.balance = 0

    @invariant()
    def is_open(self) -> None:
        assert self.steps < self.steps_max


class ShortDay(Bank):
    """A run of few steps."""

    steps_max = SHORT


def failing_run(bank: type[Bank]) -> trace.Trace:
    """A run of ``bank`` that fails at its last step."""

    def stop(now: ProgressSnapshot) -> None:
        if now.failures:
            raise KeyboardInterrupt  # What a user would do.

    explorer = Explorer(bank, max_checkpoints=0, workers=1)
    steps = min(4 * bank.steps_max, STEPS_PER_RUN_MAX)
    result = explorer.run(max_time=UNLIMITED_S, steps_per_run=steps, shrink=False, progress=stop)
    found = result.failures[0].trace
    assert found is not None
    assert len(found.taken_steps()) == bank.steps_max
    return found


def milliseconds(count: int, run: Callable[[], object]) -> list[float]:
    """How long ``run`` takes, so many times."""
    times = []
    for _ in range(count):
        started = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - started))
    return times


def replay_rows(path: Path, count: int) -> Iterator[list[str]]:
    """Rows of times: of replays alone, and with the reading of the file."""
    (first,) = milliseconds(1, lambda: trace.replay(trace.Trace.load(path), ShortDay))
    loaded = trace.Trace.load(path)
    yield ["load and replay, first in the process", "1", f"{first:.2f}"]
    for what, run in (
        ("replay", lambda: trace.replay(loaded, ShortDay)),
        ("load and replay", lambda: trace.replay(trace.Trace.load(path), ShortDay)),
        ("load", lambda: trace.Trace.load(path)),
    ):
        yield [what, str(count), spread(milliseconds(count, run), ".2f")]


def size_rows(recorded: trace.Trace, folder: Path) -> Iterator[list[str]]:
    """Rows of sizes, one for each kind of file."""
    plain = 0
    for suffix in SUFFIXES:
        path = folder / f"long{suffix}"
        (took,) = milliseconds(1, functools.partial(recorded.save, path))
        size = path.stat().st_size
        plain = plain or size
        yield [suffix, f"{size:,}", f"{plain / size:.1f}", f"{took:.0f}"]


def print_profile(path: Path, count: int) -> None:
    """Where the time of replays goes; a profiler makes Python calls dearer and leaves C++ as it is."""
    loaded = trace.Trace.load(path)
    profile = cProfile.Profile()
    with profile:
        for _ in range(count):
            trace.replay(loaded, ShortDay)
    pstats.Stats(profile).sort_stats("tottime").print_stats(PROFILE_LINES)


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replays", type=int, default=300, help="how often each is repeated (300)")
    parser.add_argument("--profile", action="store_true", help="say also where the time of replays goes")
    options = parser.parse_args()
    print(f"{host()}, Hypothesis {hypothesis.__version__}\n`{command()}`")
    with tempfile.TemporaryDirectory() as name:
        short = Path(name) / "short.json"
        failing_run(ShortDay).save(short)
        print(f"\nA trace of {SHORT} steps, milliseconds, min / median / max:\n")
        print(table(["what", "times", "ms"], replay_rows(short, options.replays)))
        print(f"\nA trace of {LONG:,} steps:\n")
        header = ["file", "bytes", "times smaller", "ms to write"]
        print(table(header, size_rows(failing_run(Bank), Path(name))))
        if options.profile:
            print_profile(short, options.replays)


if __name__ == "__main__":
    main()
