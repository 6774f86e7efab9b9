"""Small projects on disk: a package under test, its machines, and the command line run inside it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

from tests.warm_python import HASH_SEED, warm_python

import ordeal
from ordeal.explore import ExplorationResult, Explorer
from ordeal.trace import Trace

TIME_LIMIT_S = 600.0
CLI_TIME_LIMIT_S = 600.0
#: Plugins of pytest that the environment of the tests has, beside ours and that of Hypothesis.
OTHER_PLUGINS = ("anyio", "slipcover", "syrupy", "time_machine", "xdist", "xdist.looponfail")


def environment(hash_seed: str = HASH_SEED) -> dict[str, str]:
    """What a child process needs to import the same ordeal as this one."""
    # What this process was told as well: it may have another version of Hypothesis from there.
    folders = [str(Path(ordeal.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
        "PYTHONHASHSEED": hash_seed,
        "PYTHONDONTWRITEBYTECODE": "1",
        # To import them takes a pytest longer than all else that it does.
        "PYTEST_ADDOPTS": " ".join(f"-p no:{name}" for name in OTHER_PLUGINS),
    }


@dataclass(frozen=True)
class Project:
    """A folder that is imported from and explored in."""

    root: Path

    def write(self, files: dict[str, str]) -> None:
        """Write files by path relative to the project; the text may be indented as a whole."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")

    def load(self, class_path: str) -> Any:
        """Import ``module.path:Name``."""
        module, _, name = class_path.partition(":")
        package = module.partition(".")[0]
        if package in sys.modules and not _lies_in(sys.modules[package], self.root):
            _forget(lambda name, _: name.partition(".")[0] == package)  # that of another project
        return getattr(importlib.import_module(module), name)

    def python(self, *arguments: str, hash_seed: str = HASH_SEED) -> subprocess.CompletedProcess[str]:
        """Run the interpreter in the project."""
        if arguments[0] == "-m" and arguments[1] in ("ordeal", "pytest") and hash_seed == HASH_SEED:
            return warm_python().run(arguments, self.root, environment(), CLI_TIME_LIMIT_S)
        return self.new_python(*arguments, hash_seed=hash_seed)

    def new_python(self, *arguments: str, hash_seed: str = HASH_SEED) -> subprocess.CompletedProcess[str]:
        """Run an interpreter that has imported nothing before."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=environment(hash_seed),
            capture_output=True,
            text=True,
            timeout=CLI_TIME_LIMIT_S,
            check=False,
        )

    def explore(self, *options: str, hash_seed: str = HASH_SEED) -> subprocess.CompletedProcess[str]:
        """Run ``ordeal explore`` in the project."""
        return self.python("-m", "ordeal", "explore", *options, hash_seed=hash_seed)


@contextmanager
def importable(root: Path) -> Iterator[Project]:
    """Make a project importable, and forget everything imported from it afterwards."""
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    try:
        yield Project(root)
    finally:
        sys.path.remove(str(root))
        _forget(lambda _, module: _lies_in(module, root))


def _lies_in(module: ModuleType, root: Path) -> bool:
    """Whether a module, or a package without a file of its own, was found in ``root``."""
    file = getattr(module, "__file__", None)
    places = [file] if file else list(getattr(module, "__path__", ()))
    # Compared as texts: a thousand modules are looked at after each test, and paths would take longer than most tests.
    return any(str(place).startswith(f"{root}{os.sep}") for place in places)


def _forget(is_meant: Callable[[str, ModuleType], bool]) -> None:
    for name, module in list(sys.modules.items()):
        if is_meant(name, module):
            del sys.modules[name]


def explore(machine: Any, *, runs: int, steps: int = 20, shrink: bool = True, **options: Any) -> ExplorationResult:
    """Explore for a number of runs; the time is only there to end a test that hangs."""
    result = Explorer(machine, **{"seed": 42, **options}).run(
        max_runs=runs, max_time=TIME_LIMIT_S, steps_per_run=steps, shrink=shrink, record_traces=True
    )
    assert result.stopped_reason == "max_runs"
    return result


def step_names(trace: Trace | None) -> list[str]:
    """The names of the steps that do something."""
    assert trace is not None
    return [step.name for step in trace.steps if step.kind != "rule_swarm"]
