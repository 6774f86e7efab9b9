"""Writes tests/durations.json, by which the slowest tests run first: pytest --durations=0 ... | tools/durations.py."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

#: A test that takes less may come whenever it does.
SECONDS_MIN = 1.0
LINE = re.compile(r"^([\d.]+)s (?:call|setup|teardown) +\S*?\.py::(?:\w+::)?(\w+)(\[.*)?$")


def longest(lines: list[str]) -> dict[str, float]:
    """The seconds of the slowest variant of each test that takes long, the slowest first."""
    variants: Counter[tuple[str, str]] = Counter()
    for line in lines:
        if match := LINE.match(line.rstrip()):
            seconds, function, variant = match.groups()
            variants[function, variant or ""] += float(seconds)  # type: ignore[assignment]
    found: dict[str, float] = {}
    for (name, _), seconds in variants.items():
        if seconds >= SECONDS_MIN:
            found[name] = max(found.get(name, 0.0), round(seconds, 1))
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


if __name__ == "__main__":
    target = Path(__file__).parent.parent / "tests" / "durations.json"
    target.write_text(json.dumps(longest(sys.stdin.readlines()), indent=2) + "\n", "utf-8")
