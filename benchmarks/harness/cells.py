"""A cell of a comparison: one engine on one thing, in a process of its own, which prints what came of it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent
# Past its limit a cell may still be in a library's call, or on a machine that is busy with other work.
PATIENCE_TIMES = 10


def said_by(python: Path, module: str, *arguments: str, limit_s: float) -> dict[str, object]:
    """The line of JSON that a cell prints; ``broken`` and ``note`` where it prints none.

    It runs in a folder that goes away with what the engine leaves there.
    """
    paths = [str(BENCHMARKS)]
    if python == Path(sys.executable) and "PYTHONPATH" in os.environ:
        paths.append(os.environ["PYTHONPATH"])
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [str(python), "-m", module, *arguments],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"},
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=60 + PATIENCE_TIMES * limit_s,
            )
        except subprocess.TimeoutExpired:
            return {"broken": True, "note": "it did not end"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        return {"broken": True, "note": said[-1][:160]}
    found: dict[str, object] = json.loads(lines[-1])
    return found
