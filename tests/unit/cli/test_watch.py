"""``ordeal seeds --watch``: which seeds a change concerns, in a warm process, and what cannot end the watching."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, cast

import pytest

from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.cli.watch import Exploring, SeedWatch, WarmProcess, is_watched
from ordeal.explore import Explorer

from .conftest import PACKAGE_FOLDER, Run

LIMITS = "LIMIT = 0\nENDS = False\n"
MACHINES = """\
    import os

    import limits
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    class Jar(RuleBasedStateMachine):
        @rule(by=st.integers(0, 5))
        def add(self, by):
            print("talk")
            if limits.ENDS:
                os._exit(3)
            assert by <= limits.LIMIT, f"{by} broke it"
    """


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Path:
    """A project with one seed, which fails."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("limits.py").write_text(LIMITS, "utf-8")
    Path("machines.py").write_text(dedent(MACHINES), "utf-8")
    Path("other.py").write_text("", "utf-8")
    machine: Any = importlib.import_module("machines").Jar
    Explorer(machine, corpus_dir=".ordeal/seeds").run(max_runs=50)
    return tmp_path


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def watch(project: Path, told: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeedWatch]:
    """A watch that has replayed all seeds."""
    caches = tmp_path_factory.mktemp("caches")
    warm = WarmProcess(None, caches)
    found = SeedWatch(SeedCorpus(".ordeal/seeds"), warm, told.append)
    found.replay_all()
    yield found
    warm.close()


def save(watch: SeedWatch, name: str, text: str) -> bool:
    """Save a file, and have the watch hear of it."""
    Path(name).write_text(text, "utf-8")
    return watch.changed([name])


def test_a_saved_file_replays_its_seeds_until_they_pass(watch: SeedWatch, told: list[str]) -> None:
    assert watch.exit_code == 1
    assert "REGRESSION" in told[0]
    told.clear()
    assert save(watch, "limits.py", LIMITS.replace("LIMIT = 0", "LIMIT = 9"))
    assert told[0] == "\nlimits.py changed"
    assert told[1].startswith("  fixed ")
    assert told[2].endswith("no seed fails")
    assert watch.exit_code == 0
    # Both are saved within a second, and are as long: a cache by the time of the file would keep the first.
    assert save(watch, "limits.py", LIMITS)
    assert watch.exit_code == 1


def test_a_file_of_no_seed_replays_none(watch: SeedWatch, told: list[str]) -> None:
    told.clear()
    assert not save(watch, "other.py", "x = 1\n")
    assert told == []


def test_a_syntax_error_is_told_once_and_the_next_change_replays(
    watch: SeedWatch, project: Path, told: list[str]
) -> None:
    (seed,) = project.glob(".ordeal/seeds/*/*.json")
    seed.with_name("seed-000000000000.json").write_bytes(seed.read_bytes())
    told.clear()
    save(watch, "limits.py", "def (\n")
    assert "NO CLASS" in told[1]
    assert "SyntaxError" in told[1]
    assert told[2] == "  NO CLASS    1 more seed of Jar"
    assert "not all could be replayed" in told[3]
    save(watch, "limits.py", LIMITS)
    assert "REGRESSION" in told[-2]


def test_a_seed_that_ends_its_process_fails_and_does_not_end_the_watching(watch: SeedWatch, told: list[str]) -> None:
    save(watch, "limits.py", LIMITS.replace("False", "True"))
    assert "ended its process" in told[-2]
    assert watch.exit_code == 1
    save(watch, "limits.py", LIMITS.replace("LIMIT = 0", "LIMIT = 9"))
    assert watch.exit_code == 0


def test_a_new_seed_is_replayed(watch: SeedWatch, project: Path, told: list[str]) -> None:
    (seed,) = project.glob(".ordeal/seeds/*/*.json")
    copy = seed.with_name("seed-000000000000.json")
    copy.write_bytes(seed.read_bytes())
    told.clear()
    assert watch.changed([str(copy)])
    assert "2 seeds run" in told[-1]


def test_the_folders_are_those_of_the_code(watch: SeedWatch, project: Path) -> None:
    assert watch.folders == sorted([str(project.resolve()), str(project.resolve() / ".ordeal/seeds/Jar")])


