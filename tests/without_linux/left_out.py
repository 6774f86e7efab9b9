"""What the tests leave out without Linux, and why. ``make test-portable`` prints this list at its end."""

from __future__ import annotations

from collections.abc import Collection

#: Why tests with one of these marks are left out.
MARKS = {"forks", "supervised"}
FORKS = "forks are supervised on Linux only, by pidfds and a subreaper: elsewhere one process explores"
MUTANTS = "mutants are judged on Linux only, in a sandbox of namespaces or Landlock"

#: The folders, files and tests that are left out, by the reason.
LEFT_OUT = {
    FORKS: (
        "tests/docs/test_documents.py::test_blocks_of[docs/guides/failures.md]",
        "tests/docs/test_documents.py::test_blocks_of[docs/guides/faults.md]",
        "tests/docs/test_documents.py::test_blocks_of[docs/guides/workers.md]",
    ),
    MUTANTS: (
        "tests/docs/test_documents.py::test_blocks_of[docs/guides/mutation.md]",
        "tests/unit/_tools/mutation/judging/test_importing.py::test_a_file_that_fails_by_itself_is_not_asked_first",
        "tests/unit/_tools/mutation/judging/test_importing.py::test_a_test_that_passes_only_without_our_imports_judges",
        "tests/unit/_tools/mutation/judging/test_importing.py::test_mutants_at_import_meet_a_copy_that_others_have_not_broken",
        "tests/unit/_tools/mutation/judging/test_importing.py::test_the_file_that_runs_most_is_asked_first_and_all_others_if_it_does_not_notice",
        "tests/unit/_tools/mutation/judging/test_lanes.py::test_a_test_that_needs_an_earlier_one_judges_with_it",
        "tests/unit/_tools/mutation/judging/test_lanes.py::test_workers_change_nothing",
        "tests/unit/_tools/mutation/judging/test_suite.py::test_tests_of_many_turns_are_asked_last",
        "tests/unit/_tools/mutation/machines/test_judge_process.py",
        "tests/unit/_tools/mutation/machines/test_kill_process.py",
        "tests/unit/_tools/mutation/machines/test_running.py::test_what_a_mutant_leaves_behind_or_ends_changes_no_other_verdict",
        "tests/unit/_tools/mutation/test_chimp.py::test_both_examples_run_as_written",
        "tests/unit/_tools/mutation/test_chimp.py::test_what_a_link_leads_to_is_never_written",
        "tests/unit/_tools/mutation/test_chimp.py::test_what_is_no_file_is_not_copied_and_how_far_it_is_is_told",
        "tests/unit/_tools/mutation/test_chimp.py::test_what_never_runs_is_told_from_what_no_test_asks_about",
        "tests/unit/_tools/mutation/test_own_process.py",
        "tests/unit/_tools/mutation/test_pytest_judge.py",
        "tests/unit/_tools/mutation/test_running.py",
        "tests/unit/_tools/mutation/test_sandbox.py",
        "tests/unit/cli/test_gate.py::test_mutants_of_changed_lines_that_no_test_notices_stop_the_merge",
        "tests/unit/cli/mutation/test_mutate.py::test_a_survivor_is_shown_with_its_diff",
        "tests/unit/cli/mutation/test_mutate.py::test_json_has_every_verdict",
        "tests/unit/cli/mutation/test_mutate.py::test_machines_judge_where_their_test_cases_are_the_only_tests",
    ),
    "benchmarks measure the memory of processes on Linux only": ("tests/benchmarks/test_processes.py",),
    "only Linux has epoll": (
        "tests/unit/simulate/runtime/test_system_functions.py::test_what_no_audit_event_tells_of_is_refused[epoll]",
    ),
}


def reason_for(test: str, marks: Collection[str] = ()) -> str:
    """Return why a test is left out, by its name and marks; an empty text if it is not."""
    if not MARKS.isdisjoint(marks):
        return FORKS
    for reason, places in LEFT_OUT.items():
        if any(test == place or test.startswith((f"{place}/", f"{place}::", f"{place}[")) for place in places):
            return reason
    return ""
