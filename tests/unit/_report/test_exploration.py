"""The texts: the final report, the progress line, the JSON, and how errors are shown."""

from __future__ import annotations

import json
import shlex
from typing import Any, ClassVar

import pytest
from msgspec import structs

from ordeal._base.trace_file import Trace, TraceStep
from ordeal._report.exploration import (
    closing_line,
    exploration_report,
    json_report,
    session_header,
)
from ordeal.result import Discovery, ExplorationResult, Failure, SeedOutcome, SeedStatus
from ordeal.result.exploration import swarm_text
from ordeal.result.failure import failure_id, replay_command
from ordeal.result.parts import CodeLine, FailurePlace

from ..samples.results import make_failure, make_result


def report_lines(*results: ExplorationResult) -> list[str]:
    return exploration_report(results).split("\n")


class TestReport:
    def test_with_failures(self) -> None:
        negative = make_failure(
            ValueError("balance cannot be negative"),
            *("deposit", "withdraw", "withdraw"),
            necessary_faults={},
            count=14,
            trace_path=".ordeal/traces/fail-run-42.json",
            program="machine = MyServiceChaos()\nmachine.deposit(amount=1)\n",
        )
        timed_out = make_failure(TimeoutError("connection timed out during write"), *["write"] * 7, run_id=51)
        assert exploration_report([make_result(negative, timed_out)]) == (
            "\n"
            "--- Ordeal Exploration Report ---\n"
            "\n"
            "  tests.test_chaos:MyServiceChaos\n"
            "    58320 runs, 1482010 steps, 300.0s\n"
            "    47 edges, 31 checkpoints\n"
            "    2 FAILURES:\n"
            "      ValueError: balance cannot be negative (3 steps)\n"
            "      TimeoutError: connection timed out during write (7 steps)\n"
            "\n"
            "    Run 42, step 3: ValueError: balance cannot be negative\n"
            "      Active faults: none\n"
            "      Necessary faults: none (fails without any faults)\n"
            "      Sequence: deposit -> withdraw -> withdraw\n"
            "      Seen: in 14 runs\n"
            "      Program:\n"
            "        machine = MyServiceChaos()\n"
            "        machine.deposit(amount=1)\n"
            "      Replay: ordeal replay .ordeal/traces/fail-run-42.json\n"
            "\n"
            "    Run 51, step 7: TimeoutError: connection timed out during write\n"
            "      Active faults: none\n"
            "      Sequence: write -> write -> write -> write -> write -> write -> write\n"
        )

    def test_failures_of_one_message_are_told_apart_by_their_places_first(self) -> None:
        lines = [CodeLine("shop.py", line, "Shop.add", "raise ValueError") for line in (3, 5)]
        places = [FailurePlace("rule", "add", CodeLine("test_shop.py", 9, "add", "..."), line) for line in lines]
        failures = [make_failure(ValueError("bad"), "add", place=place) for place in places]
        same = [make_failure(KeyError("a"), "get"), make_failure(KeyError("a"), "get")]
        assert report_lines(make_result(*failures, *same))[7:11] == [
            "      ValueError: bad (1 step): shop.py:3 in Shop.add",
            "      ValueError: bad (1 step): shop.py:5 in Shop.add",
            "      KeyError: 'a' (1 step)",
            "      KeyError: 'a' (1 step)",
        ]

    def test_coverage_and_notes_follow_the_failures(self) -> None:
        gaps = [{"file": "myapp/api.py", "line": line, "code": "if late:"} for line in range(1, 7)]
        result = make_result(
            coverage_gaps=gaps, lines_covered=45, lines_total=60, notes=("First.", "Second."), rejected_runs=3
        )
        assert report_lines(result)[7:] == [
            "",
            "    Line coverage: 45/60 (75%)",
            "    Not reached in 58320 runs: 6 branch(es) in target modules",
            *[
                line
                for number in range(1, 6)
                for line in (
                    f"      myapp/api.py:{number} if late:",
                    f'        add: reachable("myapp/api.py:{number}: if late:")',
                )
            ],
            "      ... and 1 more",
            "",
            "    Rejected: 3 runs",
            "    Note: First.",
            "    Note: Second.",
            "",
        ]

    def test_what_is_left_to_find_follows_the_coverage(self) -> None:
        discovery = Discovery(what="edges", runs=2000, seen=47, next_run=0.0035, next_run_max=0.0064, total=51.6)
        lines = report_lines(make_result(lines_covered=45, lines_total=60, discovery=discovery))
        assert lines[8:10] == [
            "    Line coverage: 45/60 (75%)",
            (
                "    Saturation: the next run shows a new edge with a probability of about 0.35%, at most 0.64% "
                "(95% confidence); at least 5 edges more can be found"
            ),
        ]

    def test_where_nothing_seems_left_a_bound_is_said(self) -> None:
        discovery = Discovery(what="features", runs=100, seen=9, next_run=0.0, next_run_max=0.263, total=9.0)
        assert report_lines(make_result(discovery=discovery))[8] == (
            "    Saturation: the next run shows a new feature with a probability of at most 26% (95% confidence); "
            "more time may help"
        )
        discovery = structs.replace(discovery, runs=9000, next_run_max=0.0003)
        assert "at most 0.03% (95% confidence); more time is unlikely to help" in "".join(
            report_lines(make_result(discovery=discovery))
        )

    def test_lines_that_no_run_reached_are_named(self) -> None:
        missed = {"shop/orders.py": [7, 8, 9, 21], "b.py": [1]}
        lines = report_lines(make_result(lines_covered=2399, lines_total=2400, missed_lines=missed))
        assert lines[8:11] == [
            "    Line coverage: 2399/2400 (99%)",
            "    Missed: shop/orders.py:7-9,21",
            "    Missed: b.py:1",
        ]
        many = make_result(lines_covered=1, lines_total=90, missed_lines={"a.py": list(range(21))})
        assert "Missed" not in "".join(report_lines(many))

    def test_failure_that_was_not_shrunk_does_not_claim_to_be_minimal(self) -> None:
        lines = report_lines(make_result(make_failure(ValueError("x"), "a", "b", shrunk=False, flaky=True)))
        assert lines[7] == "      ValueError: x (2 steps, not shrunk, flaky)"

    def test_failure_says_why_it_is_flaky_where_that_is_known(self) -> None:
        lines = report_lines(make_result(make_failure(ValueError("x"), "a", flaky=True, flaky_reason="not\nthere")))
        assert lines[7] == "      ValueError: x (1 step, flaky)"
        assert "      Flaky: not\\nthere" in lines

    def test_message_cannot_break_or_rewrite_the_report(self) -> None:
        hostile = "first\x1b[2J\r\u202eback\ud800\nsecond"
        lines = report_lines(make_result(make_failure(ValueError(hostile), "a")))
        assert lines[7] == r"      ValueError: first\x1b[2J\r\u202eback\ud800 (1 step)"

    def test_long_message_is_cut(self) -> None:
        line = report_lines(make_result(make_failure(ValueError("x" * 10_000_000), "a")))[7]
        assert line.endswith("xxx... (1 step)")
        assert len(line) < 250


