"""``ordeal explore``: exit code, stdout and stderr for good and wrong input, with a scripted engine behind it."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any, ClassVar

import pytest
from msgspec import structs

from ordeal import __version__
from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.config.options import ExplorationOptions
from ordeal.errors import MachineError, TargetError
from ordeal.result import ExplorationResult, Note, NoteKind, ProgressSnapshot, SeedOutcome, SeedStatus

from ..samples import results as samples
from ..samples.results import make_failure
from .conftest import Run, ScriptedExplorer, wrong_value

MACHINES = """
    from hypothesis.stateful import RuleBasedStateMachine, rule

    class Account(RuleBasedStateMachine):
        @rule()
        def go(self): ...

    class Ledger(RuleBasedStateMachine):
        @rule()
        def go(self): ...
"""
ACCOUNT = '[[tests]]\nclass = "machines:Account"\n'
LEDGER = '[[tests]]\nclass = "machines:Ledger"\n'
OPTIONS = (
    "options: config=ordeal.toml target_modules=none max_time=60.0 max_runs=none patience=0 max_checkpoints=256"
    " checkpoint_prob=none checkpoint_strategy=energy steps_per_run=50 fault_toggle_prob=0.3 buggify_prob=0.1 workers=0"
    " rule_swarm=none max_memory=0 share_edges=true share_checkpoints=true rule_timeout=none known=none"
    " checkpoint_kind=auto value_reuse_prob=0.1 comparison_tracing=auto seed_mutation_prob=none swarm_policy=adaptive"
    " coverage=auto outside=fail shrink=true confirm_fresh=true"
)
WORKERS = "1 worker" if os.cpu_count() == 1 else f"{os.cpu_count()} workers"
FIRST = f"ordeal {__version__}: 1 class, {WORKERS}, 60 s, then up to 30 s to shrink, random seed 42\n"
HEADER = f"{FIRST}Exploring machines:Account...\n"
CLOSING = "No findings in 1 class, 58,320 runs in 300.0 s, exit code 0\n"
CLOSING_OF_ONE = "1 finding in 1 class, 58,320 runs in 300.0 s, exit code 1\n"
CLEAN_REPORT = """
--- Ordeal Exploration Report ---

  machines:Account
    58320 runs, 1482010 steps, 300.0s
    47 edges, 31 checkpoints
    No failures.
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES))
    settings(ACCOUNT)


def settings(text: str) -> None:
    Path("ordeal.toml").write_text(text)


def make_trace(run_id: int, test_class: str = "machines:Account", *, failed: bool = True) -> Trace:
    trace = Trace(run_id, 42, test_class, steps=[TraceStep("rule", "go")])
    trace.failure = TraceFailure("ValueError", "bad", 1, "b") if failed else None
    return trace


def make_result(*run_ids: int, test_class: str = "machines:Account", **changes: Any) -> ExplorationResult:
    failures = [
        make_failure(ValueError("bad"), "go", run_id=run_id, trace=make_trace(run_id, test_class)) for run_id in run_ids
    ]
    return samples.make_result(*failures, **{"test_class": test_class, "stopped_reason": "max_runs"} | changes)


