"""Programs to compare with, each installed once into an environment of its own under build/peers."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "build" / "peers"
_OWN_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


class PeerError(Exception):
    """A peer could not be installed; the text says why."""


def interpreter_with(*requirements: str, version: str | None = None) -> Path:
    """An interpreter that has ``requirements`` and what they need.

    Args:
        requirements: packages, as pip takes them; the first gives the environment its name.
        version: which Python, such as ``3.12``; None for the version of this one.

    Raises:
        PeerError: there is no such Python, or a package cannot be installed.
    """
    version = version or _OWN_VERSION
    folder = PEERS / f"{requirements[0]}-{version}"
    python = folder / "bin" / "python"
    base = python_of(version)
    return _once(folder, [str(base), "-m", "venv", str(folder)], _pip(python, *requirements)) / "bin" / "python"


def python_of(version: str) -> Path:
    """A Python of that version: this one, one on the path, or one installed beside this one.

    Raises:
        PeerError: none was found.
    """
    if version == _OWN_VERSION:
        return Path(sys.executable)
    beside = sorted(Path(sys.base_prefix).parent.glob(f"*{version}*/bin/python{version}"))
    on_path = shutil.which(f"python{version}")
    for python in [*beside, *([Path(on_path)] if on_path else [])]:
        # A shim may be there for a version that is not.
        if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
            return python
    raise PeerError(f"there is no Python {version}")


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
