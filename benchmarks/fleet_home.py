"""How soon what a fleet finds is home: from the first failing run anywhere to the failure confirmed on this machine.

usage: python benchmarks/fleet_home.py [--members N] [--seconds N] [--store URL] [--times N]

A fleet of this machine explores a cart with one planted bug, which every member meets. The machine notes when its
check failed for the first time in each process. Home is when the failure has been replayed here, shrunk and saved as a
seed, while the fleet goes on. A shrink is a member, or the process here, that tries candidates in the same half second.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

from harness.report import command, host, spread, table

from ordeal._engine.parallel.fleet.board import Board, launchers
from ordeal.store.open import open_readers

CART = """
    class Cart:
        def __init__(self):
            self.items, self.total = {}, 0

        def add(self, name, price):
            self.total += price - self.items.get(name, 0)
            self.items[name] = price

        def drop(self, name):
            price = self.items.pop(name, 0)
            if len(self.items) < 2:  # the bug: with more items, the total stays
                self.total -= price
"""
MACHINE = """
    import os, time
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
    from cart import Cart

    noted = set()

    class CartMachine(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.cart = Cart()

        @rule(name=st.sampled_from("abcd"), price=st.integers(1, 5))
        def add(self, name, price):
            self.cart.add(name, price)

        @rule(name=st.sampled_from("abcd"))
        def drop(self, name):
            self.cart.drop(name)

        @invariant()
        def total_is_that_of_the_items(self):
            if self.cart.total != sum(self.cart.items.values()):
                if os.getpid() not in noted:
                    noted.add(os.getpid())
                    with open(os.environ["FIRST_FAILURES"], "a") as log:
                        log.write(f"{time.time()}\\n")
                raise AssertionError("total is wrong")
"""


def project(folder: Path) -> Path:
    """Write the project and return its folder."""
    folder.mkdir()
    (folder / "cart.py").write_text(dedent(CART))
    (folder / "test_cart.py").write_text(dedent(MACHINE))
    (folder / "ordeal.toml").write_text(
        '[explorer]\ntarget_modules = ["cart"]\n[[tests]]\nclass = "test_cart:CartMachine"\n'
    )
    return folder


def shrinking(store: str) -> Iterator[str]:
    """Which members of the newest fleet say that they have tried candidates."""
    for name in list(launchers(store))[-1:]:
        for key, record in Board(store, name).all().items():
            if record.get("candidates"):
                yield key


def once(options: argparse.Namespace, folder: Path) -> tuple[float, float, float, int, int]:
    """Seconds from the first failing run until it is home, from there to the end, and the figures of the store."""
    place, log = project(folder / "project"), folder / "first"
    store = options.store or f"dir://{folder}/store"
    environment = {**os.environ, "ORDEAL_STORE": store, "FIRST_FAILURES": str(log)}
    command = [sys.executable, "-m", "ordeal", "explore", "--on", f"local:{options.members}"]
    command += ["--max-time", str(options.seconds), "--json"]
    started, home, shrinks = time.time(), 0.0, set[str]()
    with subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as run:
        while run.poll() is None:
            seeds = list((place / ".ordeal/seeds").rglob("seed-*.json"))
            home = home or (time.time() if seeds else 0.0)
            shrinks.update(shrinking(store))
            time.sleep(0.05)
        assert run.stdout is not None
        (result,) = json.load(run.stdout)["results"]
    ended = time.time()
    assert len(result["failures"]) == 1, result["failures"]
    first = min(map(float, log.read_text().split()))
    buckets = sum(len(reader.failures()) for reader in open_readers(store))
    return home - first, ended - started - options.seconds, first - started, buckets, 1 + len(shrinks)


def main() -> int:
    """Run fleets one after the other, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each fleet explores (10)")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--store", default="", help="where they meet (a folder)")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    found = []
    for _ in range(options.times):
        with tempfile.TemporaryDirectory() as name:
            found.append(once(options, Path(name)))
    homes, ends, firsts, buckets, shrinks = zip(*found, strict=True)
    rows = [
        ["first failing run after the start, s", spread(firsts, ".1f")],
        ["from there until it is home, s", spread(homes, ".1f")],
        ["the whole command beyond its time, s", spread(ends, ".1f")],
        ["buckets", spread(buckets, ".0f")],
        ["processes that shrank", spread(shrinks, ".0f")],
    ]
    print(table(["one bug, " + f"{options.members} members", "min / median / max"], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
