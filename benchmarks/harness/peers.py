"""Programs to compare with, each installed once into an environment of its own under build/peers."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "build" / "peers"


class PeerError(Exception):
    """A peer could not be installed; the text says why."""


def interpreter_with(requirement: str) -> Path:
    """An interpreter, of the version of this one, that has ``requirement`` and what it needs.

    Raises:
        PeerError: it cannot be installed.
    """
    folder = PEERS / f"{requirement}-{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / "python"
    return _once(folder, [sys.executable, "-m", "venv", str(folder)], _pip(python, requirement)) / "bin" / "python"


def folder_with(name: str, *arguments: str) -> Path:
    """A folder for ``sys.path`` with the packages of ``arguments``, as pip takes them, but without their dependencies.

    Raises:
        PeerError: they cannot be installed.
    """
    folder = PEERS / name
    return _once(folder, _pip(Path(sys.executable), "--no-deps", "--target", str(folder), *arguments))


def _pip(python: Path, *arguments: str) -> list[str]:
    return [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]


def _once(folder: Path, *commands: list[str]) -> Path:
    """Make ``folder`` with ``commands``, unless that was done before; half a folder does not stay."""
    done = folder / "installed"
    if done.exists():
        return folder
    for command in commands:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            reason = (result.stderr.strip() or result.stdout.strip()).splitlines()
            raise PeerError(reason[-1] if reason else f"pip ended with {result.returncode}")
    done.touch()
    return folder
