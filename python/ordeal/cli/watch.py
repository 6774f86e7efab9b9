"""``--watch`` of ``ordeal seeds`` and ``ordeal explore``: runs the same command again after each save, until Ctrl-C."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal.cli import terminal
from ordeal.errors import ConfigError

#: How long a command may take to end after a save, with its report; then it is killed.
END_SECONDS = 5.0
#: How often to look whether the command has ended.
_LOOK_MILLISECONDS = 500


def run_after_saves(*contradicting: str) -> int:
    """Run this command without ``--watch``, and again after each save. Return the exit code of its last whole run.

    ``contradicting`` are the options of the command line that make no sense with it.

    Raises:
        ConfigError: there is such an option, or the package that notices saves is not installed.
    """
    for option in contradicting:
        raise ConfigError(f"`--watch` and `{option}` contradict each other", hint="drop one of them")
    if importlib.util.find_spec("watchfiles") is None:
        raise ConfigError("`--watch` needs the package `watchfiles`", hint="`pip install watchfiles`")
    command = [sys.executable, "-m", "ordeal", *(each for each in sys.argv[1:] if each != "--watch")]
    # The time in a cache of Python is too coarse to tell two saves of one second apart.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    here = Path.cwd()
    saves = importlib.import_module("watchfiles").watch(
        here,
        watch_filter=lambda _, name: is_watched(Path(name).relative_to(here)),
        rust_timeout=_LOOK_MILLISECONDS,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    process, code = subprocess.Popen(command, env=environment), 0
    try:
        is_told = False
        for saved in saves:
            if not is_told and process.poll() is not None:
                is_told, code = True, process.returncode
                terminal.say("Watching; Ctrl-C ends.")
            if saved:
                process.send_signal(signal.SIGINT)
                _end(process)
                names = sorted({one_line(Path(name).name) for _, name in saved})
                terminal.say(f"\n{', '.join(names)} changed")
                process, is_told = subprocess.Popen(command, env=environment), False
    except KeyboardInterrupt:  # the process has met it as well
        terminal.say("")
        _end(process)
    return code


def is_watched(path: Path) -> bool:
    """Return True for a path of code or settings; what lies in a hidden folder, such as an environment, is neither."""
    return path.suffix in (".py", ".toml") and not any(part.startswith(".") for part in path.parts)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
