"""``[health] fail_on`` and ``--fail-on``: warnings that fail a search and an examination."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from .conftest import Run

MACHINES = """
    import json
    from ordeal import ChaosTest, rule

    class Machine(ChaosTest):
        @rule()
        def go(self):
            json.dumps({})
"""
SEARCH = ("explore", "--in-process", "--max-runs", "20", "--progress", "none")


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES))


def settings(**sections: str) -> None:
    text = "".join(f"[{name}]\n{lines}\n" for name, lines in sections.items())
    Path("ordeal.toml").write_text(text + '[[tests]]\nclass = "machines:Machine"\n')


def test_a_search_ends_with_1_at_a_warning_that_is_to_fail(run: Run) -> None:
    settings()
    assert run(*SEARCH)[0] == 0
    assert run(*SEARCH, "--fail-on", "rules")[0] == 0
    code, out, err = run(*SEARCH, "--fail-on", "rules,target modules")
    assert code == 1
    assert "No failures" in out
    assert "error: machines:Machine: Coverage: off\n\nhint: Name what is tested in target_modules" in err
    assert err.endswith("exit code 1\n")


def test_the_settings_name_what_fails_and_the_flag_adds_to_it(run: Run) -> None:
    settings(health='fail_on = ["target modules"]')
    assert run(*SEARCH)[0] == 1
    assert run(*SEARCH, "--fail-on", "stability")[0] == 1
    settings(health='fail_on = ["all"]', explorer='target_modules = ["json"]')
    assert run(*SEARCH)[0] == 0


def test_a_search_ends_with_1_at_what_it_only_warns_of(run: Run) -> None:
    leaking = MACHINES.replace("json.dumps({})", "open(__file__)")
    Path("machines.py").write_text(dedent(leaking))
    settings()
    assert run(*SEARCH)[0] == 0
    code, _, err = run(*SEARCH, "--fail-on", "outside")
    assert code == 1
    assert "error: machines:Machine: Outside of the steps: unclosed file" in err


@pytest.mark.slow
def test_the_doctor_ends_with_1_for_the_checks_that_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal._tools.doctor.running.RUNS", 60)
    settings()
    assert run("doctor", "--fail-on", "stability")[0] == 0
    assert run("doctor", "--fail-on", "target modules", "--fail-on", "rules")[0] == 1


@pytest.mark.parametrize("command", ["explore", "doctor"])
def test_no_other_word_is_taken_for_a_check(run: Run, command: str) -> None:
    settings()
    code, out, err = run(command, "--fail-on", "rule")
    assert (code, out) == (2, "")
    assert err.startswith('error: `--fail-on` is "rule", not a list of target modules, rules, ')
    assert "hint: " in err
    settings(health="fail_on = 1")
    code, out, err = run(command)
    assert (code, out) == (2, "")
    assert err.startswith("error: `fail_on` in [health] of ordeal.toml is 1, not a list of ")
