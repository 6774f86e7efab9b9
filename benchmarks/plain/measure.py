"""Finds one bug, and writes the plain reproduction of its failure, in a process that can import the library.

usage: python measure.py CLASS_PATH MODULES SHOWS SEED SECONDS FILE; prints what came of it as a line of JSON
"""

import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from ordeal import Explorer
from ordeal._engine.execution.class_path import load_class
from ordeal.errors import OrdealError
from ordeal.trace import plain


def measured(class_path: str, modules: list[str], shows: str, seed: int, seconds: float, file: Path) -> dict[str, Any]:
    """The steps of the smallest failure that shows the bug, and the lines of its plain reproduction or why none is."""
    result = Explorer(load_class(class_path), target_modules=modules, seed=seed, workers=1).run(max_time=seconds)
    traces = [
        failure.trace
        for failure in result.failures
        if failure.trace is not None and re.search(shows, str(failure.error))
    ]
    if not traces:
        return {"steps": None, "lines": None, "reason": "not found", "seconds": None}
    trace = min(traces, key=lambda trace: len(trace.taken_steps()))
    trace.save(file.with_suffix(".json"))
    began = time.monotonic()
    try:
        text, reason = plain(trace), ""
    except OrdealError as error:
        text, reason = "", error.message
    file.write_text(text, "utf-8")
    lines = sum(bool(line.strip()) for line in text.split("\n")) or None
    steps = len(trace.taken_steps())
    return {"steps": steps, "lines": lines, "reason": reason, "seconds": round(time.monotonic() - began, 1)}


def main() -> None:
    """Do what the arguments say."""
    warnings.simplefilter("ignore")
    class_path, modules, shows, seed, seconds, file = sys.argv[1:]
    found = measured(class_path, modules.split(), shows, int(seed), float(seconds), Path(file))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
