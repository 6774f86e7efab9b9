"""Results: the texts that a user sees through ``summary()`` and ``str(failure)``, and the suggestions."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from ..samples.results import make_result
from .test_failure import make_failure


def gap(line: int = 42, code: str = "if response.status >= 500:") -> dict[str, Any]:
    return {"file": "myapp/api.py", "line": line, "code": code}


class TestSummary:
    def test_without_failures(self) -> None:
        assert make_result().summary() == (
            "Exploration: 58320 runs, 1482010 steps, 300.0s\n"
            "Coverage: 47 edges, 31 checkpoints\n"
            "No failures found.\n"
            "Stopped: time"
        )

    def test_with_everything(self) -> None:
        result = make_result(
            failures=[make_failure(active_faults=["disk_full"], count=4, trace_path="traces/fail-run-3.json")],
            coverage_gaps=[gap()],
            lines_covered=45,
            lines_total=60,
            swarm_summary="12 configurations",
            rejected_runs=1,
            unconfirmed=2,
            notes=("Snapshots were not faithful, so prefixes are run again",),
            stopped_reason="max_runs",
        )
        assert result.summary() == (
            "Exploration: 58320 runs, 1482010 steps, 300.0s\n"
            "Coverage: 47 edges, 31 checkpoints\n"
            "Swarm: 12 configurations\n"
            "Failures found: 1\n"
            "  Run 3, step 5: ValueError: balance negative\n"
            "    Active faults: disk_full\n"
            "    Sequence: call_api -> write_data -> call_api\n"
            "    Seen: in 4 runs\n"
            "    Replay: ordeal replay traces/fail-run-3.json\n"
            "Line coverage: 45/60 (75%)\n"
            "Not reached in 58320 runs: 1 branch(es) in target modules\n"
            "  myapp/api.py:42 if response.status >= 500:\n"
            '    add: reachable("myapp/api.py:42: if response.status >= 500:")\n'
            "Rejected: 1 run\n"
            "Unconfirmed: 2 failures did not fail again from a fresh machine\n"
            "Note: Snapshots were not faithful, so prefixes are run again\n"
            "Stopped: max_runs"
        )

    def test_shows_five_failures_and_counts_the_rest(self) -> None:
        text = make_result(failures=[make_failure(run_id=number) for number in range(7)]).summary()
        assert text.count("ValueError") == 5
        assert "  ... and 2 more\n" in text

    def test_shows_five_gaps_and_counts_the_rest(self) -> None:
        text = make_result(coverage_gaps=[gap(line) for line in range(1, 9)]).summary()
        assert text.count("    add: ") == 5
        assert "Not reached in 58320 runs: 8 branch(es) in target modules" in text
        assert "  ... and 3 more\n" in text

    def test_figures_of_one(self) -> None:
        text = make_result(total_runs=1, total_steps=1, unique_edges=1, checkpoints_saved=1).summary()
        assert text.startswith("Exploration: 1 run, 1 step, 300.0s\nCoverage: 1 edge, 1 checkpoint\n")


class TestSuggestions:
    def test_name_the_gap_and_claim_no_more_than_was_seen(self) -> None:
        assert make_result(coverage_gaps=[gap()]).reachability_suggestions() == [
            {
                "file": "myapp/api.py",
                "line": 42,
                "code": "if response.status >= 500:",
                "suggestion": 'reachable("myapp/api.py:42: if response.status >= 500:")',
                "confidence": "not_reached",
                "runs": 58320,
            }
        ]

    @pytest.mark.parametrize(
        "code",
        [
            'raise KeyError("never")',
            "raise KeyError('''a''')",
            r'if text == "\\n":',
            'if name == "Zoë 日本":',
            "if '\\x00\ud800\U0001f600\u2028' + \"\\'\" + '\\\\':",
            'if c == "\u2028":',
            "if a == '\t':",
            'f"{x!r}" if "\'" in y else {}',
        ],
    )
    def test_are_valid_python_that_evaluates_to_the_code(self, code: str) -> None:
        (suggestion,) = make_result(coverage_gaps=[gap(7, code)]).reachability_suggestions()
        call = ast.parse(suggestion["suggestion"], mode="eval").body
        assert isinstance(call, ast.Call)
        assert ast.literal_eval(call.args[0]) == f"myapp/api.py:7: {code}"

    def test_none_without_gaps(self) -> None:
        assert make_result().reachability_suggestions() == []


class TestAdvice:
    def test_only_for_code_that_people_change(self) -> None:
        installed = {"file": ".venv/lib/python3.13/site-packages/rich/text.py", "line": 3, "code": "if x:"}
        standard = {"file": json.__file__, "line": 3, "code": "if x:"}
        result = make_result(coverage_gaps=[installed, standard, gap()])
        assert [each["file"] for each in result.reachability_suggestions()] == [gap()["file"]]
        text = result.summary()
        assert text.count("add: reachable(") == 1
        assert "\n  rich/text.py:3 if x:\n  json/__init__.py:3 if x:\n" in text

    def test_a_blind_search_says_so(self) -> None:
        text = make_result(target_modules=(), imported_modules=("bank", "bank.account")).summary()
        assert 'Coverage: off. Add target_modules = ["bank", "bank.account"] to steer the search' in text
        assert "Coverage: off. Name what is tested in target_modules" in make_result(target_modules=()).summary()
        assert "Coverage: off" not in make_result(target_modules=("bank",)).summary()
        assert "Coverage: off" not in make_result().summary()

    def test_its_repr_is_short(self) -> None:
        assert repr(make_result(test_class="a.b:Bank", failures=[make_failure()])) == (
            "<ExplorationResult Bank: 1 finding, 58320 runs, 47 edges>"
        )
        assert (
            repr(make_failure(bucket="b")) == f"<Failure {make_failure(bucket='b').id}: ValueError: balance negative>"
        )