def test_a_process_that_does_not_answer_is_ended(project: Path, told: list[str]) -> None:
    warm = WarmProcess(None, project, seconds_max=0.0)
    found = SeedWatch(SeedCorpus(".ordeal/seeds"), warm, told.append)
    found.replay_all()
    assert "took too long" in told[0]
    assert found.exit_code == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a/b.py", True), ("ordeal.toml", True), ("seed-1.json.gz", True), ("b.pyc", False), ("result.json", False)],
)
def test_what_is_watched(name: str, expected: bool) -> None:
    assert is_watched(name) is expected


@pytest.mark.parametrize("flag", ["--json", "--prune-fixed"])
def test_it_has_no_end_to_report(project: Path, run: Run, flag: str) -> None:
    code, _, err = run("seeds", "--watch", flag)
    assert code == 2
    assert f"`{flag}` is for its end" in err


def test_without_the_library_it_says_what_to_install(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *rest: None if name == "watchfiles" else find(name, *rest)
    )
    code, _, err = run("seeds", "--watch")
    assert code == 2
    assert "pip install watchfiles" in err


@pytest.mark.slow
def test_it_follows_a_file_until_ctrl_c(project: Path) -> None:
    start = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    process = subprocess.Popen(
        [sys.executable, "-c", f"{start}from ordeal.cli import main; sys.exit(main())", "seeds", "--watch"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)},
    )
    assert process.stderr is not None
    limit = threading.Timer(60, process.kill)
    limit.start()
    try:
        for line in process.stderr:
            if line.startswith("Watching"):
                break
        # The watching begins a little after the line; a file that is saved again is noticed at the latest then.
        seen = threading.Event()
        threading.Thread(target=_save_until, args=(project / "limits.py", seen), daemon=True).start()
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "seed run" in line:
                break
        seen.set()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    finally:
        limit.cancel()
        process.kill()
        process.wait()
        process.stderr.close()
    assert any(line.startswith("  fixed ") for line in lines)


def _save_until(path: Path, seen: threading.Event) -> None:
    while not seen.is_set():
        path.write_text(LIMITS.replace("LIMIT = 0", "LIMIT = 9"), "utf-8")
        seen.wait(1)


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
def jar_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def test_it_explores_only_while_no_seed_fails(jar_project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    shown = cast("SeedWatch", watch)
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


def test_a_search_watches_folders_of_code(jar_project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("shop/inner", "shop/.hidden", "shop/__pycache__"):
        (jar_project / folder).mkdir(parents=True)
    (jar_project / "shop/__init__.py").write_text("raise RuntimeError\n", "utf-8")
    monkeypatch.syspath_prepend(jar_project)
    folders = Exploring([], ["jar", "shop.inner", "no_such_module", "pytest", "json"]).folders
    assert folders == [str(jar_project), str(jar_project / "shop"), str(jar_project / "shop/inner")]


@pytest.mark.parametrize("option", [["--json"], ["--no-seeds"], ["--prune-fixed-seeds"]])
def test_what_it_cannot_be_combined_with(jar_project: Path, run: Run, option: list[str]) -> None:
    code, _, err = run("explore", "--watch", *option)
    assert code == 2
    assert f"`--watch` and `{option[0]}` contradict each other" in err


@pytest.mark.nightly
def test_what_is_found_has_to_pass_before_it_explores_again(jar_project: Path) -> None:
    pytest.importorskip("watchfiles")
    said = jar_project / "said"

    def wait_for(text: str, times: int = 1) -> None:
        for _ in range(600):
            if said.read_text("utf-8").count(text) >= times:
                return
            time.sleep(0.05)
        raise AssertionError(said.read_text("utf-8"))

    with said.open("wb") as out:
        command = [sys.executable, "-m", "ordeal", "explore", "--watch"]
        process = subprocess.Popen(command, cwd=jar_project, stdout=out, stderr=out, start_new_session=True)
    try:
        wait_for("Watching")
        (jar_project / "jar.py").write_text("LIMIT = 30\n", "utf-8")
        wait_for("1 failing")
        assert said.read_text("utf-8").count("REGRESSION") == 1
        (jar_project / "jar.py").write_text("LIMIT = 60\n", "utf-8")
        wait_for("fixed  ")
        wait_for("No findings in 1 class", 2)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
