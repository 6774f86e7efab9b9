"""The debugger opens in the user's code, whatever ran it."""

from __future__ import annotations

import io
import pdb
import sys
from types import TracebackType
from typing import Any

import pytest

from ordeal.cli.saved.debugger import can_debug, post_mortem


def run_in(module: str, body: str, **names: Any) -> Any:
    """A function ``f`` of the module ``module``, made from the lines of ``body``."""
    namespace: dict[str, Any] = {"__name__": module, **names}
    exec(f"def f():\n    {body}\n", namespace)
    return namespace["f"]


def opened_at(call: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules of the frames that the debugger is shown for what ``call`` raises, outermost first."""
    shown: list[TracebackType | None] = []
    monkeypatch.setattr(pdb, "post_mortem", shown.append)
    try:
        call()
    except ZeroDivisionError as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        post_mortem(error)
    (tb,) = shown
    modules = []
    while tb is not None:
        modules.append(tb.tb_frame.f_globals["__name__"])
        tb = tb.tb_next
    return modules


def test_frames_of_what_ran_the_code_are_left_out_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = run_in("hypothesis.core", "1 / 0")
    own = run_in("shop.till", "g()", g=inside)
    between = run_in("ordeal.chaos", "g()", g=own)
    outer = run_in("shop", "g()", g=between)
    engine = run_in("ordeal._engine.execution.driver", "g()", g=outer)
    assert opened_at(engine, monkeypatch) == ["shop", "ordeal.chaos", "shop.till"]


def test_a_module_that_only_begins_like_the_machinery_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    own = run_in("ordealed.shop", "1 / 0")
    assert opened_at(run_in("hypothesis", "g()", g=own), monkeypatch) == ["ordealed.shop"]


def test_without_any_code_of_the_user_all_frames_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = run_in("hypothesis.core", "1 / 0")
    assert opened_at(run_in("ordeal.chaos", "g()", g=inner), monkeypatch) == ["ordeal.chaos", "hypothesis.core"]


def test_nobody_can_debug_without_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert not can_debug()
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdin", closed)
    assert not can_debug()
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    assert can_debug()
