"""One limit for the rules of all machines while pytest runs, and their own ones afterwards."""

from __future__ import annotations

from _ordeal_pytest import RuleTimeouts
from ordeal.chaos import ChaosTest


class Slow(ChaosTest):
    """Has a limit of its own."""

    rule_timeout = 7.0


class Slower(Slow):
    """Has the limit of its base."""


def test_all_classes_have_the_limit_until_the_end() -> None:
    own = ChaosTest.rule_timeout
    plugin = RuleTimeouts(0.5)
    plugin.pytest_runtest_setup()
    try:
        assert (ChaosTest.rule_timeout, Slow.rule_timeout, Slower.rule_timeout) == (0.5, 0.5, 0.5)
    finally:
        plugin.pytest_unconfigure()
    assert (ChaosTest.rule_timeout, Slow.rule_timeout, Slower.rule_timeout) == (own, 7.0, 7.0)
    assert "rule_timeout" not in vars(Slower)


def test_a_class_that_is_defined_later_gets_it_before_its_first_test() -> None:
    plugin = RuleTimeouts(0)
    plugin.pytest_runtest_setup()
    try:

        class Late(ChaosTest):
            rule_timeout = 3.0

        plugin.pytest_runtest_setup()
        assert Late.rule_timeout == 0
        plugin.pytest_runtest_setup()
    finally:
        plugin.pytest_unconfigure()
    assert Late.rule_timeout == 3.0, "a second setup does not take the limit for the class' own"


def test_what_a_test_sets_itself_holds_and_the_own_limit_comes_back() -> None:
    plugin = RuleTimeouts(0.5)
    plugin.pytest_runtest_setup()
    try:
        Slow.rule_timeout = 1.0
        plugin.pytest_runtest_setup()
        assert Slow.rule_timeout == 1.0
    finally:
        plugin.pytest_unconfigure()
    assert Slow.rule_timeout == 7.0
