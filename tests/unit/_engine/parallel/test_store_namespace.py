"""A namespace is the same for the same code, run in the same way, and another one for any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.coverage.targets import Target
from ordeal._engine.parallel.store_namespace import namespace_of

from ...samples.monitored import MakeModule

TEST = """
from hypothesis.stateful import RuleBasedStateMachine, rule
from base import Base

class Till(Base):
    @rule()
    def pay(self): pass

class Shop(Base):
    @rule()
    def pay(self): pass
"""
BASE = """
from hypothesis.stateful import RuleBasedStateMachine

class Base(RuleBasedStateMachine): pass
"""


@pytest.fixture
def base(make_module: MakeModule) -> None:
    make_module(BASE, "base")


def of(make_module: MakeModule, tmp_path: Path, *, name: str = "Till", mode: str = "counts") -> str:
    test = make_module(TEST, "machines")
    target = tmp_path / "sut.py"
    if not target.exists():
        target.write_text("x = 1")
    return namespace_of(getattr(test, name), [Target("sut", str(target), is_package=False)], instrumentation=mode)


@pytest.mark.usefixtures("base")
def test_it_says_what_a_person_wants_to_know(make_module: MakeModule, tmp_path: Path) -> None:
    text = of(make_module, tmp_path)
    assert text == of(make_module, tmp_path)
    assert text.startswith("machines:Till ordeal ")
    assert " counts " in text


@pytest.mark.usefixtures("base")
def test_other_code_is_another_namespace(
    make_module: MakeModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {of(make_module, tmp_path)}

    def is_new(text: str) -> bool:
        fresh = text not in seen
        seen.add(text)
        return fresh

    assert is_new(of(make_module, tmp_path, name="Shop"))
    assert is_new(of(make_module, tmp_path, mode="novelty"))
    (tmp_path / "sut.py").write_text("x = 2")
    assert is_new(of(make_module, tmp_path))
    # A strategy beside the class, or a rule of a base in another file, changes what a tape means.
    (tmp_path / "base.py").write_text(BASE + "\nLIMIT = 3\n")
    assert is_new(of(make_module, tmp_path))
    monkeypatch.setattr("sys.version_info", (3, 99, 0))
    assert is_new(of(make_module, tmp_path))


def test_a_class_of_no_file_has_a_namespace() -> None:
    scope: dict[str, type] = {}
    exec("class Typed(Base): pass", {"Base": RuleBasedStateMachine, "__name__": "__console__"}, scope)
    assert namespace_of(scope["Typed"], [], instrumentation="counts").startswith("__console__:Typed ")


def test_a_target_that_is_gone_is_left_out(tmp_path: Path) -> None:
    class Local(RuleBasedStateMachine):
        @rule()
        def step(self) -> None: ...

    gone = Target("gone", str(tmp_path / "gone.py"), is_package=False)
    assert namespace_of(Local, [gone], instrumentation="counts") == namespace_of(Local, [], instrumentation="counts")
