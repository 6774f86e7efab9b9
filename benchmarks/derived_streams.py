"""Whether the streams of tests depend on anything but the seed and the test, and whether any two seeds are the same.

A project of 1,000 tests runs in the order of its files, shuffled, and shuffled with workers of pytest-xdist. Each test
notes what `ordeal_rng`, `random`, numpy, buggify and Hypothesis give it.

usage: python benchmarks/derived_streams.py [--workers N] [--names N]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.report import command, host, table

import _ordeal_pytest
from ordeal import seed

FILES, TESTS = 4, 250
SESSION = 0x1234

CONFTEST = """
import json, os, random
from pathlib import Path

DRAWN = {}

def pytest_collection_modifyitems(items):
    if "SHUFFLE" in os.environ:
        random.Random(os.environ["SHUFFLE"]).shuffle(items)

def pytest_runtest_logreport(report):
    if report.when == "call":
        DRAWN[report.nodeid] = [report.outcome, *report.user_properties]

def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        Path("drawn.json").write_text(json.dumps(DRAWN))
"""

# The same names in each file; half of the tests are methods of a class.
TESTS_OF_A_FILE = f"""
import random
import numpy, pytest
from hypothesis import given, settings, strategies as st
from ordeal import buggify

def draw(ordeal_rng, record_property):
    examples = []

    @settings(database=None, max_examples=2)
    @given(st.lists(st.booleans(), min_size=64, max_size=64))
    def check(flips):
        examples.append(flips)

    check()
    buggify.activate()
    decisions = [buggify(0.5) for _ in range(64)]
    buggify.deactivate()
    record_property("ordeal_rng", ordeal_rng.random())
    record_property("random", random.random())
    record_property("numpy", numpy.random.random())
    record_property("buggify", decisions)
    record_property("hypothesis", examples)

@pytest.mark.parametrize("number", range({TESTS // 2}))
def test_draws(ordeal_rng, record_property, number):
    draw(ordeal_rng, record_property)

class TestDraws:
    @pytest.mark.parametrize("number", range({TESTS - TESTS // 2}))
    def test_draws(self, ordeal_rng, record_property, number):
        draw(ordeal_rng, record_property)
"""

Drawn = dict[str, list[object]]


def run(project: Path, *options: str, shuffle: str | None = None, number: int = SESSION) -> tuple[Drawn, float]:
    """What each test drew in a run of pytest, and the seconds that the run took."""
    # In CI, Hypothesis would draw the same for every seed.
    inherited = {name: value for name, value in os.environ.items() if name != "CI"}
    source = str(Path(_ordeal_pytest.__file__).absolute().parent)
    environment = {**inherited, "PYTHONPATH": source, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    if shuffle is not None:
        environment["SHUFFLE"] = shuffle
    words = ["-q", "-p", "_ordeal_pytest", f"--ordeal-seed={number:#x}", *options]
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"error: pytest failed\n{done.stdout}{done.stderr}")
    return json.loads((project / "drawn.json").read_text("utf-8")), time.perf_counter() - started


def make_project(folder: Path) -> None:
    """Write the project."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    for number in range(FILES):
        package = folder / f"part_{number}"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "test_draws.py").write_text(TESTS_OF_A_FILE)


def streams(drawn: Drawn) -> list[str]:
    """Every stream of every test, each as a text."""
    return [json.dumps(stream) for test in drawn.values() for stream in test[1:]]


def compare(project: Path, workers: int) -> None:
    """Run the project in several ways and print what differs."""
    straight, straight_s = run(project)
    kinds = {
        "serial, shuffled": run(project, shuffle="a"),
        f"-n {workers}, shuffled": run(project, "-p", "xdist.plugin", "-n", str(workers), shuffle="b"),
        "serial, another seed": run(project, number=SESSION + 1),
    }
    rows = [["serial", f"{straight_s:.1f}", str(len(straight)), str(len(streams(straight))), "-"]]
    for name, (drawn, spent_s) in kinds.items():
        differ = sum(
            one != other for test in straight for one, other in zip(straight[test][1:], drawn[test][1:], strict=True)
        )
        rows.append([name, f"{spent_s:.1f}", str(len(drawn)), str(len(streams(drawn))), str(differ)])
    print(table(["run", "seconds", "tests", "streams", "differ from the first"], rows))
    own = streams(straight)
    print(f"\nOf the {len(own)} streams of the first run, {len(own) - len(set(own))} are like another one.")


def count_collisions(names: int) -> None:
    """Derive many seeds and print how many are the same."""
    started = time.process_time()
    seeds = {seed.derive(SESSION, "ordeal_rng", f"tests/test_many.py::test[{number}]") for number in range(names)}
    spent_s = time.process_time() - started
    print(f"\n{names} derived seeds, {spent_s / names * 1e6:.1f} µs each: {names - len(seeds)} collisions.")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4, help="4")
    parser.add_argument("--names", type=int, default=10**6, help="1000000")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    with tempfile.TemporaryDirectory() as folder:
        make_project(Path(folder))
        compare(Path(folder), options.workers)
    count_collisions(options.names)


if __name__ == "__main__":
    main()
