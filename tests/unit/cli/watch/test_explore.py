"""``ordeal explore --watch``: explores while no seed fails, and begins anew with what is saved."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import cast

import pytest

from ordeal.cli.watch.explore import Exploring
from ordeal.cli.watch.seeds import Watch

from ..conftest import Run

JAR = "LIMIT = 99\n"
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
    Path("jar.py").write_text(JAR, "utf-8")
    Path("machine.py").write_text(dedent(MACHINE), "utf-8")
    settings = '[explorer]\nmax_time = 1\nworkers = 1\n[[tests]]\nclass = "machine:Jar"\n'
    Path("ordeal.toml").write_text(settings, "utf-8")
    return tmp_path


class FakeWatch:
    """A watch of which a test says whether a seed fails."""

    exit_code = 0

    def __init__(self) -> None:
        self.told: list[list[str]] = []

    def changed(self, files: list[str]) -> bool:
        self.told.append(files)
        return True


def test_it_explores_only_while_no_seed_fails(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[str]] = []

    class Process:
        def __init__(self, command: list[str]) -> None:
            begun.append(command)
            self.signals: list[int] = []

        def send_signal(self, number: int) -> None:
            self.signals.append(number)

        def poll(self) -> int | None:
            return 0 if self.signals else None

        def wait(self, _seconds: float | None = None) -> int:
            assert self.signals == [signal.SIGINT]
            return 0

    monkeypatch.setattr(subprocess, "Popen", Process)
    watch = FakeWatch()
    shown = cast("Watch", watch)
    exploring = Exploring(["explore", "--seed", "3"], ["jar"])
    exploring.begin(shown)
    assert begun == [[sys.executable, "-m", "ordeal", "explore", "--seed", "3"]]
    assert not exploring.look([], shown)
    exploring.look(["seed-1.json"], shown)
    assert len(begun) == 1
    watch.exit_code = 1
    assert exploring.look(["jar.py"], shown)
    assert len(begun) == 1
    watch.exit_code = 0
    exploring.look(["jar.py"], shown)
    assert len(begun) == 2
    assert watch.told == [["seed-1.json"], ["jar.py"], ["jar.py"]]


def test_the_folders_are_those_of_the_code(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("shop/inner", "shop/.hidden", "shop/__pycache__"):
        (project / folder).mkdir(parents=True)
    (project / "shop/__init__.py").write_text("raise RuntimeError\n", "utf-8")
    monkeypatch.syspath_prepend(project)
    folders = Exploring([], ["jar", "shop.inner", "no_such_module", "pytest", "json"]).folders
    assert folders == [str(project), str(project / "shop"), str(project / "shop/inner")]


@pytest.mark.parametrize("option", [["--json"], ["--no-seeds"], ["--prune-fixed-seeds"]])
def test_what_it_cannot_be_combined_with(project: Path, run: Run, option: list[str]) -> None:
    code, _, err = run("explore", "--watch", *option)
    assert code == 2
    assert f"`--watch` and `{option[0]}` contradict each other" in err


@pytest.mark.nightly
def test_what_is_found_has_to_pass_before_it_explores_again(project: Path) -> None:
    pytest.importorskip("watchfiles")
    said = project / "said"

    def wait_for(text: str, times: int = 1) -> None:
        for _ in range(600):
            if said.read_text("utf-8").count(text) >= times:
                return
            time.sleep(0.05)
        raise AssertionError(said.read_text("utf-8"))

    with said.open("wb") as out:
        command = [sys.executable, "-m", "ordeal", "explore", "--watch"]
        process = subprocess.Popen(command, cwd=project, stdout=out, stderr=out, start_new_session=True)
    try:
        wait_for("Watching")
        (project / "jar.py").write_text("LIMIT = 30\n", "utf-8")
        wait_for("1 failing")
        assert said.read_text("utf-8").count("REGRESSION") == 1
        (project / "jar.py").write_text("LIMIT = 60\n", "utf-8")
        wait_for("fixed  ")
        wait_for("No findings in 1 class", 2)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
