"""The report for the tools of Stryker."""

from __future__ import annotations

from pathlib import Path

from ordeal._engine.mutation.mutants import mutants_of
from ordeal._engine.mutation.running import Judgement
from ordeal._engine.mutation.source import Source
from ordeal._engine.mutation.verdicts import Verdict
from ordeal._report.stryker import stryker_json


def test_places_statuses_and_tests() -> None:
    source = Source(Path("shop.py"), "shop.py", "def f(a):\n    'é𝄞'; return a + 1\n".encode())
    (mutant,) = mutants_of(source, ["arithmetic"])
    verdict = Verdict(mutant, "killed", "t.py::test_b", 2, "swap", "", "", ("t.py::test_a", "t.py::test_b"))
    document = stryker_json([source], Judgement([verdict], names=["t.py::test_b", "t.py::test_a"]))
    (found,) = document["files"]["shop.py"]["mutants"]
    assert found["location"] == {"start": {"line": 2, "column": 21}, "end": {"line": 2, "column": 22}}
    assert (found["status"], found["killedBy"], found["coveredBy"]) == ("Killed", ["1"], ["0", "1"])
    assert document["testFiles"][""]["tests"][1] == {"id": "1", "name": "t.py::test_b"}


def test_a_crash_says_what_it_is() -> None:
    source = Source(Path("shop.py"), "shop.py", b"def f(a):\n    return a + 1\n")
    (mutant,) = mutants_of(source, ["arithmetic"])
    document = stryker_json([source], Judgement([Verdict(mutant, "crash", note="SIGSEGV")]))
    (found,) = document["files"]["shop.py"]["mutants"]
    assert (found["status"], found["statusReason"]) == ("RuntimeError", "SIGSEGV")
