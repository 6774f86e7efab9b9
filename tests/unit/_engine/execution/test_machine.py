"""What can be explored, and what is said about what cannot."""

from __future__ import annotations

import functools
import linecache
import math
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ordeal import ChaosTest
from ordeal._engine.execution.class_path import _loaded, load_class, trust
from ordeal._engine.execution.machine import (
    check_factory,
    class_path,
    make_driver,
    returns_nothing,
    source_digest,
)
from ordeal._engine.isolation.child import Limits
from ordeal.errors import MachineError, OrdealError
from ordeal.explore import Explorer
from ordeal.faults import LambdaFault


class Plain(RuleBasedStateMachine):
    """A machine of Hypothesis' own."""

    def __init__(self, size: int = 1) -> None:
        super().__init__()
        self.size = size

    @initialize()
    def start(self) -> None:
        """Begin."""

    @rule(n=st.integers(0, 3), flag=st.booleans())
    def act(self, n: int, flag: bool) -> None:
        """Act."""


def test_a_function_that_makes_a_machine_will_do() -> None:
    def sized() -> Plain:
        return Plain(3)

    assert make_driver(sized).definition.cls is Plain
    assert class_path(sized, Plain).endswith("sized")
    assert class_path(Plain, Plain) == f"{__name__}:Plain"


class Empty(ChaosTest):
    """No rules at all."""


class OnlyFaults(ChaosTest):
    """Something to switch and nothing to do."""

    faults = [LambdaFault("lamp", lambda: None, lambda: None)]  # noqa: RUF012 - as users write it


class NoValue(RuleBasedStateMachine):
    """An argument that can have no value."""

    @rule(x=st.nothing())
    def act(self, x: Any) -> None:
        """Act."""


class Backwards(RuleBasedStateMachine):
    """An argument whose bounds are the wrong way round."""

    @rule(x=st.integers(5, 1))
    def act(self, x: int) -> None:
        """Act."""


class Shadow(RuleBasedStateMachine):
    """A rule that hides what Hypothesis calls."""

    @rule(x=st.integers())
    def bundle(self, x: int) -> None:  # type: ignore[override]
        """Act."""


class EndsTwice(RuleBasedStateMachine):
    @rule(x=st.integers())
    def teardown(self, x: int) -> None:
        """Act."""


class Yields(ChaosTest):
    @rule()
    def act(self) -> None: ...

    def teardown(self) -> Any:
        yield


class Given(RuleBasedStateMachine):
    @rule()
    def act(self) -> None: ...

    @invariant()
    @given(n=st.integers())
    def holds(self, n: int) -> None: ...


class HashOfNone(ChaosTest):
    state_hash = None  # type: ignore[assignment]

    @rule()
    def act(self) -> None: ...


Timed = type("Timed", (ChaosTest,), {"act": rule()(lambda self: None)})
Timed.rule_timeout = "5"  # type: ignore[attr-defined]


class NoMachine:
    """Something else."""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Empty, "Empty has no rules"),
        (OnlyFaults, "OnlyFaults has no rules (faults alone do nothing)"),
        (NoValue, "argument 'x' of rule 'act' can have no value: its strategy is nothing()"),
        (Backwards, "argument 'x' of rule 'act' has no valid strategy"),
        (Shadow, "Shadow.bundle has the name of something that every such machine has"),
        (EndsTwice, "EndsTwice.teardown has the name of something that every such machine has"),
        (Yields, "Yields.teardown() contains `yield`, so a call of it does nothing"),
        (Given, "invariant 'holds' of Given is a test under `@given`, so each call of it runs many examples"),
        (HashOfNone, "HashOfNone.state_hash is None, not a method"),
        (Timed, "`rule_timeout` of Timed is '5'"),
        (NoMachine, "NoMachine is not a rule machine"),
        (3, "3 is not a rule machine"),
        (lambda: 3, "which is not a rule machine"),
    ],
)
def test_what_cannot_be_explored_is_named(given: Any, said: str) -> None:
    with pytest.raises(MachineError) as caught:
        make_driver(given)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("rule_timeout", None, "`rule_timeout` of Wrong is None"),
        ("rule_timeout", math.nan, "`rule_timeout` of Wrong is nan"),
        ("rule_timeout", True, "`rule_timeout` of Wrong is True"),
        ("rule_timeout", rule()(lambda self: None), "`rule_timeout` of Wrong is a rule"),
        ("simulated", "yes", "`simulated` of Wrong is 'yes'"),
        ("world", rule()(lambda self: None), "`world` of Wrong is a rule"),
        ("faults", 3, "Wrong.faults must be a list of faults, got 3"),
        ("swarm", "often", "swarm"),
        ("weights", 3, "weights"),
    ],
)
def test_what_sets_a_machine_up_is_checked_where_the_class_is_made(name: str, value: object, said: str) -> None:
    with pytest.raises(OrdealError) as caught:
        type("Wrong", (ChaosTest,), {name: value})
    assert said in caught.value.message
    assert caught.value.hint


