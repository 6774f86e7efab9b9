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

from ordeal.cli.dashboard import beside

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
            assert b"No run is kept" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.slow
def test_it_serves_beside_a_search_until_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with beside() as address, urllib.request.urlopen(address, timeout=600) as answer:
        assert b"No run is kept" in answer.read()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=600)


def test_a_search_with_pages_needs_the_library_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal.cli.dashboard._NEEDS", ("no_such_package",))
    code, out, err = run("explore", "unit.samples.ailing:Clean", "--dashboard")
    assert (code, out) == (2, "")
    assert err.startswith("error: `ordeal explore --dashboard` needs the package `no_such_package`\n")
