"""Begins the process that records a failing trace: rewrites the modules of its test before anything imports them."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordeal._base.interpreter import send_and_exit, take_request
from ordeal._engine.coverage.targets import is_within
from ordeal._engine.plain.recorder import Recorder
from ordeal._engine.plain.rewriting import Finder

_MODEL = "ordeal.model"
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def main() -> None:
    """Answer the request on stdin: the program as JSON on stdout, or the reason why there is none."""
    request, answers = take_request()
    recorder = Recorder(is_target_by(request["targets"], request["module"]))
    test_module = request["module"]
    top = test_module.partition(".")[0]
    folders: set[str] = set()

    def wants(name: str, path: str) -> bool:
        if is_within(name, [_MODEL]):
            return True
        if is_within(name, request["targets"]) or any(mark in path for mark in _INSTALLED):
            return False
        if name == test_module:
            folders.add(str(Path(path).parent))
        if is_within(name, [top]) or str(Path(path).parent) in folders:
            recorder.definitions.modules.add(name)
            return True
        return False

    finder = Finder(wants, recorder)
    recorder.files = finder.files
    finder.install()
    record: Any = importlib.import_module("ordeal._engine.plain.recording").record
    answers.write(record(request, recorder))
    send_and_exit(answers)


def is_target_by(targets: Sequence[str], test_module: str) -> Any:
    """Return a predicate for modules of the code under test, which is a whole library if one is meant."""
    tops = {name.partition(".")[0] for name in targets} - {test_module.partition(".")[0]}

    def is_target(module: str) -> bool:
        if not targets:
            top = module.partition(".")[0]
            return top not in sys.stdlib_module_names and top not in (
                "",
                "ordeal",
                "hypothesis",
                test_module.partition(".")[0],
            )
        return is_within(module, targets) or module.partition(".")[0] in tops

    return is_target


if __name__ == "__main__":
    main()
