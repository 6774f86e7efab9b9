"""Whether `ordeal doctor` names each reason for finding nothing on a machine that has it, and none on a clean one.

usage: python benchmarks/doctor_puzzles.py [NAME]... runs the command over the puzzles and the clean machines, or over
those that are named, and prints what it said; exit 1 if a reason is not named, or a clean machine is told something

The goal: each puzzle is named, and twelve clean machines are told nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.report import command, host

ROOT = Path(__file__).parent.parent
AILING = "unit.samples.ailing"


@dataclass(frozen=True)
class Case:
    """A class, what it is examined with, and the check that is to name something; none where it is clean."""

    path: str
    targets: Sequence[str] = (AILING,)
    check: str = ""
    folder: str = "tests"
    settings: str = ""

    @property
    def name(self) -> str:
        return self.path.partition(":")[2]


PUZZLES = (
    Case(f"{AILING}:Missing", check="class"),
    Case(f"{AILING}:Clean", ("unit.samples.no_such_module",), "class"),
    Case(f"{AILING}:Clean", ("math",), "class"),
    Case(f"{AILING}:Clean", (), "target modules"),
    Case(f"{AILING}:NeverReady", check="rules"),
    Case(f"{AILING}:NoBundle", check="rules"),
    Case(f"{AILING}:Raises", check="rules"),
    Case(f"{AILING}:Rejects", check="rules"),
    Case(f"{AILING}:UncalledFault", check="faults"),
    Case(f"{AILING}:OneState", check="invariants"),
    Case(f"{AILING}:NeverReached", check="properties"),
    Case(f"{AILING}:Swallows", check="swallowed exceptions"),
    Case(f"{AILING}:HidesAnswers", check="swallowed exceptions"),
    Case(f"{AILING}:ReadsTheClock", check="stability"),
    Case(f"{AILING}:AsksTheSystem", check="stability"),
    Case(f"{AILING}:OrderOfASet", check="stability"),
    Case(f"{AILING}:Generating", check="copies"),
    Case(f"{AILING}:SlowInvariant", check="speed"),
    Case(f"{AILING}:Clean", check="workers", settings="workers = 400"),
)
CLEAN = (
    Case(f"{AILING}:Clean"),
    Case(f"{AILING}:CleanBundles"),
    Case("unit.samples.explained:Desk", ("unit.samples.explained",)),
    Case("puzzles.two_faults:TwoFaults", ("puzzles.two_faults",)),
    Case("test_work_queue_chaos:WorkQueueChaos", ("work_queue",), folder="examples/bounded_queue"),
    Case("test_drop_four:DropFour", ("drop_four",), folder="examples/drop_four"),
    Case("test_intervals_pair:IntervalsPair", ("intervals",), folder="examples/interval_set"),
    Case("test_mail_chaos:MailChaos", ("mail_queue",), folder="examples/mail_queue"),
    Case("tests.test_orders_chaos:OrdersChaos", ("orders",), folder="examples/order_retry"),
    Case("test_link_chaos:LinkChaos", ("link",), folder="examples/radio_link"),
    Case("tests.test_shop_chaos:ShopChaos", ("shop",), folder="examples/shop"),
    Case("tests.test_store_chaos:StoreChaos", ("store",), folder="examples/simulated_store"),
)


def told(case: Case) -> tuple[list[dict[str, str]], float]:
    """Return what the doctor says that is not ok, and how long that took."""
    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        settings = Path(folder, "ordeal.toml")
        targets = ", ".join(f'"{name}"' for name in case.targets)
        settings.write_text(
            f'[explorer]\ntarget_modules = [{targets}]\n{case.settings}\n[[tests]]\nclass = "{case.path}"\n', "utf-8"
        )
        examine = [sys.executable, "-m", "ordeal", "doctor", "--config", str(settings), "--json"]
        began = time.monotonic()
        done = subprocess.run(examine, cwd=ROOT / case.folder, check=False, capture_output=True, text=True)
        seconds = time.monotonic() - began
    if not done.stdout:
        return [{"name": "no answer", "message": done.stderr.strip()}], seconds
    return [each for each in json.loads(done.stdout)["checks"] if each["status"] != "ok"], seconds


def main(names: list[str]) -> int:
    wrong, all_seconds = 0, []
    print(f"{host()}\n`{command()}`\n")
    print("| machine | what it suffers from | s | what the doctor says |\n|---|---|---|---|")
    for case in (*PUZZLES, *CLEAN):
        if names and case.name not in names:
            continue
        found, seconds = told(case)
        all_seconds.append(seconds)
        right = [each["name"] for each in found] == ([case.check] if case.check else [])
        wrong += not right
        said = "; ".join(f"{each['name']}: {each['message']}" for each in found) or "nothing"
        mark = "" if right else "**wrong** "
        print(f"| {case.name} | {case.check or '-'} | {seconds:.1f} | {mark}{said.replace('|', '/')} |", flush=True)
    print(f"\n{len(all_seconds) - wrong} of {len(all_seconds)} as they should be, {max(all_seconds):.1f} s at most")
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main(sys.argv[1:]))
