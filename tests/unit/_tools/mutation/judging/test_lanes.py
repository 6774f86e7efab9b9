"""How many processes judge changes no verdict: not even next to programs that leak."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import judge_with_pytest
from ordeal._tools.mutation.source import Source

PROGRAM = """
    SEEN = []

    def leaks(a):
        SEEN.append(a + 1)
        return SEEN[0]

    def waits(n):
        while n != 0:
            n -= 1
        return n

    def unnoticed(a):
        return a + 5

    def ends(a):
        return a - 1

    def noticed(a):
        return a + 2
"""
TESTS = """
    import os
    import unittest
    from shop import ends, leaks, noticed, unnoticed, waits

    def test_leaks(): assert leaks(1) == 2
    def test_waits(): assert waits(3) == 0
    def test_unnoticed(): unnoticed(1), noticed(1)
    def test_noticed(): assert noticed(1) == 3
    def test_ends():
        if ends(1): os._exit(0)

    class Test(unittest.TestCase):
        def test_parts(self):
            for each in (1, 2):
                with self.subTest(each):
                    self.assertEqual(ends(each), each - 1)
"""


@pytest.mark.slow
def test_workers_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(dedent(PROGRAM))
    (tmp_path / "test_shop.py").write_text(dedent(TESTS))
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = mutants_of(source, ["arithmetic", "return_none", "boundary"])
    found = [
        judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=workers).verdicts for workers in (2, 1)
    ]
    assert found[0] == found[1]
    words = {f"{each.mutant.name} {each.mutant.replacement}": (each.word, each.note) for each in found[0]}
    assert words["leaks -"] == ("killed", "")
    assert words["waits +="] == ("timeout", "loop limit")
    assert words["unnoticed -"] == ("survived", "")
    assert words["ends +"][0] == "killed"
    # The test that noticed the last mutant of a function is asked first, also within a batch.
    assert [each.tests for each in found[0] if each.mutant.name == "noticed"][:2] == [2, 1]


def test_a_test_that_needs_an_earlier_one_judges_with_it(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def f(a):\n    return a + 1\n\ndef g(a):\n    return a + 1\n")
    tests = """
        from shop import f, g
        class TestAll:
            def test_1(self): TestAll.ready = True
            def test_2(self): assert self.ready and f(1) == 2
            def test_3(self):
                if self.ready: g(1)
    """
    (tmp_path / "test_shop.py").write_text(dedent(tests))
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = mutants_of(source, ["arithmetic", "return_none"])
    found = judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=1)
    words = {(each.mutant.name, each.word, each.killer) for each in found.verdicts}
    assert words == {("f", "killed", "test_shop.py::TestAll::test_2"), ("g", "survived", "")}
