"""Runs a machine and reports what it did, in a process of its own.

usage: python -m ordeal._tools.doctor.examine ORDER, where the file ORDER is JSON with ``class``, ``targets``,
``seed``, ``max_runs``, ``max_time`` and ``output``, the file for the answer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from ordeal._base.property_text import json_properties
from ordeal._base.untrusted import bounded_call
from ordeal._engine.coverage.targets import compiled_modules
from ordeal._engine.execution.class_path import load_class, trust
from ordeal._engine.execution.machine import make_driver
from ordeal._native import deep_copy
from ordeal._tools.doctor.counting import Counts, Uses, counted
from ordeal._tools.doctor.explored import called_faults
from ordeal.errors import OrdealError
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult
from ordeal.result.exploration import line_ranges

_PATH_DEPTH_MAX = 6
_ITEMS_MAX = 100


def main(order_path: str) -> int:
    """Examine the class of the order, and write the answer."""
    order = json.loads(Path(order_path).read_text("utf-8"))
    sys.path.insert(0, str(Path.cwd()))
    try:
        with redirect_stdout(sys.stderr):
            answer = examined(order)
    except OrdealError as error:
        answer = {"error": {"message": error.message, "hint": error.hint or ""}}
    Path(order["output"]).write_text(json.dumps(answer), "utf-8")
    return 0


def examined(order: Mapping[str, Any]) -> dict[str, Any]:
    """Run the class of an order in this process, and return what it did."""
    trust(order["class"])
    given = load_class(order["class"])
    definition = make_driver(given).definition
    explorer = Explorer(given, target_modules=order["targets"], seed=order["seed"], workers=1)
    with counted(definition) as counts:
        result = explorer.run(max_runs=order["max_runs"], max_time=order["max_time"], shrink=False)
    return {
        "error": None,
        "rules": [_uses(each) | {"preconditions": _preconditions(each, counts)} for each in counts.rules.values()],
        "invariants": [_uses(each) for each in counts.invariants.values()],
        "copies": list(islice(_not_copied(counts.last), 5)) if counts.last is not None else [],
        "result": _plain(result, compiled_modules(explorer.targets)),
    }


def _plain(result: ExplorationResult, compiled: list[str]) -> dict[str, Any]:
    return {
        "total_runs": result.total_runs,
        "total_steps": result.total_steps,
        "seconds": result.duration_seconds,
        "stopped_reason": result.stopped_reason,
        "unique_edges": result.unique_edges,
        "failures": len(result.failures),
        "inconclusive": None if result.inconclusive is None else asdict(result.inconclusive),
        "target_modules": list(result.target_modules or ()),
        "imported_modules": list(result.imported_modules),
        "snapshot_kind": result.snapshot_kind,
        "faults": [asdict(use) for use in result.faults],
        "properties": json_properties(result.properties),
        "covered_lines": {file: ",".join(line_ranges(lines)) for file, lines in result.covered_lines.items()},
        "calling": called_faults(result),
        "compiled": compiled,
    }


def _uses(uses: Uses) -> dict[str, Any]:
    return {
        "name": uses.name,
        "starts": uses.starts,
        "returns": uses.returns,
        "rejected": uses.rejected,
        "raised": dict(uses.raised),
        "swallowed": dict(uses.swallowed),
        "states": len(uses.states),
        "opaque": uses.opaque,
        "seconds": uses.seconds,
        "processor": uses.processor,
    }


def _preconditions(rule: Uses, counts: Counts) -> list[dict[str, Any]]:
    own = counts.preconditions.get(rule.name, [])
    return [{"source": each.source, "starts": each.starts, "true": each.true} for each in own]


def _not_copied(machine: Any) -> Iterator[dict[str, str]]:
    """Yield the parts of a machine that cannot be copied, each as deep inside as it can be named."""
    for name, value in vars(machine).items():
        reason = _why_not(value, [])
        if reason:
            yield _deepest(value, f"self.{name}", reason, [])


def _deepest(value: Any, path: str, reason: str, around: list[Any]) -> dict[str, str]:
    around = [*around, value]
    if len(around) <= _PATH_DEPTH_MAX:
        for inner, part in _parts(value):
            deeper = _why_not(part, around)
            if deeper:
                return _deepest(part, f"{path}{inner}", deeper, around)
    return {"path": path, "reason": reason}


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r:.40}]", each) for key, each in islice(value.items(), _ITEMS_MAX))
    elif isinstance(value, list | tuple):
        yield from ((f"[{number}]", each) for number, each in enumerate(value[:_ITEMS_MAX]))
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict):
        yield from ((f".{name}", each) for name, each in islice(attributes.items(), _ITEMS_MAX))


def _why_not(value: Any, around: Sequence[Any]) -> str:
    """Return why a value cannot be copied, or nothing. What is around it counts as copied: it may lead back."""
    copied = {id(each): each for each in around}
    return bounded_call(
        lambda: (deep_copy(value, copied), "")[1], lambda error: str(error)[:200] or "copying takes too long"
    )


if __name__ == "__main__":
    # What the machine leaves behind, such as threads, does not keep the process.
    code = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)