class TestRunKinds:
    def test_shares_are_told_where_there_is_a_choice(self) -> None:
        kinds = {
            "starts": {"fresh": 30, "branch": 60, "splice": 10, "edit": 0},
            "swarm": {"full": 100},
        }
        text = make_result(run_kinds=kinds).summary()
        assert "\nRuns: 30% fresh, 60% from a checkpoint, 10% joined\n" in text
        assert "Swarm laws" not in text


class TestJson:
    SEED: ClassVar[Any] = {"name": "seed-0a", "path": "s/C/seed-0a.json", "status": "reproduced", "message": "E: x"}

    def make(self, **changes: Any) -> ExplorationResult:
        failure = make_failure(
            ValueError("é\x1b"), "go", trace_path=".ordeal/traces/fail-run-42.json", program="go()", bucket="b", count=2
        )
        gaps = [{"file": "b.py", "line": 1, "code": "if x:"}, {"file": "a.py", "line": 9, "code": "raise y"}]
        seeds = [SeedOutcome("seed-0a", "s/C/seed-0a.json", SeedStatus.REPRODUCED, "E: x")]
        return make_result(failure, coverage_gaps=gaps, seed_replays=seeds, notes=("n",), **changes)

    def test_content(self) -> None:
        assert json.loads(json_report([self.make()])) == {
            "schema_version": 1,
            "results": [
                {
                    "test_class": "tests.test_chaos:MyServiceChaos",
                    "rng_seed": 42,
                    "total_runs": 58320,
                    "total_steps": 1482010,
                    "unique_edges": 47,
                    "checkpoints": 31,
                    "checkpoints_saved": 31,
                    "rejected_runs": 0,
                    "unconfirmed": 0,
                    "inconclusive": None,
                    "stopped_reason": "time",
                    "target_modules": None,
                    "imported_modules": [],
                    "snapshot_kind": "copy",
                    "discovery": None,
                    "telemetry": {
                        "swarm": {"summary": ""},
                        "runs": {},
                        "behavior": {
                            "lines_covered": 0,
                            "lines_total": 0,
                            "missed_lines": {},
                            "covered_lines": {},
                            "coverage_gaps": [
                                {"file": "a.py", "line": 9, "code": "raise y"},
                                {"file": "b.py", "line": 1, "code": "if x:"},
                            ],
                        },
                    },
                    "seed_replays": [self.SEED],
                    "properties": [],
                    "reliability_cells": [],
                    "faults": [],
                    "rules": [],
                    "notes": ["n"],
                    "failures": [
                        {
                            "id": failure_id("b"),
                            "error_type": "ValueError",
                            "error_message": "é\x1b",
                            "step": 1,
                            "run_id": 42,
                            "bucket": "b",
                            "place": None,
                            "broken_by": [],
                            "count": 2,
                            "flaky": False,
                            "flaky_reason": "",
                            "shrunk": True,
                            "weights": {},
                            "active_faults": [],
                            "struck": None,
                            "necessary_faults": None,
                            "rule_log": ["go"],
                            "trace_steps": 1,
                            "trace_path": ".ordeal/traces/fail-run-42.json",
                            "seed_path": None,
                            "program": "go()",
                        }
                    ],
                    "known": [],
                    "timing": {"duration_seconds": 300.0, "runs_per_second": 194.4},
                }
            ],
        }

    def test_time_appears_in_timing_alone(self) -> None:
        def without_timing(duration: float) -> str:
            document = json.loads(json_report([self.make(duration_seconds=duration)]))
            for result in document["results"]:
                del result["timing"]
            return json.dumps(document)

        assert without_timing(1.0) == without_timing(123.456)

    def test_message_is_cut_at_500_characters(self) -> None:
        text = json_report([make_result(make_failure(ValueError("x" * 2000), "go"))])
        assert len(json.loads(text)["results"][0]["failures"][0]["error_message"]) == 500


