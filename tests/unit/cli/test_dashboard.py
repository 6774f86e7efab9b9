"""``ordeal dashboard``: what it says before it serves, and that it serves until it is told to end."""

from __future__ import annotations

import importlib.util
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from .conftest import Run


def test_without_the_library_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *rest: None if name == "uvicorn" else find(name, *rest)
    )
    code, _, err = run("dashboard")
    assert code == 2
    assert "needs the package `uvicorn`" in err
    assert "pip install uvicorn" in err


def test_a_port_that_is_taken_is_told(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = run("dashboard", "--port", str(port))
    assert code == 2
    assert f"cannot listen on port {port}" in err


def test_a_folder_that_is_not_there_is_told(run: Run, tmp_path: Path) -> None:
    code, _, err = run("dashboard", "--runs", str(tmp_path / "nowhere"))
    assert code == 2
    assert "no folder of runs" in err


@pytest.mark.slow
def test_it_serves_until_ctrl_c(tmp_path: Path) -> None:
    start = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    process = subprocess.Popen(
        [sys.executable, "-c", f"{start}from ordeal.cli import main; sys.exit(main())", "dashboard"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        # It listens before it prints; whoever comes early waits.
        with urllib.request.urlopen(address, timeout=600) as answer:
            assert b"No search is kept" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
