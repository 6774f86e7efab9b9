"""Relations that held in every state, and which of them survivors break."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.unit._tools.mutation.machines import till

from ordeal._engine.trace_view.values import StateReader
from ordeal._tools.mutation.machines.relations import Held, Numbers, Relation, Suggestion, holds, suggested
from ordeal._tools.mutation.machines.state_numbers import numbers_of

PROMISED: Numbers = {"a": 1, "b": 2}
STORED: Numbers = {"a": 5, "b": 2}


def test_what_held_in_all_states_is_kept_and_what_failed_once_is_not() -> None:
    held = Held()
    held.take({"promised": {}, "stored": {}, "size": {None: 0}})
    held.take({"promised": PROMISED, "stored": STORED, "size": {None: 7}})
    texts = [relation.text for relation in held.all()]
    assert held.states == 2
    assert "promised <= stored" in texts
    assert "stored <= promised" not in texts
    assert "sum(size) == sum(stored)" in texts
    held.take({"promised": {"a": 6}, "stored": STORED, "size": {None: 7}})
    assert "promised <= stored" not in [relation.text for relation in held.all()]


def test_numbers_that_are_never_there_say_nothing() -> None:
    held = Held()
    held.take({"promised": {}, "stored": STORED})
    assert [relation.text for relation in held.all()] == ["stored >= 0", "stored > 0"]


@pytest.mark.parametrize(
    ("form", "right", "is_so"),
    [
        ("positive", "", False),
        ("below", "more", True),
        ("each at most", "limit", True),
        ("same keys", "more", True),
        ("keys within", "few", False),
        ("size equal", "limit", False),
        ("size at most", "limit", True),
        ("size at most", "more", False),
    ],
)
def test_each_form_says_what_its_text_says(form: str, right: str, is_so: bool) -> None:
    numbers: dict[str, Numbers] = {
        "some": {"a": 0, "b": 4},
        "more": {"a": 1, "b": 9},
        "few": {"a": 1},
        "limit": {None: 4},
    }
    assert holds(Relation(form, "some", right), numbers) is is_so


def test_what_another_relation_says_is_not_told_again() -> None:
    held = Held()
    held.take({"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 2}, "n": {None: 2}})
    texts = [relation.text for relation in held.all()]
    assert [each for each in texts if {"a", "b"} <= set(each.split())] == ["a == b"]
    assert "len(a) == n" in texts
    assert "len(a) <= n" not in texts


def test_a_key_is_compared_with_its_own_number() -> None:
    relation = Relation("at most", "promised", "stored")
    assert holds(relation, {"promised": PROMISED, "stored": STORED})
    assert not holds(relation, {"promised": {"b": 3}, "stored": STORED})
    assert not holds(relation, {"promised": {"c": 1}, "stored": STORED})


def test_the_numbers_of_a_machine() -> None:
    machine = till.Till()
    machine.drawer.coins = Counter(a=3)
    found = numbers_of(StateReader(till.Till), machine)
    assert found == {"drawer.coins": {"a": 3}, "drawer.given_back": {None: 0}, "expected": {None: 0}}


def test_what_most_survivors_break_comes_first() -> None:
    one, two = Relation("not negative", "a"), Relation("at most", "a", "b")
    found = suggested({one: 9, two: 9}, [("x", [1]), ("y", [0, 1])])
    assert found == [Suggestion(two, 9, ("x", "y")), Suggestion(one, 9, ("y",))]
