"""How many edges two members on the two nodes of a cluster reach, against two workers of one command, in the same time.

usage: python benchmarks/fleet_edges.py [--on ray dask local] [--seconds N] [--rounds N]

It needs the libraries of the clusters: `pip install 'ordeal[ray,dask,redis]'`. The cluster is started here, with two
nodes on this machine; its members meet in a folder. What is explored are three parsers of the standard library, whose
edges take minutes to reach. Time counts from when the members explore: that a cluster starts processes is another
matter, and is in the last column. The rounds take turns.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from textwrap import dedent

from harness.report import command, host, table

GOAL = 0.95
MACHINE = """
    import configparser
    import html.parser
    from email import _header_value_parser as header

    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    PIECES = [
        "a", "b.c", "@", "<", ">", ",", ";", ":", "=", '"', "(", ")", "\\\\", " ", "\\n", "[", "]", "&", "#", "%", "/",
        "!", "=?utf-8?q?a?=", "charset*0*=utf-8''%41", "name", "text/html", "attachment", "${a}", "%(a)s", "1", "é",
    ]
    texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


    class Parsers(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.config = configparser.ConfigParser(allow_no_value=True)
            self.html = html.parser.HTMLParser()

        @rule(text=texts, kind=st.sampled_from(["address_list", "mailbox_list", "group", "msg_id"]))
        def parse_addresses(self, text, kind):
            self.attempt(getattr(header, f"get_{kind}"), text)

        @rule(text=texts, kind=st.sampled_from(["content_type_header", "content_disposition_header", "mime_version"]))
        def parse_parameters(self, text, kind):
            self.attempt(getattr(header, f"parse_{kind}"), text)

        @rule(text=texts)
        def read(self, text):
            self.attempt(self.config.read_string, "[a]\\n" + text)

        @rule(name=texts, value=texts)
        def set(self, name, value):
            self.attempt(self.config.set, "a", name, value)

        @rule(name=texts)
        def get(self, name):
            self.attempt(self.config.get, "a", name)

        @rule(text=texts)
        def feed(self, text):
            self.attempt(self.html.feed, text)

        def attempt(self, call, *arguments):
            try:
                call(*arguments)
            except Exception:  # what they refuse is no matter here
                pass
"""
SETTINGS = """
    [explorer]
    target_modules = ["configparser", "html.parser", "email._header_value_parser"]

    [[tests]]
    class = "test_parsers:Parsers"
"""


def project(folder: Path) -> Path:
    """Write the project and return its folder."""
    folder.mkdir()
    (folder / "test_parsers.py").write_text(dedent(MACHINE), encoding="utf-8")
    (folder / "ordeal.toml").write_text(dedent(SETTINGS))
    return folder


def explored(place: Path, seed: int, seconds: float, *options: str) -> tuple[int, int, float]:
    """The edges and runs of a command, and how long it took beyond its time."""
    started = time.monotonic()
    words = ["explore", "--seed", str(seed), "--max-time", str(seconds), "--json", "--no-seeds", *options]
    done = subprocess.run(
        [sys.executable, "-m", "ordeal", *words], cwd=place, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        sys.exit(f"error: {' '.join(words)} failed\n{done.stderr}")
    (result,) = json.loads(done.stdout)["results"]
    return result["unique_edges"], result["total_runs"], time.monotonic() - started - seconds


def compared(kind: str, options: argparse.Namespace, folder: Path) -> list[str]:
    """A row of the table: a kind of cluster against two workers."""
    from tests.clusters import engines  # noqa: PLC0415 - main() makes it importable

    place = project(folder / "project")
    ratios, made = [], []
    started = nullcontext() if kind == "local" else engines.running(kind, folder / "c", processors=1)
    with started as cluster:
        on = "local:2" if cluster is None else cluster.address
        for seed in range(options.rounds):
            store = f"dir://{folder}/store-{seed}"
            here = explored(place, seed, options.seconds, "--workers", "2")
            there = explored(
                place, seed, options.seconds, "--on", on, "--members", "2", "--store", store, "--workers", "1"
            )
            ratios.append(there[0] / here[0])
            made.append((*here, *there))
    edges, runs, beyond, their_edges, their_runs, their_beyond = (median(each) for each in zip(*made, strict=True))
    return [
        kind,
        f"{edges:,.0f}",
        f"{their_edges:,.0f}",
        f"{median(ratios):.3f}",
        f"{their_runs / runs:.2f}",
        f"{beyond:.1f} / {their_beyond:.1f}",
    ]


def main() -> int:
    """Compare on each cluster, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", nargs="*", default=["local", "dask", "ray"], choices=("local", "dask", "ray"))
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each command explores (60)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    sys.path.insert(
        0, str(Path(__file__).parents[1])
    )  # The tests are a package of the checkout, which nothing installs.
    print(f"{host()}\n`{command()}`\n")
    rows = []
    for kind in options.on:
        with tempfile.TemporaryDirectory(prefix="oc") as name:
            rows.append(compared(kind, options, Path(name)))
    header = ["members on", "edges of two workers", "of two members", "ratio", "ratio of runs", "s beyond the time"]
    print(table(header, rows))
    return int(any(float(row[3]) < GOAL for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
