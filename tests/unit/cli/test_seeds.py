"""``ordeal seeds``: its listing, what it prunes, its exit codes, and seeds that misbehave."""

from __future__ import annotations

import importlib
import json
import signal
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.explore import Explorer
from ordeal.trace import Trace

from .conftest import Run, edit

MACHINES = """\
    import sys
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    LIMIT, ERROR = 0, ValueError

    class Jar(RuleBasedStateMachine):
        @rule(by=st.integers(0, 5))
        def add(self, by):
            print("talk")
            print("more talk", file=sys.stderr)
            if by > LIMIT:
                raise ERROR(f"{by} broke it \\x1b[2J")

    class Cup(RuleBasedStateMachine):
        @rule()
        def drop(self):
            if LIMIT == 0:
                raise KeyError("gone")
    """


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES), encoding="utf-8")


@pytest.fixture
def seed(capsys: pytest.CaptureFixture[str]) -> Path:
    """A seed of the machine Jar."""
    return save("Jar", capsys)


def save(name: str, capsys: pytest.CaptureFixture[str], folder: str = ".ordeal/seeds") -> Path:
    machines: Any = importlib.import_module("machines")
    (failure,) = Explorer(getattr(machines, name), corpus_dir=folder).run(max_runs=50).failures
    capsys.readouterr()
    return Path(str(failure.seed_path))


def settings(text: str) -> None:
    Path("ordeal.toml").write_text(f'{text}\n[[tests]]\nclass = "machines:Jar"\n', encoding="utf-8")


