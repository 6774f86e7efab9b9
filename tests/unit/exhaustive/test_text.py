"""What an exhaustive test says: counts that can be read, and notes that can be pasted back."""

from __future__ import annotations

from ordeal.exhaustive.text import case_count, failing_case, scope_incomplete, scope_statement


def test_counts_are_of_how_many_where_that_is_known() -> None:
    assert case_count(1234, 1234) == "1,234/1,234 cases"
    assert case_count(1234, None) == "1,234 cases"


def test_a_case_is_replayed_by_what_ran_it() -> None:
    assert failing_case((0, 2), in_test=True) == "choices [0, 2]; replay with @ordeal.exhaustive.test(path=[0, 2])"
    assert failing_case([], in_test=False) == "choices []; replay with Gen.replay([])"


def test_a_scope_says_what_it_left_out() -> None:
    assert scope_statement(1500, 1, faults=False, cut=[]) == "All 1,500 rule sequences of up to 1 step were run."
    assert scope_statement(2, 3, faults=True, cut=["add.x"]) == (
        "All 2 rule sequences of up to 3 steps, faults switched among them, were run, "
        "with only the simplest values of add.x."
    )


def test_a_scope_that_ended_early_claims_nothing() -> None:
    assert scope_incomplete(1000, 2).startswith("INCOMPLETE: 1,000 rule sequences of up to 2 steps were run")
