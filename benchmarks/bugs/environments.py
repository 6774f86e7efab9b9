"""The engines, each with the interpreter of an environment that has it."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.peers import interpreter_with

from bugs.results import OWN

HYPOTHESIS = "hypothesis==6.170.15"


@dataclass(frozen=True, slots=True)
class Engine:
    """What runs the machines: its name in the table, its module in bugs.engines, and its interpreter."""

    name: str
    module: str
    python: Path
    package: str

    def version(self) -> str:
        """The release that its environment has, and that of Hypothesis there."""
        own, hypothesis = (_version_of(self.python, package) for package in (self.package, "hypothesis"))
        beside = "" if self.package == "hypothesis" else f" (Hypothesis {hypothesis})"
        return f"{self.name} {own}{beside}"


def _version_of(python: Path, package: str) -> str:
    ask = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    done = subprocess.run([python, "-c", ask, package], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "of a source tree"


def engine_named(name: str) -> Engine:
    """An engine with its environment, which is made the first time.

    Raises:
        PeerError: it cannot be installed.
    """
    here = Path(sys.executable)
    if name == OWN:
        return Engine(name, "ordeal", here, "ordeal")
    if name == "Hypothesis":
        return Engine(name, "hypothesis", here, "hypothesis")
    if name == "public ordeal":
        return Engine(name, "ordeal", interpreter_with("ordeal==0.3.43", HYPOTHESIS), "ordeal")
    if name == "Hegel":
        return Engine(name, "hegel", interpreter_with("hegeltest==0.2.1", HYPOTHESIS), "hegeltest")
    if name == "HypoFuzz":
        return Engine(name, "hypofuzz", interpreter_with("hypofuzz==25.11.1", HYPOTHESIS), "hypofuzz")
    return Engine(name, "atheris", interpreter_with("atheris==3.1.0", HYPOTHESIS, version="3.12"), "atheris")
