"""With --chaos, a machine that cannot be run ends pytest with 2 while it collects, and the line to write is told."""

from __future__ import annotations

import pytest

from ..samples.mistakes import MISTAKES, Mistake
from .conftest import Project

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if each.in_pytest], ids=lambda each: each.name)
def test_it_is_no_test_that_fails(project: Project, mistake: Mistake) -> None:
    project.write({"bank_test.py": mistake.source})
    result = project.run("-q", "--chaos", "bank_test.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert mistake.words in " ".join(str(result.stdout).split())


def test_others_are_left_alone(project: Project) -> None:
    source = """
        import dataclasses
        from hypothesis.stateful import RuleBasedStateMachine, rule

        class Helped(RuleBasedStateMachine):
            def __init__(self):
                self.begin()

            def begin(self):
                RuleBasedStateMachine.__init__(self)

            @rule()
            def go(self): ...

        TestHelped = Helped.TestCase

        def test_plain(): ...
    """
    project.write({"bank_test.py": source})
    result = project.run("-q", "--chaos", "bank_test.py")
    result.assert_outcomes(passed=2)
