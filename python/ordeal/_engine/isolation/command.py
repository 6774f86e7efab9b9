"""Runs a command of ordeal in a process of its own, with a time limit for it and for all that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


def run_module(
    module: str,
    arguments: Sequence[str],
    *,
    folder: Path,
    seconds: float,
    paths: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
) -> tuple[bytes, bytes]:
    """Return what ``python -m module`` printed to stdout and stderr.

    ``paths`` come first on its module search path. It is ended with all that it started when its time is over.
    """
    values = {**os.environ, **(environment or {})}
    values["PYTHONPATH"] = os.pathsep.join(filter(None, [*map(str, paths), values.get("PYTHONPATH", "")]))
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env=values,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return b"", b""
    finally:
        # Also after an orderly end: what the command left behind would keep a pipe or a file.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