class TestListing:
    def test_a_seed_that_still_fails_is_a_finding(self, run: Run, seed: Path) -> None:
        assert run("seeds") == (
            1,
            "",
            (
                "Seed corpus: 1 seed(s) in .ordeal/seeds/\n"
                "\n"
                f"  REGRESSION  {seed.name}  machines:Jar (1 step) — ValueError: 1 broke it \\x1b[2J\n"
                "\n"
                "1 of 1 seed still fails.\n"
                f"replay the first failure: ordeal replay {seed}\n"
            ),
        )

    def test_one_that_fails_differently_is_a_finding_with_both_errors(self, run: Run, seed: Path) -> None:
        edit(ERROR=OSError)
        code, _, err = run("seeds")
        assert code == 1
        assert (
            f"  DIFFERENT   {seed.name}  machines:Jar (1 step) — OSError: 1 broke it \\x1b[2J;"
            " recorded: ValueError: 1 broke it \\x1b[2J\n"
        ) in err

    def test_one_that_passes_is_fixed_and_kept(self, run: Run, seed: Path) -> None:
        edit(LIMIT=9)
        code, out, err = run("seeds")
        assert (code, out) == (0, "")
        assert err.endswith(
            f"\n\n  fixed       {seed.name}  machines:Jar (1 step) — no longer reproduces\n\nNo seed fails.\n"
        )
        assert seed.exists()

    def test_one_whose_class_is_gone_says_why(self, run: Run, seed: Path) -> None:
        edit(Jar=None)
        code, _, err = run("seeds")
        assert code == 2
        assert "No seed fails" not in err
        assert (
            f"  NO CLASS    {seed.name}  machines:Jar (1 step) — "
            "`machines:Jar` is of type NoneType, not a rule machine\n"
        ) in err

    def test_one_that_cannot_be_read_names_file_and_field_and_the_others_are_replayed(
        self, run: Run, seed: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        other = save("Cup", capsys)
        seed.write_text(seed.read_text().replace('"run_id"', '"id"'))
        code, _, err = run("seeds")
        assert code == 1
        assert f"  corrupt     {seed.name} — {seed} " in err
        assert f"  REGRESSION  {other.name}  machines:Cup (1 step) — KeyError: 'gone'\n" in err

    def test_verbose_shows_programs_tracebacks_and_what_is_printed(self, run: Run, seed: Path) -> None:
        code, out, err = run("seeds", "-v")
        assert (code, out) == (1, "")
        assert f"\n{' ' * 14}state = Jar()\n{' ' * 14}state.add(by=1)\n" in err
        assert f'{" " * 14}    raise ERROR(f"{{by}} broke it \\x1b[2J")\n' in err
        assert "talk\nmore talk\n" in err

    def test_json(self, run: Run, seed: Path) -> None:
        code, out, err = run("seeds", "--json")
        assert code == 1
        assert err.startswith("Seed corpus: 1 seed(s)")
        assert json.loads(out) == {
            "schema_version": 1,
            "tool": "seeds",
            "corpus_dir": ".ordeal/seeds",
            "seeds": [
                {
                    "name": seed.stem,
                    "path": str(seed),
                    "status": "reproduced",
                    "test_class": "machines:Jar",
                    "trace_steps": 1,
                    "recorded_error": "ValueError: 1 broke it \x1b[2J",
                    "error_type": "ValueError",
                    "error_message": "1 broke it \x1b[2J",
                    "reason": "",
                    "pruned": False,
                }
            ],
        }


class TestFolder:
    def test_none(self, run: Run) -> None:
        code, out, err = run("seeds")
        assert (code, out) == (0, "")
        assert err.startswith("No seed corpus found.\n\nhint: `ordeal explore` saves ")

    def test_the_settings_file_names_it_and_the_option_wins(self, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
        settings('[report]\ncorpus_dir = "kept"')
        save("Jar", capsys, "kept")
        assert run("seeds")[2].startswith("Seed corpus: 1 seed(s) in kept/\n")
        save("Jar", capsys, "elsewhere")
        assert run("seeds", "--dir", "elsewhere")[2].startswith("Seed corpus: 1 seed(s) in elsewhere/\n")

    def test_a_named_folder_that_is_not_there_is_wrong_use(self, run: Run) -> None:
        assert run("seeds", "--dir", "nope")[::2] == (
            2,
            "error: no folder nope to read seeds from\n\nhint: name the folder that holds the seeds\n",
        )

    def test_a_settings_file_that_is_wrong_is_an_error(self, run: Run, seed: Path) -> None:
        settings("[report]\ncorpus = 3")
        code, _, err = run("seeds")
        assert code == 2
        assert err.startswith("error: unknown key `corpus` in [report]")
        assert run("seeds", "--dir", ".ordeal/seeds")[0] == 1

    def test_a_file_in_its_place_is_an_error(self, run: Run) -> None:
        Path("file").write_text("")
        code, _, err = run("seeds", "--dir", "file")
        assert code == 2
        assert err.startswith("error: cannot read the seed corpus file: Not a directory\n\nhint: ")


class TestPruning:
    def test_only_seeds_that_ran_and_passed_are_deleted(self, run: Run, seed: Path) -> None:
        trace = Trace.load(seed)
        trace.steps[0].name = "left"
        outdated = SeedCorpus(".ordeal/seeds").save(trace)
        corrupt = outdated.with_name("seed-corrupt.json")
        corrupt.write_text("{")
        edit(LIMIT=9)
        code, out, err = run("seeds", "--prune-fixed", "--json")
        assert code == 0
        assert "\n\nPruned 1 fixed seed(s).\nNo seed fails.\n" in err
        assert [record["name"] for record in json.loads(out)["seeds"] if record["pruned"]] == [seed.stem]
        assert [path.exists() for path in (seed, outdated, corrupt)] == [False, True, True]

    def test_one_that_cannot_be_deleted(self, run: Run, seed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(self: Path, *, missing_ok: bool) -> None:
            raise PermissionError(13, "Permission denied", str(self))

        edit(LIMIT=9)
        monkeypatch.setattr(Path, "unlink", refuse)
        code, _, err = run("seeds", "--prune-fixed")
        assert code == 2
        assert f"error: cannot delete the seed {seed}: Permission denied\n" in err


class TestContainment:
    def test_ctrl_c(self, run: Run, seed: Path) -> None:
        def interrupt(_: str) -> None:
            signal.raise_signal(signal.SIGINT)

        edit(ERROR=interrupt)
        code, _, err = run("seeds")
        assert code == 130
        assert err.endswith("interrupted\n")
