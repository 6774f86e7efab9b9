"""The examples of the first documentation of stateful testing run in both engines, with the outcomes that it shows.

Their text is unchanged but for where they import from, and the settings that make each run the same.
"""

from __future__ import annotations

import unittest
from typing import Any

import pytest
from hypothesis import Phase

from ordeal.explore import Explorer

from .projects import TIME_LIMIT_S, Project, explore

TREES = """
import unittest
from collections import namedtuple

from ordeal.stateful import RuleBasedStateMachine, Bundle, rule


Leaf = namedtuple('Leaf', ('label',))
Split = namedtuple('Split', ('left', 'right'))
"""

UNBALANCED_TREES = (
    TREES
    + """

class BalancedTrees(RuleBasedStateMachine):
    trees = Bundle('BinaryTree')

    @rule(target=trees, x=int)
    def leaf(self, x):
        return Leaf(x)

    @rule(target=trees, left=trees, right=trees)
    def split(self, left, right):
        return Split(left, right)

    @rule(tree=trees)
    def check_balanced(self, tree):
        if isinstance(tree, Leaf):
            return
        else:
            assert abs(self.size(tree.left) - self.size(tree.right)) <= 1
            self.check_balanced(tree.left)
            self.check_balanced(tree.right)

    def size(self, tree):
        if isinstance(tree, Leaf):
            return 1
        else:
            return 1 + self.size(tree.left) + self.size(tree.right)
"""
)

BALANCED_TREES = (
    TREES
    + """

class BalancedTrees(RuleBasedStateMachine):
    trees = Bundle('BinaryTree')
    balanced_trees = Bundle('balanced BinaryTree')

    @rule(target=trees, x=int)
    def leaf(self, x):
        return Leaf(x)

    @rule(target=trees, left=trees, right=trees)
    def split(self, left, right):
        return Split(left, right)

    @rule(tree=balanced_trees)
    def check_balanced(self, tree):
        if isinstance(tree, Leaf):
            return
        else:
            assert abs(self.size(tree.left) - self.size(tree.right)) <= 1, \\
                repr(tree)
            self.check_balanced(tree.left)
            self.check_balanced(tree.right)

    @rule(target=balanced_trees, tree=trees)
    def balance_tree(self, tree):
        return self.split_leaves(self.flatten(tree))

    def size(self, tree):
        if isinstance(tree, Leaf):
            return 1
        else:
            return self.size(tree.left) + self.size(tree.right)

    def flatten(self, tree):
        if isinstance(tree, Leaf):
            return (tree.label,)
        else:
            return self.flatten(tree.left) + self.flatten(tree.right)

    def split_leaves(self, leaves):
        assert leaves
        if len(leaves) == 1:
            return Leaf(leaves[0])
        else:
            mid = len(leaves) // 2
            return Split(
                self.split_leaves(leaves[:mid]),
                self.split_leaves(leaves[mid:]),
            )
"""
)

BADLY_BALANCED_TREES = BALANCED_TREES.replace("mid = len(leaves) // 2", "mid = max(len(leaves) // 3, 1)")

# What the documentation has a reader add, with the settings of its next section.
TEST_TREES = """

TestTrees = BalancedTrees.TestCase

TestTrees.settings.max_examples = 100
TestTrees.settings.stateful_step_count = 100

if __name__ == '__main__':
    unittest.main()
"""

BROKEN_SET = """
import unittest

from ordeal.stateful import GenericStateMachine
from ordeal.stateful import strategy
from hypothesis.strategies import tuples, sampled_from, just, integers


class BrokenSet(GenericStateMachine):
    def __init__(self):
        self.data = []

    def steps(self):
        add_strategy = tuples(just("add"), integers())
        if not self.data:
            return add_strategy
        else:
            return (
                add_strategy |
                tuples(just("delete"), sampled_from(self.data)))

    def execute_step(self, step):
        action, value = step
        if action == 'delete':
            try:
                self.data.remove(value)
            except ValueError:
                pass
            assert value not in self.data
        else:
            assert action == 'add'
            self.data.append(value)
            assert value in self.data


TestSet = BrokenSet.TestCase

if __name__ == '__main__':
    unittest.main()
"""

MODULES = {
    "unbalanced_trees.py": UNBALANCED_TREES + TEST_TREES,
    "balanced_trees.py": BALANCED_TREES + TEST_TREES,
    "badly_balanced_trees.py": BADLY_BALANCED_TREES + TEST_TREES,
    "broken_set.py": BROKEN_SET,
}
SET_PROGRAM = [
    "state = BrokenSet()",
    "state.execute_step(step=('add', 0))",
    "state.execute_step(step=('add', 0))",
    "state.execute_step(step=('delete', 0))",
    "state.teardown()",
]


@pytest.fixture
def examples(project: Project) -> Project:
    """The examples, each a module."""
    project.write(MODULES)
    return project


def run_as_test(test_case: type[unittest.TestCase]) -> list[str]:
    """Run a TestCase under Hypothesis, and return the lines of the program that it fails with."""
    settings: Any = test_case.settings  # type: ignore[attr-defined]
    settings.derandomize, settings.database = True, None
    settings.phases = [Phase.generate, Phase.shrink]
    try:
        test_case("runTest").debug()
    except AssertionError as error:
        lines = "\n".join(error.__notes__).splitlines()
        return [line for line in lines if line.startswith("state = ") or "state." in line]
    return []


