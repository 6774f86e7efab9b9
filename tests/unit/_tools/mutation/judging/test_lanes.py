"""How many processes judge, and how many mutants each takes, changes no verdict: not even beside programs that leak."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from socket import SOCK_DGRAM, socket
from textwrap import dedent

import pytest

from ordeal._tools.mutation.mutants import Mutant, mutants_of
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
def test_workers_and_isolation_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(dedent(PROGRAM))
    (tmp_path / "test_shop.py").write_text(dedent(TESTS))
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = mutants_of(source, ["arithmetic", "return_none", "boundary"])
    kinds = [("batch", 2), ("fork", 1)]
    found = [
        judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=workers, isolation=isolation).verdicts
        for isolation, workers in kinds
    ]
    assert found[0] == found[1]
    words = {f"{each.mutant.name} {each.mutant.replacement}": (each.word, each.note) for each in found[0]}
    assert words["leaks -"] == ("killed", "")
    assert words["waits +="] == ("timeout", "loop limit")
    assert words["unnoticed -"] == ("survived", "")
    assert words["ends +"][0] == "killed"
    # The test that noticed the last mutant of a function is asked first, also within a batch.
    assert [each.tests for each in found[0] if each.mutant.name == "noticed"][:2] == [2, 1]


LONG = """
    def total(n, step=1):
        found = 0
        while n > 0:
            n -= step
            found += 1
        return found

    def pair(a):
        return a + 1
"""
LONG_TESTS = """
    import socket
    from long import pair, total

    def test_total():
        with socket.socket(type=socket.SOCK_DGRAM) as said:
            said.sendto(str(total(600)).encode(), ("127.0.0.1", PORT))

    def test_pair(): assert pair(1) == 2
"""


def test_a_survivor_that_turns_long_turns_so_once(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(dedent(LONG))
    source = Source.of(tmp_path / "long.py", "long.py")
    start = source.text.index(b"step\n")
    slow = Mutant(
        *("0" * 12, "long.py", "total", "constant", 5, (5, 5)),
        *(start, start + 4, "step", "(step / 256)", (2, 7)),
    )
    mutants = [slow, mutants_of(source, ["arithmetic"])[-1]]
    with socket(type=SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.setblocking(False)
        (tmp_path / "test_long.py").write_text(dedent(LONG_TESTS).replace("PORT", str(heard.getsockname()[1])))
        found = judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=1).verdicts
        turns = []
        with suppress(BlockingIOError):
            while True:
                turns.append(heard.recv(16))
    assert [each.word for each in found] == ["survived", "killed"]
    assert turns.count(b"153600") == 1
