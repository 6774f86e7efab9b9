"""The mistakes that people make most often when they write a rule machine, each with the words that must help them."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

HEAD = """\
import hypothesis.strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from ordeal import ChaosTest
from ordeal.faults import timing

ledger = []
"""
#: A class to which a trace can belong that one with a mistake then takes the place of.
RIGHT = f"""{HEAD}
class Bank(ChaosTest):
    @rule(amount=st.integers(0, 9))
    def pay(self, amount):
        raise ValueError("broke")
"""


@dataclass(frozen=True)
class Mistake:
    """``body`` is that of the class ``Bank``, after which come ``tail``; ``words`` stand in what the user is told."""

    name: str
    body: str
    words: str
    tail: str = ""
    in_pytest: bool = True  # not where pytest takes what the command line does not
    in_python: bool = True  # not where the class cannot be defined

    @property
    def source(self) -> str:
        """The module."""
        tail = self.tail or "TestBank = Bank.TestCase"
        return f"{HEAD}\nclass Bank(ChaosTest):\n{indent(dedent(self.body).strip(), '    ')}\n\n{tail}\n"


_PAY = """
@rule(amount=st.integers(0, 9))
def pay(self, amount):
    ledger.append(amount)
"""

MISTAKES = [
    Mistake(
        "super_init_forgotten",
        f"def __init__(self):\n    self.paid = 0\n{_PAY}",
        "write `super().__init__()` as the first line of Bank.__init__()",
    ),
    Mistake(
        "misspelled_argument",
        "@rule(cent=st.integers())\ndef pay(self, cents):\n    ledger.append(cents)",
        "did you mean `cents`? write `@rule(cents=...)`, with a strategy for each argument",
    ),
    Mistake(
        "constructor_with_arguments",
        f"def __init__(self, size):\n    super().__init__()\n    self.size = size\n{_PAY}",
        "`def make(): return Bank(3)`",
    ),
    Mistake(
        "argument_without_strategy",
        "@rule()\ndef pay(self, amount):\n    ledger.append(amount)",
        "write `@rule(amount=st.integers())`",
    ),
    Mistake(
        "rule_without_call",
        "@rule\ndef pay(self):\n    ledger.append(1)",
        "write `@rule()`",
        in_python=False,
    ),
    Mistake(
        "strategy_without_call",
        "@rule(amount=st.integers)\ndef pay(self, amount):\n    ledger.append(amount)",
        "such as `amount=st.integers()`, with parentheses",
        in_python=False,
    ),
    Mistake(
        "async_invariant",
        f"{_PAY}\n@invariant()\nasync def solvent(self):\n    assert False",
        "write `def solvent(self):`",
    ),
    Mistake(
        "instance_for_class",
        _PAY,
        "name the class, `bank_test:Bank_`",
        tail="Bank_ = Bank\nBank_.__qualname__ = 'Bank_'\nBank = Bank()",
        in_pytest=False,
        in_python=False,
    ),
    Mistake(
        "test_case_for_class",
        _PAY,
        "name the rule machine itself",
        tail="Bank = Bank.TestCase",
        in_pytest=False,
        in_python=False,
    ),
    Mistake(
        "type_for_strategy",
        "@rule(amount=int)\ndef pay(self, amount):\n    ledger.append(amount)",
        "such as `amount=st.integers()`",
        in_python=False,
    ),
    Mistake(
        "precondition_without_condition",
        f"{_PAY}\n@precondition\n@rule()\ndef close(self):\n    ledger.clear()",
        "write `@precondition(lambda self: ...)`",
    ),
    Mistake(
        "fault_with_misspelt_target",
        f"faults = [timing.timeout('time.slep')]\n{_PAY}",
        "did you mean `time.sleep`?",
    ),
    Mistake("no_rules", "def pay(self):\n    ledger.append(1)", "with at least one method under `@rule(...)`"),
    Mistake(
        "strategy_without_argument", "@rule(amount=st.integers())\ndef pay(self): ...", "write `def pay(self, amount):`"
    ),
    Mistake("rule_that_yields", "@rule()\ndef pay(self):\n    yield ledger.append(1)", "take the `yield` out of pay()"),
    Mistake("rule_without_self", "@rule()\ndef pay(): ...", "write `def pay(self):`"),
    Mistake(
        "invariant_with_arguments", f"{_PAY}\n@invariant()\ndef solvent(self, by): ...", "write `def solvent(self):`"
    ),
    Mistake(
        "async_precondition",
        "async def ready(self): ...\n@precondition(ready)\n@rule()\ndef pay(self): ...",
        "what must be awaited belongs in a rule",
    ),
    Mistake("async_teardown", f"{_PAY}\nasync def teardown(self): ...", "what must be awaited belongs in a rule"),
]
