"""``ordeal dashboard``: serves the pages of all runs to a browser on this computer, until Ctrl-C."""

from __future__ import annotations

import importlib
import importlib.util
import secrets
import socket
import webbrowser
from contextlib import suppress
from pathlib import Path

from ordeal._engine.runs.folder import RUNS_PATH
from ordeal._report.dashboard.app import make_app
from ordeal.cli import terminal
from ordeal.config.flags import DashboardFlags
from ordeal.errors import ConfigError

LOOPBACK = "127.0.0.1"
_NEEDS = ("starlette", "uvicorn")


def run(flags: DashboardFlags) -> int:
    """Serve until Ctrl-C, and return the exit code."""
    missing = [name for name in _NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        hint = f"`pip install {' '.join(missing)}`"
        raise ConfigError(f"`ordeal dashboard` needs the package `{missing[0]}`", hint=hint)
    runs = Path(flags.runs or RUNS_PATH)
    if flags.runs is not None and not runs.is_dir():
        raise ConfigError(f"no folder of runs: {runs}", hint="`ordeal explore` makes .ordeal/runs")
    with _listening(flags.port) as listening:
        port = listening.getsockname()[1]
        # Nothing that is searched depends on it: a page of somebody else must not guess the address.
        token = secrets.token_urlsafe()
        address = f"http://{LOOPBACK}:{port}/{token}/"
        terminal.write(f"{address}\n")
        terminal.say("Press Ctrl-C to stop.")
        if flags.open:
            webbrowser.open(address)
        uvicorn = importlib.import_module("uvicorn")
        app = make_app(runs.absolute(), token, listening.getsockname()[1])
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
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    return 0


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        hint = "name another `--port`, or none for one that is free"
        raise ConfigError(f"cannot listen on port {port}: {error.strerror or error}", hint=hint) from None
