"""``ordeal explore`` and the seeds: what it says of them, deletes of them and saves, the engine being scripted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent
from typing import ClassVar

import pytest
from msgspec import structs

from ordeal._base.trace_file import TraceFailure
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.result import Note, NoteKind, SeedOutcome, SeedStatus

from .conftest import Run, ScriptedExplorer
from .test_explore import ACCOUNT, CLOSING, HEADER, MACHINES, make_result, make_trace


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES))
    Path("ordeal.toml").write_text(ACCOUNT)


class TestSeeds:
    OUTCOMES: ClassVar[list[SeedOutcome]] = [
        SeedOutcome("seed-1", ".ordeal/seeds/Account/seed-1.json", SeedStatus.REPRODUCED, "ValueError: bad"),
        SeedOutcome("seed-2", ".ordeal/seeds/Account/seed-2.json", SeedStatus.FIXED),
        SeedOutcome("seed-3", ".ordeal/seeds/Account/seed-3.json", SeedStatus.FAILS_DIFFERENTLY, "KeyError: 1"),
        SeedOutcome("seed-4", ".ordeal/seeds/Account/seed-4.json", SeedStatus.NO_LONGER_APPLIES, "no rule 'x'"),
        SeedOutcome("seed-5", ".ordeal/seeds/Account/seed-5.json", SeedStatus.UNREADABLE, "not JSON"),
    ]
    MUTE = "  outdated    seed-4: no longer applies: no rule 'x'\n  corrupt     seed-5: not JSON\n"

    @staticmethod
    def put_files() -> list[Path]:
        paths = [Path(outcome.path) for outcome in TestSeeds.OUTCOMES]
        paths[0].parent.mkdir(parents=True)
        for path in paths:
            path.write_text("")
        return paths

    def test_are_counted_but_for_those_that_somebody_must_look_at(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [make_result(seed_replays=self.OUTCOMES)]
        assert run("explore")[2] == (f"{HEADER}  Seeds: 5 replayed, 2 still fail, 1 fixed\n{self.MUTE}{CLOSING}")

    def test_have_a_line_each_on_request(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [make_result(seed_replays=self.OUTCOMES)]
        assert (
            run("explore", "-v")[2]
            == HEADER
            + (
                "  REGRESSION  seed-1: ValueError: bad\n"
                "  fixed       seed-2: no longer reproduces\n"
                "  REGRESSION  seed-3: fails differently: KeyError: 1\n"
            )
            + self.MUTE
            + CLOSING
        )

    def test_that_were_known_are_not_told_of_as_new(self, run: Run, explorer: ScriptedExplorer) -> None:
        result = make_result(7, 8, seed_replays=self.OUTCOMES[:1])
        old, new = result.failures
        failures = [structs.replace(old, seed_path=self.OUTCOMES[0].path)]
        explorer.outcomes = [structs.replace(result, failures=failures)]
        assert "  Seeds saved: none new (1 known in .ordeal/seeds/)\n" in run("explore")[2]
        failures.append(structs.replace(new, seed_path="s/A/seed-7.json"))
        explorer.outcomes = [structs.replace(result, failures=failures)]
        assert "  Seeds saved: 1 in .ordeal/seeds/ (1 known), replayed by the next run\n" in run("explore")[2]

    def test_that_hang_are_told_of_before_the_search_begins(self, run: Run, explorer: ScriptedExplorer) -> None:
        self.put_files()
        for number, error in enumerate(("RuleTimeoutError", "ValueError")):
            trace = make_trace(number)
            trace.failure = TraceFailure(error, "slow", 1, "b")
            SeedCorpus(".ordeal/seeds").save(trace)
        foreign = make_trace(3, "others:Account")
        foreign.failure = TraceFailure("RuleTimeoutError", "slow", 1, "b")
        SeedCorpus(".ordeal/seeds").save(foreign)
        explorer.outcomes = [make_result(), make_result()]
        assert "Exploring machines:Account...\n  Seeds that hang: 1, replayed first, " in run("explore")[2]
        assert "hang" not in run("explore", "--no-seeds")[2]

    def test_that_failed_name_the_trace_and_the_failure(self, run: Run, explorer: ScriptedExplorer) -> None:
        result = make_result(0)
        failures = [structs.replace(result.failures[0], seed_path="s/A/seed-0123.json")]
        explorer.outcomes = [structs.replace(result, failures=failures)]
        _, out, _ = run("explore")
        assert "    Seed 0123, step 1: ValueError: bad\n" in out
        assert f"      Replay: ordeal replay .ordeal/traces/fail-run-{make_trace(0).run_id}.json\n" in out

    def test_that_are_fixed_are_deleted_on_request_and_no_others(self, run: Run, explorer: ScriptedExplorer) -> None:
        paths = self.put_files()
        explorer.outcomes = [make_result(seed_replays=self.OUTCOMES), make_result(seed_replays=self.OUTCOMES)]
        assert "Pruned" not in run("explore")[2]
        assert all(path.exists() for path in paths)
        code, _, err = run("explore", "--prune-fixed-seeds")
        assert (code, "  Pruned 1 fixed seed(s).\n" in err) == (0, True)
        assert [path.exists() for path in paths] == [True, False, True, True, True]

    def test_that_cannot_be_deleted_or_saved_show_in_the_exit_code(self, run: Run, explorer: ScriptedExplorer) -> None:
        Path(self.OUTCOMES[1].path).mkdir(parents=True)
        explorer.outcomes = [
            make_result(seed_replays=self.OUTCOMES),
            make_result(notes=(Note("A seed was not saved: cannot write trace s.", NoteKind.SEED_NOT_SAVED),)),
        ]
        code, _, err = run("explore", "--prune-fixed-seeds")
        assert (code, "error: cannot delete the seed " in err) == (2, True)
        assert run("explore")[0] == 2

    @pytest.mark.parametrize(("options", "folder"), [((), ".ordeal/seeds"), (("--no-seeds",), None)])
    def test_are_used_unless_they_are_switched_off(
        self, run: Run, explorer: ScriptedExplorer, options: tuple[str, ...], folder: str | None
    ) -> None:
        explorer.outcomes = [make_result()]
        run("explore", *options)
        assert explorer.given[0].corpus_dir == (folder and Path(folder))


MADE = """
import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

