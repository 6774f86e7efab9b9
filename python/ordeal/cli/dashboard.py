"""``ordeal dashboard``: serves the pages of all runs to a browser on this machine, until Ctrl-C."""

from __future__ import annotations

import importlib
import importlib.util
import secrets
import socket
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ordeal._base.interpreter import end, start
from ordeal._engine.runs.folder import RUNS_PATH
from ordeal._report.dashboard.app import make_app
from ordeal.cli import terminal
from ordeal.config.flags import DashboardFlags
from ordeal.errors import ConfigError

LOOPBACK = "127.0.0.1"
_NEEDS = ("starlette", "uvicorn")
_TOKEN_BYTES = 24
#: How long the pages may take to end with what they were served beside.
_END_SECONDS = 5.0
#: What serves next to a search: no option for it, as it waits for the end of its input.
_BESIDE = "from ordeal.cli.dashboard import DashboardFlags, run; run(DashboardFlags(beside=True))"


def run(flags: DashboardFlags) -> int:
    """Serve until Ctrl-C, and return the exit code."""
    check_installed("ordeal dashboard")
    runs = Path(flags.runs or RUNS_PATH)
    if flags.runs is not None and not runs.is_dir():
        raise ConfigError(f"no folder of runs: {runs}", hint="`ordeal explore` makes .ordeal/runs")
    with _listening(flags.port) as listening:
        port = listening.getsockname()[1]
        # Nothing that is searched depends on it: a page of somebody else must not guess the address.
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        address = f"http://{LOOPBACK}:{port}/{token}/"
        terminal.write(f"{address}\n")
        terminal.say("Ctrl-C ends.")
        if flags.open:
            webbrowser.open(address)
        _serve(listening, runs.absolute(), token, beside=flags.beside)
    return 0


def check_installed(command: str) -> None:
    """Raise ConfigError if a package is missing that ``command`` needs."""
    missing = [name for name in _NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        hint = f"`pip install {' '.join(missing)}`"
        raise ConfigError(f"`{command}` needs the package `{missing[0]}`", hint=hint)


@contextmanager
def beside() -> Iterator[str]:
    """Serve during the block, in a process of its own; its address is what is yielded, empty if it cannot serve.

    It ends with this process, whatever ends that: then its input ends.
    """
    command = [sys.executable, "-c", _BESIDE]
    # Ctrl-C ends the search, whose last page is to be seen until it has ended.
    process = start(command, pipes=["stdin", "stdout"])
    try:
        yield process.stdout.readline().decode().strip() if process.stdout else ""
    finally:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        end(process)


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        hint = "name another `--port`, or none for one that is free"
        raise ConfigError(f"cannot listen on port {port}: {error.strerror or error}", hint=hint) from None


def _serve(listening: socket.socket, runs: Path, token: str, *, beside: bool) -> None:
    uvicorn = importlib.import_module("uvicorn")
    app = make_app(runs, token, listening.getsockname()[1])
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
    )
    if beside:
        threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def _end_with_input(server: Any) -> None:
    while sys.stdin.read(1):
        pass
    server.should_exit = True