class Operators(RuleBasedStateMachine):  # noqa: PLW1641 - as a user may write it
    """Its rules have the names of what every object has, and of what every class has."""

    def __init__(self) -> None:
        super().__init__()
        self.unions = 0

    @rule()
    def __or__(self) -> None:  # noqa: PLE0302 - a rule, and no operator
        self.unions += 1

    @rule()
    def mro(self) -> None:
        """Act."""

    @rule(x=st.integers())
    def __eq__(self, x: object) -> None:  # type: ignore[override]
        """Act."""

    @rule(x=st.integers())
    def __call__(self, x: int) -> None:
        """Act."""

    @rule()
    def teardown(self) -> None:
        """Act, and end."""

    @invariant()
    def few(self) -> None:
        assert self.unions < 3


def test_rules_may_have_the_names_of_operators() -> None:
    result = Explorer(Operators, workers=1).run(max_runs=50)
    assert [failure.rule_log for failure in result.failures] == [["__or__"] * 3]


def test_a_partial_that_the_settings_name_makes_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{__name__}:MADE"
    monkeypatch.setitem(globals(), "MADE", functools.partial(Operators))
    with pytest.raises(MachineError, match="is a partial, which ordeal calls only if your settings name it"):
        load_class(path)
    trust(path)
    made = load_class(path)
    assert class_path(made, make_driver(made).definition.cls) == path


def test_a_function_that_a_path_names_ends_nothing() -> None:
    """It gives no traceback and no exit code of its own: the user named it and did not call it."""

    def raising() -> RuleBasedStateMachine:
        sys.exit(0)

    _loaded[raising] = "shop:raising"
    with pytest.raises(MachineError, match="raised SystemExit: 0") as caught:
        make_driver(raising)
    assert str(caught.value.hint).startswith("`python -c 'import ")
    with pytest.raises(SystemExit):
        make_driver(lambda: sys.exit(0))  # given as an object


@pytest.mark.forks
def test_a_function_is_called_in_another_process_first() -> None:
    def ending() -> RuleBasedStateMachine:
        os._exit(0)

    def sized(size: int) -> RuleBasedStateMachine:
        return Plain(size)

    with pytest.raises(MachineError, match="which should make machines, ended its process with exit code 0"):
        check_factory(ending, None, Limits())
    with pytest.raises(MachineError, match="cannot be called without arguments"):
        check_factory(sized, None, Limits())  # type: ignore[arg-type]
    check_factory(lambda: Plain(3), None, Limits())
    check_factory(Plain, None, Limits())


def _bare(n: int) -> int | None:
    if n > 3:
        return None
    return n


async def _awaited(n: int) -> None:
    del n


@pytest.mark.parametrize(
    ("function", "is_nothing"),
    [(_bare, False), (_awaited, True), (Plain.act, True), (lambda self: self, False), (len, False), (print, False)],
)
def test_a_rule_that_returns_nothing_is_known_by_its_code(function: Any, is_nothing: bool) -> None:
    assert returns_nothing(function) is is_nothing


def test_without_assertions_nothing_is_explored_or_replayed() -> None:
    code = "from ordeal import ChaosTest\nfrom ordeal.explore import Explorer\nExplorer(ChaosTest)"
    done = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=False)
    assert "MachineError: assertions do not run, because Python was started with -O" in done.stderr


@pytest.mark.parametrize(
    "now", ["", 'text = """\n    def add(self):', "\tclass\n  Edited:", "class Edited(\n", "\0", "class "]
)
def test_a_class_whose_file_was_edited_since_has_no_digest(tmp_path: Path, now: str) -> None:
    file, scope = tmp_path / "edited.py", {"__name__": "edited_machine"}
    lines = [
        "from hypothesis.stateful import RuleBasedStateMachine",
        "class Edited(RuleBasedStateMachine):",
        "    one = 1",
    ]
    file.write_text("\n".join(lines))
    exec(compile("\n".join(lines), file, "exec"), scope)
    file.write_text(f"\n{now}")
    linecache.checkcache(str(file))
    module = sys.modules["edited_machine"] = ModuleType("edited_machine")
    module.__file__ = str(file)
    try:
        assert source_digest(scope["Edited"]) == ""
    finally:
        del sys.modules["edited_machine"]