class TestFindings:
    def test_none(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [make_result()]
        assert run("explore") == (0, CLEAN_REPORT, HEADER + CLOSING)
        assert [path.name for path in Path(".ordeal").iterdir()] == ["runs"]

    def test_one(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [make_result(7)]
        code, out, err = run("explore")
        assert code == 1
        assert out == CLEAN_REPORT.replace(
            "    No failures.\n",
            "    1 FAILURE:\n"
            "      ValueError: bad (1 step)\n"
            "\n"
            "    Run 7, step 1: ValueError: bad\n"
            "      Active faults: none\n"
            "      Sequence: go\n"
            "      Replay: ordeal replay .ordeal/traces/fail-run-7.json\n",
        )
        assert err == HEADER + CLOSING_OF_ONE
        assert Trace.load(".ordeal/traces/fail-run-7.json").run_id == 7

    def test_classes_do_not_overwrite_each_other(self, run: Run, explorer: ScriptedExplorer) -> None:
        settings(ACCOUNT + LEDGER + ACCOUNT)
        explorer.outcomes = [make_result(1), make_result(1, test_class="machines:Ledger"), make_result(1, 2)]
        code, out, _ = run("explore")
        assert code == 1
        traces = {str(path.relative_to(".ordeal/traces")) for path in Path(".ordeal/traces").rglob("*.json")}
        assert traces == {
            "fail-run-1.json",
            "fail-run-1-2.json",
            "fail-run-1-3.json",
            "fail-run-2.json",
        }
        assert all(f"Replay: ordeal replay .ordeal/traces/{name}\n" in out for name in traces)

    def test_traces_of_new_paths_are_saved_on_request(self, run: Run, explorer: ScriptedExplorer) -> None:
        settings(ACCOUNT + '[report]\ntraces = true\ntraces_dir = "t"\n')
        explorer.outcomes = [make_result(3, traces=[make_trace(2, failed=False), make_trace(3)])]
        assert run("explore")[0] == 1
        assert explorer.given[0].record_traces is True
        assert sorted(path.name for path in Path("t").iterdir()) == ["fail-run-3.json", "path-run-2.json"]


class TestOptions:
    def test_defaults_reach_the_engine(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [make_result()]
        run("explore")
        assert explorer.made[0].__name__ == "Account"
        assert explorer.given == [
            ExplorationOptions(isolate=True, confirm_fresh=True, corpus_dir=Path(".ordeal/seeds"))
        ]

    def test_entry_outweighs_section(self, run: Run, explorer: ScriptedExplorer) -> None:
        own = "steps_per_run = 7\nswarm = false\nrule_timeout = 0\n"
        settings(f"[explorer]\nsteps_per_run = 9\nrule_swarm = true\nrule_timeout = 5\n{ACCOUNT}{own}{LEDGER}")
        explorer.outcomes = [make_result(), make_result()]
        run("explore")
        own_values = [(options.steps_per_run, options.rule_swarm, options.rule_timeout) for options in explorer.given]
        assert own_values == [(7, False, 0.0), (9, True, 5.0)]

    def test_failures_to_ignore_add_to_those_of_the_file(self, run: Run, explorer: ScriptedExplorer) -> None:
        settings(f'[explorer]\nknown = ["from the file"]\n{ACCOUNT}')
        explorer.outcomes = [make_result(), make_result()]
        run("explore", "--ignore", "3f1c0a9b7d24", "--ignore", "12")
        run("explore")
        assert explorer.given[0].known == ("from the file", "3f1c0a9b7d24", "12")
        assert explorer.given[1].known == ("from the file",)
        assert run("explore", "--ignore", "")[0] == 2

    def test_command_line_outweighs_file(self, run: Run, explorer: ScriptedExplorer) -> None:
        Path("other.toml").write_text(f"[explorer]\nseed = 1\nmax_time = 1\nmax_runs = 1\nworkers = 1\n{ACCOUNT}")
        explorer.outcomes = [make_result()]
        numbers = f"--seed {2**64 - 1} --max-time 2.5 --max-runs 9 --patience 4 -w 3".split()
        _, _, err = run("explore", *numbers, "-c", "other.toml", "--no-shrink", "--no-confirm-fresh", "--no-seeds")
        assert err.startswith(
            f"ordeal {__version__}: 1 class, 3 workers, 2.5 s, random seed 18446744073709551615\n"
            "options: config=other.toml max_time=2.5 max_runs=9 patience=4 workers=3 shrink=false confirm_fresh=false\n"
        )
        given: dict[str, Any] = {
            "seed": 2**64 - 1,
            "max_time": 2.5,
            "max_runs": 9,
            "patience": 4,
            "workers": 3,
            "shrink": False,
        }
        assert explorer.given == [ExplorationOptions(**given, isolate=True)]

    @pytest.mark.parametrize(
        ("option", "value", "kind", "example"),
        [
            ("--seed", "-1", "a whole number from 0 to 2**64 - 1", "42"),
            ("--max-time", "abc", "a number of seconds above 0", "60"),
            ("--max-time", "nan", "a number of seconds above 0", "60"),
            ("--max-runs", "0", "a whole number, 1 or more", "1000"),
            ("--workers", "1.5", "a whole number from 0 (all cores) to 4096", "2"),
        ],
    )
    def test_wrong_value(
        self, run: Run, explorer: ScriptedExplorer, option: str, value: str, kind: str, example: str
    ) -> None:
        shown = '"abc"' if value == "abc" else value
        assert run("explore", option, value) == (2, "", wrong_value(option, shown, kind, example))
        assert not explorer.given

    @pytest.mark.parametrize(
        ("arguments", "message", "hint"),
        [
            (
                ["-c", "missing.toml"],
                "config file not found: missing.toml",
                "run `ordeal init` to create one, or name a file with `--config PATH`",
            ),
            (
                ["-c", "."],
                "config file is a directory: .",
                "name a file, for example `--config ordeal.toml`",
            ),
            (
                ["--no-seeds", "--prune-fixed-seeds"],
                "`--no-seeds` and `--prune-fixed-seeds` contradict each other",
                "drop one of them: seeds that are not replayed cannot be pruned",
            ),
        ],
    )
    def test_wrong_use(
        self, run: Run, explorer: ScriptedExplorer, arguments: list[str], message: str, hint: str
    ) -> None:
        assert run("explore", *arguments) == (2, "", f"error: {message}\n\nhint: {hint}\n")
        assert not explorer.given

    @pytest.mark.parametrize("option", ["--save-state", "--resume"])
    def test_one_state_for_several_classes_is_refused(self, run: Run, explorer: ScriptedExplorer, option: str) -> None:
        settings(ACCOUNT + ACCOUNT)
        assert run("explore", option, "state") == (
            2,
            "",
            (
                f"error: `{option}` names one file, and ordeal.toml has 2 [[tests]]\n\n"
                "hint: keep each class that is resumed in a separate settings file, see `-c`\n"
            ),
        )
        assert not explorer.given

    def test_the_state_is_handed_on(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [make_result()]
        _, _, err = run("explore", "--save-state", "to", "--resume", "from")
        assert "State saved: to\n" in err
        assert (explorer.given[0].save_state_to, explorer.given[0].resume_from) == (Path("to"), Path("from"))


class TestProgress:
    @staticmethod
    def tick(options: dict[str, Any]) -> ExplorationResult:
        for number, elapsed in enumerate([0.01, 0.5, 1.99, 2.02, 3.0, 12.4], start=1):
            options["progress"](ProgressSnapshot(elapsed, number, 10 * number, 4, 3, 0, 486.0))
        return make_result()

    @pytest.mark.parametrize(
        ("text", "arguments"),
        [(ACCOUNT, ["-v"]), (f"{ACCOUNT}[report]\nverbose = true", [])],
    )
    def test_at_most_every_two_seconds(
        self, run: Run, explorer: ScriptedExplorer, text: str, arguments: list[str]
    ) -> None:
        settings(text)
        explorer.outcomes = [self.tick]
        code, out, err = run("explore", *arguments)
        assert (code, out) == (0, CLEAN_REPORT)
        assert (
            err
            == HEADER
            + (
                "  [0s] runs=1 steps=10 edges=4 cps=3 fails=0 (486 runs/s)\n"
                "  [2s] runs=4 steps=40 edges=4 cps=3 fails=0 (486 runs/s)\n"
                "  [12s] runs=6 steps=60 edges=4 cps=3 fails=0 (486 runs/s)\n"
            )
            + CLOSING
        )

    def test_twice_verbose_shows_all_options(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [make_result()]
        assert run("explore", "-vv")[2] == f"{FIRST}{OPTIONS}\nExploring machines:Account...\n{CLOSING}"


class TestJson:
    def test_on_stdout(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [make_result(7)]
        code, out, _ = run("explore", "--json")
        assert code == 1
        (result,) = json.loads(out)["results"]
        assert result["failures"][0]["trace_path"] == ".ordeal/traces/fail-run-7.json"

    @pytest.mark.parametrize(("kind", "shown"), [("json", ""), ("both", CLEAN_REPORT)])
    def test_in_a_file(self, run: Run, explorer: ScriptedExplorer, kind: str, shown: str) -> None:
        settings(f'{ACCOUNT}[report]\nformat = "{kind}"\noutput = "out/report.json"\n')
        explorer.outcomes = [make_result()]
        assert run("explore") == (0, shown, f"{HEADER}Report saved: out/report.json\n{CLOSING}")
        assert json.loads(Path("out/report.json").read_text())["results"][0]["total_runs"] == 58320
        assert [path.name for path in Path("out").iterdir()] == ["report.json"]

    def test_is_json_also_when_nothing_could_be_explored(self, run: Run, explorer: ScriptedExplorer) -> None:
        explorer.outcomes = [TargetError("no", hint="yes")]
        code, out, _ = run("explore", "--json")
        assert (code, json.loads(out)["results"]) == (2, [])


class TestGeneratedTests:
    def test_are_written(self, run: Run, explorer: ScriptedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "ordeal._engine.export.generated_tests.generate_tests", lambda traces, apart: f"# {len(traces)} traces é\n"
        )
        settings(ACCOUNT + LEDGER)
        first, second = make_result(traces=[make_trace(1)]), make_result(traces=[make_trace(1), make_trace(2)])
        explorer.outcomes = [first, second]
        code, _, err = run("explore", "--generate-tests", "tests/test_generated.py")
        assert code == 0
        assert "Generated tests: tests/test_generated.py\n" in err
        assert explorer.given[0].record_traces is True
        assert Path("tests/test_generated.py").read_text("utf-8") == "# 3 traces é\n"

    def test_none_without_traces(self, run: Run, explorer: ScriptedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ordeal._engine.export.generated_tests.generate_tests", lambda traces, apart: "")
        explorer.outcomes = [make_result()]
        code, _, err = run("explore", "--generate-tests", "test_generated.py")
        assert (code, err) == (0, f"{HEADER}No tests generated: no trace was recorded\n{CLOSING}")
        assert not Path("test_generated.py").exists()


class TestUnexplored:
    def test_all_entries_are_checked_before_the_first_starts(self, run: Run, explorer: ScriptedExplorer) -> None:
        settings(f'{ACCOUNT}[[tests]]\nclass = "machines:Acount"\n[[tests]]\nclass = "machine:Account"\n')
        assert run("explore") == (
            2,
            "",
            (
                "error: `machines` has no `Acount`\n\nhint: did you mean `machines:Account`?\n"
                "error: no module named `machine`\n\nhint: did you mean `machines`?\n"
            ),
        )
        assert not explorer.given

    def test_others_still_run_and_wrong_use_outweighs_a_finding(self, run: Run, explorer: ScriptedExplorer) -> None:
        settings(ACCOUNT + LEDGER)
        explorer.outcomes = [MachineError("t", hint="h"), make_result(1, test_class="machines:Ledger")]
        code, out, err = run("explore")
        assert code == 2
        assert "1 FAILURE:" in out
        assert err.endswith("Exploring machines:Ledger...\n1 finding in 1 class, 58,320 runs in 300.0 s, exit code 2\n")


class TestUnwritable:
    """A file stands where a folder is needed: this also stops root, whom rights do not stop."""

    def test_traces(self, run: Run, explorer: ScriptedExplorer) -> None:
        Path(".ordeal").write_text("")
        explorer.outcomes = [make_result(7)]
        code, out, err = run("explore")
        assert code == 1
        assert "ValueError: bad (1 step)" in out
        assert "Replay:" not in out
        assert err == HEADER + (
            "error: cannot write trace .ordeal/traces/fail-run-7.json: Not a directory\n\n"
            "hint: give a folder that can be written to, as `traces_dir` in [report]\n"
            "note: this run is not kept: .ordeal/runs cannot be written: Not a directory\n" + CLOSING_OF_ONE
        )

    @pytest.mark.parametrize(("run_ids", "code"), [([], 2), ([7], 1)])
    def test_report(self, run: Run, explorer: ScriptedExplorer, run_ids: list[int], code: int) -> None:
        Path("file").write_text("")
        settings(f'{ACCOUNT}[report]\nformat = "json"\noutput = "file/report.json"\n')
        explorer.outcomes = [make_result(*run_ids)]
        actual, out, err = run("explore")
        assert actual == code
        assert out.startswith("\n--- Ordeal Exploration Report ---\n")
        assert (
            "error: cannot write the report to `file/report.json`: File exists\n\n"
            "hint: name another path, or change the rights of this one\n"
        ) in err


class TestInterrupt:
    def test_first_ctrl_c_reports_what_there_is_and_skips_the_rest(self, run: Run, explorer: ScriptedExplorer) -> None:
        settings(ACCOUNT + LEDGER)
        explorer.outcomes = [make_result(7, stopped_reason="interrupted")]
        code, out, err = run("explore")
        assert code == 1
        assert "1 FAILURE:" in out
        assert "    Stopped: interrupted\n" in out
        assert "interrupted: the report shows what was found so far\n" in err
        assert "Ledger" not in err

    def test_second_ctrl_c_keeps_the_results_of_earlier_classes(self, run: Run, explorer: ScriptedExplorer) -> None:
        settings(ACCOUNT + LEDGER)
        explorer.outcomes = [make_result(), KeyboardInterrupt()]
        code, out, err = run("explore")
        assert (code, out) == (130, CLEAN_REPORT)
        assert err.endswith(
            "interrupted: the report shows what was found so far\n"
            "No findings in 1 class, 58,320 runs in 300.0 s, exit code 130\n"
        )

    def test_termination_is_an_interrupt_and_only_while_exploring(self, run: Run, explorer: ScriptedExplorer) -> None:
        settings(ACCOUNT + LEDGER)
        before = signal.getsignal(signal.SIGTERM)
        explorer.outcomes = [make_result(), lambda options: os.kill(os.getpid(), signal.SIGTERM)]
        code, out, _ = run("explore")
        assert (code, out) == (130, CLEAN_REPORT)
        assert signal.getsignal(signal.SIGTERM) is before


def explore_in_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "ordeal", "explore", *arguments]
    return subprocess.run(command, capture_output=True, check=False, timeout=600, env={**os.environ, **environment})


class TestStreams:
    def test_ascii_terminal_gets_escapes_and_no_traceback(self) -> None:
        settings('[[tests]]\nclass = "prüfung:A"\n')
        done = explore_in_process(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert done.returncode == 2
        assert b"error: no module named `pr\\xfcfung`\n" in done.stderr

    @pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
    def test_terminal_has_colours_unless_no_color_is_set(self, no_color: str, coloured: bool) -> None:
        own, theirs = pty.openpty()
        command = [sys.executable, "-m", "ordeal", "explore", "-c", "missing.toml"]
        with os.fdopen(own, "rb", buffering=0) as screen:
            process = subprocess.Popen(command, stderr=theirs, env={**os.environ, "NO_COLOR": no_color})
            os.close(theirs)
            shown = screen.read(4096)
            assert process.wait(timeout=600) == 2
        assert (b"\x1b[31m\x1b[1merror\x1b[0m: " in shown) is coloured
        assert (b"error: config file not found" in shown) is not coloured


# The seeds: what is said of them, deleted of them and saved.


class TestSeeds:
    OUTCOMES: ClassVar[list[SeedOutcome]] = [
        SeedOutcome("seed-1", ".ordeal/seeds/Account/seed-1.json", SeedStatus.REPRODUCED, "ValueError: bad"),
        SeedOutcome("seed-2", ".ordeal/seeds/Account/seed-2.json", SeedStatus.FIXED),
        SeedOutcome("seed-3", ".ordeal/seeds/Account/seed-3.json", SeedStatus.FAILS_DIFFERENTLY, "KeyError: 1"),
        SeedOutcome("seed-4", ".ordeal/seeds/Account/seed-4.json", SeedStatus.NO_LONGER_APPLIES, "no rule 'x'"),
        SeedOutcome("seed-5", ".ordeal/seeds/Account/seed-5.json", SeedStatus.UNREADABLE, "not JSON"),
    ]
    MUTE = "  outdated    seed-4 — no longer applies: no rule 'x'\n  corrupt     seed-5 — not JSON\n"

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
                "  REGRESSION  seed-1 — ValueError: bad\n"
                "  fixed       seed-2 — no longer reproduces\n"
                "  DIFFERENT   seed-3 — KeyError: 1\n"
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


# Classes named on the command line, and the reports beside the text.
FOLDER = Path(".ordeal/report")
NAME_A_CLASS = "run `ordeal init` to create one, or name a class after the command: `machines:Account`"


@pytest.fixture
def _without_file() -> None:
    Path("ordeal.toml").unlink(missing_ok=True)


def test_reports_are_written_beside_the_text(run: Run, explorer: ScriptedExplorer) -> None:
    explorer.outcomes = [make_result()]
    code, out, err = run("explore", "--report", "json,sarif", "--report", "md")
    assert (code, out) == (0, CLEAN_REPORT)
    files = [FOLDER / name for name in ("ordeal.json", "ordeal.sarif", "ordeal.md")]
    assert err == f"{HEADER}Reports saved: {', '.join(map(str, files))}\n{CLOSING}"
    assert all(file.is_file() for file in files)


def test_formats_of_the_settings_are_written_too(run: Run, explorer: ScriptedExplorer) -> None:
    settings(f'{ACCOUNT}[report]\nformats = ["ndjson", "json"]\nreport_dir = "out"\n')
    explorer.outcomes = [make_result(7)]
    assert run("explore", "--report", "json,junit")[0] == 1
    assert sorted(path.name for path in Path("out").iterdir()) == ["junit.xml", "ordeal.json", "ordeal.ndjson"]
    # A flag alone moves the folder.
    explorer.outcomes = [make_result()]
    run("explore", "--report-dir", "elsewhere")
    assert len(list(Path("elsewhere").iterdir())) == 2


def test_the_json_report_is_the_one_that_is_printed(run: Run, explorer: ScriptedExplorer) -> None:
    explorer.outcomes = [make_result(7)]
    _, out, _ = run("explore", "--report", "json", "--json")
    assert json.loads((FOLDER / "ordeal.json").read_text()) == json.loads(out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--report", "xml"), 'error: `--report` is "xml", not a list of coverage, github, html, json, junit, md, '),
        (("--report", "junit,,md"), 'error: `--report` is "junit,,md", not a list of '),
        (("--report-dir", ""), 'error: `--report-dir` is "", not a folder path'),
    ],
)
def test_unknown_formats_are_refused(
    run: Run, explorer: ScriptedExplorer, arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = run("explore", *arguments)
    assert code == 2
    assert err.startswith(message)
    assert explorer.given == []


def test_a_report_that_cannot_be_written_costs_no_other(run: Run, explorer: ScriptedExplorer) -> None:
    Path("file").write_text("")
    explorer.outcomes = [make_result()]
    code, out, err = run("explore", "--report", "json,md", "--report-dir", "file/below")
    assert (code, out) == (2, CLEAN_REPORT)
    assert err.count("error: cannot write the report") == 2


def test_github_is_recognised(run: Run, explorer: ScriptedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("before\n")
    explorer.outcomes = [make_result(7)]
    code, out, err = run("explore")
    assert code == 1
    assert "::" not in out
    assert "\n::error title=ordeal e3b0c44298fc::ValueError: bad%0ASteps: go\n" in err
    assert Path("summary.md").read_text().startswith("before\n## ordeal: 1 finding in 1 class\n")
    assert not FOLDER.exists()


def test_a_summary_that_cannot_be_written_costs_nothing(
    run: Run, explorer: ScriptedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/folder.md")
    explorer.outcomes = [make_result()]
    code, out, err = run("explore")
    assert (code, out) == (0, CLEAN_REPORT)
    assert "note: the summary of the job was not written" in err


@pytest.mark.usefixtures("_without_file")
def test_classes_are_explored_without_a_file(run: Run, explorer: ScriptedExplorer) -> None:
    explorer.outcomes = [make_result(), make_result()]
    code, _, err = run("explore", "machines:Ledger", "machines:Account", "-t", "shop", "--target", "bank")
    assert code == 0
    assert [cls.__name__ for cls in explorer.made] == ["Ledger", "Account"]
    assert [options.target_modules for options in explorer.given] == [("shop", "bank")] * 2
    assert "2 classes" in err
    assert "options: target_modules=shop,bank\n" in err


def test_a_class_that_the_file_lists_has_the_options_of_its_entry(run: Run, explorer: ScriptedExplorer) -> None:
    settings(f"[explorer]\nseed = 7\n{ACCOUNT}steps_per_run = 9\n{LEDGER}")
    explorer.outcomes = [make_result()]
    run("explore", "machines:Account")
    ((cls,), (options,)) = explorer.made, explorer.given
    assert (cls.__name__, options.seed, options.steps_per_run) == ("Account", 7, 9)


@pytest.mark.usefixtures("_without_file")
@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ([], "config file not found: ordeal.toml", NAME_A_CLASS),
        (
            ["machines.Acount"],
            '`CLASS` is "machines.Acount", not a class path "module.path:ClassName"',
            'write a class path "module.path:ClassName", for example `tests.test_chaos:MyServiceChaos`',
        ),
        (["machines:Acount"], "`machines` has no `Acount`", "did you mean `machines:Account`?"),
    ],
)
def test_a_class_that_is_not_there(run: Run, arguments: list[str], message: str, hint: str) -> None:
    assert run("explore", *arguments) == (2, "", f"error: {message}\n\nhint: {hint}\n")


@pytest.mark.parametrize(
    ("on", "option", "value", "kinds"),
    [
        ("local:2", "--image", "app:1", "kubernetes"),
        ("slurm", "--image", "app:1", "kubernetes"),
        ("ray://h:1", "--job-option", "time=1", "slurm or kubernetes"),
    ],
)
def test_options_of_a_scheduler_are_refused_elsewhere(
    run: Run, explorer: ScriptedExplorer, on: str, option: str, value: str, kinds: str
) -> None:
    message = f"`{option}` says nothing to members on `{on.partition(':')[0]}`"
    hint = f"drop it, or use it with `--on {kinds}`"
    assert run("explore", "--on", on, option, value) == (2, "", f"error: {message}\n\nhint: {hint}\n")
    assert explorer.given == []


@pytest.mark.parametrize(("option", "value"), [("--members", "4"), ("--image", "app:1"), ("--job-option", "time=1")])
def test_options_of_a_fleet_need_a_fleet(run: Run, explorer: ScriptedExplorer, option: str, value: str) -> None:
    message = f"`{option}` is for a fleet, and nothing says where its members run"
    hint = "add `--on`, for example `--on local:4`, or drop it"
    assert run("explore", option, value) == (2, "", f"error: {message}\n\nhint: {hint}\n")
    assert explorer.given == []