class TestSessionTexts:
    def test_header_shows_every_option(self) -> None:
        header = session_header("1.2", 7, {"a": (), "b": ("x", "y"), "c": None, "d": True, "e": 0.5})
        assert header == "ordeal 1.2\nrng seed: 7\noptions: a=none b=x,y c=none d=true e=0.5"

    def test_closing_line_sums_up(self) -> None:
        failing = make_result(make_failure(ValueError(), "go"), total_runs=4190, duration_seconds=5.25)
        assert closing_line([failing], 1) == "1 finding in 1 class, 4,190 runs in 5.2 s, exit code 1"
        passing = make_result(total_runs=1, duration_seconds=1.0)
        assert closing_line([passing, passing], 0) == "No findings in 2 classes, 2 runs in 2.0 s, exit code 0"

    @pytest.mark.parametrize("path", ["a.json", "it's a.json", "-v.json"])
    def test_command_to_replay_is_one_shell_command(self, path: str) -> None:
        words = shlex.split(replay_command(path))
        assert words == ["ordeal", "replay", f"./{path}" if path.startswith("-") else path]


class TestLayout:
    PLACE = FailurePlace(
        "invariant",
        "adds_up",
        CodeLine("tests/test_bank.py", 9, "Bank.adds_up", "assert a == b"),
        CodeLine("bank/account.py", 3, "Account.total", "raise KeyError"),
        ("assert 1 == 2", " +  where 1 = self.a"),
    )

    def failure(self, **changes: Any) -> Failure:
        trace = Trace(1, 42, "tests.test_bank:Bank", steps=[TraceStep("rule", "go")])
        own: dict[str, Any] = {"trace": trace, "bucket": "b", "trace_path": "t/fail-run-1.json", "place": self.PLACE}
        own["program"] = "state = Bank()\nstate.go()\nstate.adds_up()  # the invariant\nstate.teardown()"
        return structs.replace(make_failure(ValueError("no"), "go"), **own, **changes)

    def test_a_failure_says_where_and_its_program_runs_as_pasted(self) -> None:
        failure = self.failure()
        assert exploration_report([make_result(failure)]).partition("    Run 42")[2].rstrip() == (
            ", step 1: ValueError: no\n"
            "      At: tests/test_bank.py:9 in Bank.adds_up (invariant)\n"
            "      Raised at: bank/account.py:3 in Account.total: raise KeyError\n"
            "      Asserted: assert 1 == 2\n"
            "       +  where 1 = self.a\n"
            "      Active faults: none\n"
            "      Sequence: go\n"
            f"      Id: {failure.id}\n"
            "      Program:\n"
            "        from tests.test_bank import Bank\n"
            "        state = Bank()\n"
            "        state.go()\n"
            "        state.adds_up()  # the invariant\n"
            "        state.teardown()\n"
            f"      Replay: ordeal replay {failure.id}"
        )
        (found,) = json.loads(json_report([make_result(failure)]))["results"][0]["failures"]
        assert found["place"]["at"] == {
            "file": "tests/test_bank.py",
            "line": 9,
            "function": "Bank.adds_up",
            "code": "assert a == b",
        }
        assert found["place"]["asserted"] == ["assert 1 == 2", " +  where 1 = self.a"]
        assert "state.adds_up()" in found["program"]

    def test_all_failures_are_shown_on_request(self) -> None:
        result = make_result(*(make_failure(ValueError(str(number)), "go") for number in range(12)))
        few, every = exploration_report([result]), exploration_report([result], all_failures=True)
        assert "      ... and 2 more (--all shows them)\n" in few
        assert few.count("step 1: ValueError") == 10
        assert every.count("step 1: ValueError") == 12
        assert "more" not in every

    def test_a_seed_is_not_called_unshrunk(self) -> None:
        failure = self.failure(shrunk=False, run_id=0, seed_path="s.json")
        assert "not shrunk" not in exploration_report([make_result(failure)])


class TestSwarmText:
    COUNTS: ClassVar = {"warm_up": 20, "full": 8, "coin_flip": 12, "directed": 9, "energy": 51}

    def test_says_where_the_configurations_came_from(self) -> None:
        assert swarm_text({**self.COUNTS, "runs": 100, "productive": 7, "configurations": 31}) == (
            "100 runs: 20 warm-up, 8 full, 12 coin-flip, 9 coverage-directed, 51 energy-weighted;"
            " 7 of 31 configurations productive"
        )
