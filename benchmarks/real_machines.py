"""Runs the machines of other projects' test suites, unchanged, by ordeal and by Hypothesis.

usage: python benchmarks/real_machines.py [--seconds S] [--projects NAME...]

Each project is installed, as a release that is pinned, into an environment of its own in a temporary folder, and its
tests are taken from the sdist of that release: nothing of it is kept. Their pytest runs them, with fixtures and all;
only what Hypothesis would do with a machine is done by both engines, each for the same time.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.report import command, host, table
from upstream_machines.catalog import PROJECTS, Project
from upstream_machines.sources import SourceError, environment_of, fetched

#: What one project may take, in multiples of the seconds of each machine, and to be imported.
SLOWNESS, IMPORT_SECONDS = 12, 300
PLUGINS = Path(__file__).parent / "upstream_machines"


def measure(
    project: Project, seconds: float, *, targets: tuple[str, ...] = (), rounds: int = 1, keep: Path | None = None
) -> list[dict[str, Any]]:
    """What became of each machine of a project, in each round. The environment is made in ``keep``, if it is not there.

    Raises:
        SourceError: it cannot be had, or none of its machines came to run.
    """
    with tempfile.TemporaryDirectory(prefix="ordeal-machines-") as name, _server(project):
        folder = Path(name)
        source = fetched(project, folder)
        for hidden in project.hidden:
            shutil.rmtree(source / hidden)
        python = environment_of(project, keep or folder / "environment")
        output = folder / "machines.jsonl"
        names = ["-k", project.only] if project.only else []
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "runner_plugin",
            "-o",
            "addopts=",
            "-o",
            "filterwarnings=ignore",
        ]
        environment = os.environ | {
            "PYTHONPATH": str(PLUGINS),
            "MACHINES_OUTPUT": str(output),
            "MACHINES_SECONDS": str(seconds),
            "MACHINES_MAX": str(project.machines_max),
            "MACHINES_ROUNDS": str(rounds),
            "MACHINES_TARGETS": " ".join(targets),
        }
        said = ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            run = subprocess.run(
                [str(python), "-m", "pytest", *options, *names, *project.options, *project.files],
                cwd=source / project.folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=IMPORT_SECONDS + SLOWNESS * seconds * project.machines_max * rounds,
            )
            said = run.stdout + run.stderr
        if not output.exists():
            errors = [line for line in said.splitlines() if line.startswith("E ")] or said.splitlines() or ["no time"]
            raise SourceError(errors[-1].removeprefix("E").strip())
        return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def attempt(project: Project, seconds: float) -> list[dict[str, Any]] | SourceError:
    """What became of the machines of a project, or why they were not run."""
    try:
        return measure(project, seconds)
    except SourceError as error:
        return error


@contextlib.contextmanager
def _server(project: Project) -> Iterator[None]:
    if not project.redis_port:
        yield
        return
    program = shutil.which("redis-server")
    if program is None:
        raise SourceError("there is no redis-server")
    with subprocess.Popen(
        [program, "--port", str(project.redis_port), "--save", ""], stdout=subprocess.DEVNULL, cwd=tempfile.gettempdir()
    ) as process:
        try:
            yield
        finally:
            process.terminate()


def row(project: Project, found: dict[str, Any]) -> list[str]:
    """A line of the table."""
    ours, theirs = found["ordeal"], found["Hypothesis"]
    rates = [each["steps"] / each["seconds"] if each["seconds"] else 0.0 for each in (ours, theirs)]
    ratio = f"{rates[0] / rates[1]:.2f}" if all(rates) else "-"
    test = found["test"].rpartition("::")[2]
    return [
        f"{project.name} {project.version}",
        f"{found['machine']} ({test})",
        verdict(found),
        *(f"{rate:,.0f}" for rate in rates),
        ratio,
    ]


def verdict(found: dict[str, Any]) -> str:
    """Works, refused, or who found failures."""
    ours, theirs = found["ordeal"], found["Hypothesis"]
    if ours["refused"]:
        if theirs["failed"] and not theirs["steps"]:
            return f"refused, as by Hypothesis ({theirs['failed'][0]})"
        return f"refused: {ours['refused']}".replace("|", "/").replace("\n", " ")[:120]
    if ours["failed"]:
        names = ", ".join(sorted(set(ours["errors"])))
        return f"works; {names} found {'by both' if theirs['failed'] else 'by ordeal alone'}"
    return f"works; {theirs['failed'][0]} found by Hypothesis alone" if theirs["failed"] else "works"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each machine and engine (default: 1)")
    parser.add_argument("--projects", nargs="+", default=[project.name for project in PROJECTS], help="(default: all)")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`: ordeal {version('ordeal')}, Hypothesis {version('hypothesis')}\n")
    chosen = [project for project in PROJECTS if project.name in options.projects]
    rows: list[list[str]] = []
    left_out = []
    # One is installed while another one runs: what is compared is processor time.
    with ThreadPoolExecutor(2) as pool:
        for project, found in zip(chosen, pool.map(lambda each: attempt(each, options.seconds), chosen), strict=True):
            if isinstance(found, SourceError):
                left_out.append(f"- Not run: {project.name} {project.version}: {found}")
            else:
                rows += [row(project, each) for each in found]
    projects = len(chosen) - len(left_out)
    print(
        table(["project", "machine (test)", "verdict", "ordeal steps/CPU s", "Hypothesis steps/CPU s", "ratio"], rows)
    )
    refused = sum(cells[2].startswith("refused:") for cells in rows)
    alone = sum("ordeal alone" in cells[2] for cells in rows)
    print(
        f"\n- {len(rows)} machines of {projects} projects: {refused} are refused that Hypothesis runs; "
        f"{alone} with failures that Hypothesis did not meet in five times as long."
    )
    print("\n".join(left_out))


if __name__ == "__main__":
    main()