def make():
    class Machine(RuleBasedStateMachine):
        @rule(by=st.integers(0, 9))
        def add(self, by):
            assert by < 5

    Machine.__module__, Machine.__qualname__ = "ordeal.chaos", "Made.Machine"
    return Machine

Shop = make()
Alias = Shop
"""


def test_a_class_that_a_library_made_is_named_as_the_settings_do(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("made_shop.py").write_text(MADE)
    Path("ordeal.toml").write_text('[explorer]\nmax_runs = 50\n[[tests]]\nclass = "made_shop:Alias"\n')
    code, out, err = run("explore")
    assert code == 1, err
    assert "  made_shop:Alias\n" in out
    assert "flaky" not in out
    (seed,) = Path(".ordeal/seeds/Alias").iterdir()
    assert json.loads(seed.read_text())["test_class"] == "made_shop:Alias"
    assert run("replay", str(seed))[0] == 1
    assert run("seeds")[0] == 1


def test_a_seed_without_its_class_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gone_shop.py").write_text(MADE)
    Path("ordeal.toml").write_text('[explorer]\nmax_runs = 50\n[[tests]]\nclass = "gone_shop:Shop"\n')
    assert run("explore")[0] == 1
    Path("gone_shop.py").write_text("Other = 1\n")
    del sys.modules["gone_shop"]
    code, _, err = run("seeds")
    assert code == 2
    assert "NO CLASS" in err
    assert "`gone_shop` has no `Shop`" in err
    assert "1 of 1 seed could not be replayed: a class cannot be used." in err
    assert "No seed fails" not in err