def called(program: list[str]) -> list[str]:
    """The rules that a program calls."""
    return [line.partition("state.")[2].partition("(")[0] for line in program[1:]]


class TestTrees:
    def test_trees_that_nobody_balances_fail_under_hypothesis(self, examples: Project) -> None:
        program = run_as_test(examples.load("unbalanced_trees:TestTrees"))
        steps = called(program)
        # Mostly one leaf and two splits are left. What Hypothesis begins with depends on the modules that are loaded.
        assert steps[-2:] == ["check_balanced", "teardown"]
        assert steps.count("split") >= 2

    def test_trees_that_nobody_balances_fail_under_the_explorer(self, examples: Project) -> None:
        (failure,) = explore(examples.load("unbalanced_trees:BalancedTrees"), runs=30).failures
        steps = called(failure.program.splitlines())
        assert steps[-3:] == ["split", "check_balanced", "teardown"]
        assert steps.count("split") == 2
        assert steps.count("leaf") <= 2

    def test_balanced_trees_pass_under_hypothesis(self, examples: Project) -> None:
        test_case = examples.load("balanced_trees:TestTrees")
        assert (test_case.settings.max_examples, test_case.settings.stateful_step_count) == (100, 100)
        test_case.settings.max_examples = 20
        assert run_as_test(test_case) == []

    def test_balanced_trees_pass_under_the_explorer(self, examples: Project) -> None:
        result = explore(examples.load("balanced_trees:BalancedTrees"), runs=100, steps=50)
        assert result.failures == []

    def test_badly_balanced_trees_fail_under_hypothesis(self, examples: Project) -> None:
        test_case = examples.load("badly_balanced_trees:TestTrees")
        test_case.settings.stateful_step_count = 20
        # A hundred do not always find it: what is tried depends on the constants of the modules loaded.
        test_case.settings.max_examples = 2000
        program = run_as_test(test_case)
        assert called(program)[-3:] == ["balance_tree", "check_balanced", "teardown"]

    def test_badly_balanced_trees_fail_under_the_explorer_with_a_program_that_is_python(
        self, examples: Project
    ) -> None:
        """It takes the five steps that the documentation says it could be shrunk to."""
        (failure,) = explore(examples.load("badly_balanced_trees:BalancedTrees"), runs=100).failures
        program = failure.program.splitlines()
        assert called(program) == ["leaf", "split", "split", "balance_tree", "check_balanced", "teardown"]
        assert "balanced_BinaryTree_0 = state.balance_tree(tree=BinaryTree_2)" in program
        machines = examples.load("badly_balanced_trees:BalancedTrees")
        with pytest.raises(AssertionError):
            exec(failure.program, {"BalancedTrees": machines})


class TestBrokenSet:
    def test_it_fails_under_hypothesis_as_documented(self, examples: Project) -> None:
        assert run_as_test(examples.load("broken_set:TestSet")) == SET_PROGRAM

    def test_it_fails_under_the_explorer_as_documented(self, examples: Project) -> None:
        (failure,) = explore(examples.load("broken_set:BrokenSet"), runs=60).failures
        assert failure.program.splitlines() == SET_PROGRAM
        assert isinstance(failure.error, AssertionError)

    @pytest.mark.nightly
    def test_no_step_is_taken_that_could_not_come_from_steps_where_it_is_taken(self, examples: Project) -> None:
        """Neither from a checkpoint nor while a failure is shrunk: steps() is asked again."""

        class Checked(examples.load("broken_set:BrokenSet")):  # type: ignore[misc]
            def execute_step(self, step: tuple[str, int]) -> None:
                if step[0] == "delete" and step[1] not in self.data:
                    raise LookupError(step)
                super().execute_step(step)

        explorer = Explorer(Checked, checkpoint_prob=0.9)
        (failure,) = explorer.run(max_runs=60, max_time=TIME_LIMIT_S).failures
        assert isinstance(failure.error, AssertionError)
        assert failure.program.splitlines()[1:] == SET_PROGRAM[1:]


CONFIG = """
    [explorer]
    max_time = 60
    max_runs = 20

    [[tests]]
    class = "broken_set:BrokenSet"

    [[tests]]
    class = "broken_set:make_set"
"""
FACTORY = """

def make_set():
    return BrokenSet()
"""


@pytest.mark.slow
def test_the_command_line_finds_replays_and_keeps_the_failure_of_a_class_and_of_a_function(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"broken_set.py": BROKEN_SET.partition("TestSet")[0] + FACTORY, "ordeal.toml": CONFIG})
    explored = project.explore("--generate-tests", "test_generated.py")
    assert explored.returncode == 1, explored.stderr
    seeds = sorted((project.root / ".ordeal" / "seeds").rglob("*.json"))
    assert [seed.parent.name for seed in seeds] == ["BrokenSet", "make_set"]
    replayed = project.python("-m", "ordeal", "replay", str(seeds[1].relative_to(project.root)))
    assert (replayed.returncode, "Failure reproduced: AssertionError" in replayed.stderr) == (1, True), replayed.stderr
    # Whether ordeal is installed or used from its sources, its plugin is loaded once.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    tested = project.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "_ordeal_pytest")
    assert "4 failed" in tested.stdout, tested.stdout
