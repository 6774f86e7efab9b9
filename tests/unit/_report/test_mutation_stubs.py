"""Beginnings of tests: a file that pytest runs, in which none passes until somebody writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._report.mutation_stubs import mutation_stubs
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict

TEXT = b"class A:\n    def f(self, a, *, b):\n        return a < b\n\nLIMIT = 3\n"


def test_each_line_has_one_that_names_it_and_does_not_pass() -> None:
    source = Source(Path("a.py"), "a.py", TEXT)
    mutants = mutants_of(source, ["comparison", "boundary"])
    verdicts = [Verdict(each, "survived", nearest="t.py::test_x\n") for each in mutants[:-1]]
    text = mutation_stubs([source], Judgement([*verdicts, Verdict(mutants[-1], "uncovered")]))
    assert "    # a.py:3 A.f, comparison; nearest: t.py::test_x" in text
    assert "    #   -         return a < b\n    #   +         return a <= b\n" in text
    assert "    # A.f(a=..., b=...) == ...\n" in text
    space: dict[str, object] = {}
    exec(compile(text, "test_stubs.py", "exec"), space)
    tests = [each for name, each in space.items() if name.startswith("test_")]
    assert len(tests) == 2
    for each in tests:
        assert callable(each)
        with pytest.raises(pytest.xfail.Exception, match="write what"):
            each()
