"""``--watch``: the command runs again after a save, and what it cannot be combined with."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from threading import Event, Thread, Timer

import pytest

from ordeal.cli.watch import is_watched

from .conftest import Run

MACHINE = """\
    import jar
    from hypothesis import strategies as st
    from ordeal import ChaosTest, rule

    class Jar(ChaosTest):
        @rule(by=st.integers(0, 50))
        def add(self, by):
            assert by <= jar.LIMIT, "too much"
    """


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose machine finds nothing until the limit is lowered."""
    monkeypatch.chdir(tmp_path)
    Path("jar.py").write_text("LIMIT = 99\n", "utf-8")
    Path("machine.py").write_text(dedent(MACHINE), "utf-8")
    settings = '[explorer]\nmax_time = 0.5\nworkers = 1\n[[tests]]\nclass = "machine:Jar"\n'
    Path("ordeal.toml").write_text(settings, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a/b.py", True), ("ordeal.toml", True), ("b.pyc", False), (".venv/lib/a.py", False), ("result.json", False)],
)
def test_what_is_watched(name: str, expected: bool) -> None:
    assert is_watched(Path(name)) is expected


@pytest.mark.parametrize(
    "arguments", [["seeds", "--json"], ["explore", "--json"], ["explore", "--generate-tests", "tests.py"]]
)
def test_what_it_cannot_be_combined_with(project: Path, run: Run, arguments: list[str]) -> None:
    code, _, err = run(*arguments, "--watch")
    assert code == 2
    assert f"`--watch` and `{arguments[1]}` contradict each other" in err


def test_without_the_library_it_says_what_to_install(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *rest: None if name == "watchfiles" else find(name, *rest)
    )
    code, _, err = run("seeds", "--watch")
    assert code == 2
    assert "pip install watchfiles" in err


@pytest.mark.slow
def test_it_explores_after_each_save_until_ctrl_c(project: Path) -> None:
    pytest.importorskip("watchfiles")
    start = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    process = subprocess.Popen(
        [sys.executable, "-c", f"{start}from ordeal.cli import main; sys.exit(main())", "explore", "--watch"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    limit = Timer(60, process.kill)
    limit.start()
    try:
        said = []
        for text, limit_of_jar in (("No findings in 1 class", 30), ("1 finding in 1 class", 99), ("1 fixed", 0)):
            for line in process.stderr:
                said.append(line)
                if text in line:
                    break
            else:
                raise AssertionError("".join(said))
            # The second and the third save are noticed; of the first, the watching may begin a little later.
            seen = Event()
            Thread(target=_save, args=(limit_of_jar, seen), daemon=True).start()
            for line in process.stderr:
                if "changed" in line:
                    break
            seen.set()
        for line in process.stderr:
            if "Watching" in line:
                break
        process.send_signal(signal.SIGINT)
        assert process.wait() == 1
    finally:
        limit.cancel()
        process.kill()
        process.wait()
        process.stderr.close()


def _save(limit: int, seen: Event) -> None:
    while not seen.is_set():
        Path("jar.py").write_text(f"LIMIT = {limit}\n", "utf-8")
        seen.wait(1)
