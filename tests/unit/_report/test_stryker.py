"""The report for the tools of Stryker."""

from __future__ import annotations

from pathlib import Path

from tests.unit._report.test_machine_mutation import judgement

from ordeal._report.stryker import stryker_json
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict


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


def test_what_machines_say_is_there_too(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text("def allowed(age, n):\n    return age >= 18 and n > 2\n")
    source = Source.of(path, "shop.py")
    machines = judgement(source)
    document = stryker_json([source], Judgement(machines.verdicts), machines)
    killed, survived = document["files"]["shop.py"]["mutants"]
    names = {each["id"]: each["name"] for each in document["testFiles"][""]["tests"]}
    assert [names[each] for each in killed["killedBy"]] == ["invariant:sound"]
    assert killed["ordeal"]["ripr"] == "revealed"
    assert survived["ordeal"]["ripr"] == "state differs"
    assert survived["ordeal"]["first_difference"] == {
        "trace": 3,
        "step": 5,
        "path": "stock['a']",
        "original": "5",
        "mutant": "7",
    }
