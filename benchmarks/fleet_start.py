"""How long it takes from an empty environment to four members on a cluster of Ray with two nodes.

usage: python benchmarks/fleet_start.py WHEEL

The commands are those of the guide: `pip install ordeal[ray]`, here of a wheel that was built before; `ray start` for
the head and for each node; and `ordeal explore --on ray://... --members 4`, until four members run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from textwrap import dedent

from harness.report import command, host, table

MEMBERS, NODES = 4, 2
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
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
    from cart import Cart

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


def main() -> int:
    """Install, start and wait, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", type=Path)
    options = parser.parse_args()
    sys.path.insert(
        0, str(Path(__file__).parents[1])
    )  # The tests are a package of the checkout, which nothing installs.
    from tests.clusters import engines  # noqa: PLC0415 - importable only now

    print(f"{host()}\n`{command()}`\n")
    rows: list[list[str]] = []
    started = time.monotonic()

    def note(what: str) -> None:
        rows.append([what, f"{time.monotonic() - started - sum(float(row[1]) for row in rows):.1f}"])

    with tempfile.TemporaryDirectory(prefix="oc") as name:
        folder = Path(name)
        place = project(folder / "project")
        venv.create(folder / "v", with_pip=True)
        python = str(folder / "v/bin/python")
        started = time.monotonic()
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"{options.wheel.absolute()}[ray]"], check=True)
        note("pip install 'ordeal[ray]'")
        ordeal, store = [python, "-m", "ordeal"], f"dir://{folder}/store"
        environment = {**os.environ, "ORDEAL_STORE": store}
        with engines.running("ray", folder / "c", nodes=NODES, python=python) as cluster:
            note("ray start, the head and two nodes")
            explore = [*ordeal, "explore", "--on", cluster.address, "--members", str(MEMBERS), "--max-time", "600"]
            explore += ["--workers", "1"]
            with subprocess.Popen(explore, cwd=place, env=environment, stdout=subprocess.DEVNULL) as fleet:
                while fleet.poll() is None:
                    status = [*ordeal, "fleet", "status", "--json"]
                    told = subprocess.run(status, env=environment, capture_output=True, text=True, check=False).stdout
                    members = json.loads(told)["members"].values() if told else ()
                    if sum(each["state"] == "running" for each in members) == MEMBERS:
                        break
                    time.sleep(0.2)
                note(f"ordeal explore --on ray://... --members {MEMBERS}, until they run")
                subprocess.run([*ordeal, "fleet", "stop"], env=environment, capture_output=True, check=False)
                ended = fleet.wait()
    rows.append(["all", f"{sum(float(row[1]) for row in rows):.1f}"])
    print(table(["command", "s"], rows))
    return int(ended == 2)


if __name__ == "__main__":
    raise SystemExit(main())
