"""Tables in Markdown, and the line that says where and with what they were measured."""

import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path


def host() -> str:
    """The processor, its cores and how busy they were, the system and the interpreter."""
    busy = os.getloadavg()[0]
    return (
        f"{_processor()}, {os.cpu_count()} cores (load {busy:.1f} at the start), {platform.system()} "
        f"{platform.release()}, {platform.python_implementation()} {platform.python_version()}"
    )


def command() -> str:
    """The command that prints this table again, from the root of the repository."""
    script = Path(sys.argv[0]).resolve()
    return " ".join(["python", str(script.relative_to(script.parents[1])), *sys.argv[1:]])


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def spread(values: Sequence[float], form: str) -> str:
    """``min / median / max``, each in the format ``form``."""
    return " / ".join(format(value, form) for value in (min(values), statistics.median(values), max(values)))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
