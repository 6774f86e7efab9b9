"""The report of machines as judges, as text, as values and on the page."""

from __future__ import annotations

from pathlib import Path

from ordeal._report.mutation import mutation_json, mutation_text
from ordeal._report.mutation_files import mutation_page
from ordeal._report.mutation_rates import machine_tables
from ordeal._report.stryker import stryker_json
from ordeal._tools.mutation.machines.evidence import JudgingMachine, Kill, MachineFinding, StateDifference
from ordeal._tools.mutation.machines.running import verdict_of
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict

ALLOWED = "def allowed(age, n):\n    return age >= 18 and n > 2\n"


def written(folder: Path, text: str) -> Source:
    path = folder / "shop.py"
    path.write_text(text)
    return Source.of(path, "shop.py")


def judgement(source: Source) -> Judgement:
    first, second, *_ = mutants = mutants_of(source, PRESETS["essential"])[:2]
    kill = Kill(1, 2, "assertion", "invariant:sound", ("sound",), "sell", (), "t.py:4", "AssertionError")
    findings = {
        first.id: MachineFinding(first.id, "killed", (kill,), traces=2, replays=1),
        second.id: MachineFinding(
            second.id, "survived", (), StateDifference(3, 5, "sell", "stock['a']", "5", "7"), 4, 4
        ),
    }
    machine = JudgingMachine("t:M", 4, 80, 1, ("sell",), ("cut",), ("sound", "idle"), {"sound": ("stock",)}, ("mails",))
    return Judgement([verdict_of(each, findings[each.id]) for each in mutants], findings=findings, machines=[machine])


def test_the_text_says_why_it_survived_and_what_kills_nothing(tmp_path: Path) -> None:
    source = written(tmp_path, ALLOWED)
    short = mutation_text([source], judgement(source))
    assert short.index("survived") < short.index("not read by any invariant: mails") < short.index("machine t:M")
    assert "kills" not in short.partition("machine t:M")[0].replace("invariants that kill nothing", "")
    text = mutation_text([source], judgement(source), every=True)
    assert "  state differs at step 5 of trace 3 (sell): stock['a'] 7, was 5\n" in text
    assert "4 traces ran this, and nothing failed; read by sound\n" in text
    assert "sound          1        1  stock\n" in text
    assert "not read by any invariant: mails\n" in text
    assert "faults that had no part in any kill: cut\n" in text
    assert "invariants that kill nothing: idle\n" in text
    assert "what was seen  mutants  first in\nstate differs        1  stock 1\n" in text
    assert "killed 1 (assertion 1)  survived 1" in text
    assert text.endswith("\nscore 1/2 (50.0 %)\n")


def test_the_values_name_the_killer_and_the_difference(tmp_path: Path) -> None:
    source = written(tmp_path, ALLOWED)
    document = mutation_json([source], judgement(source))
    killed, survived = document["mutants"]
    assert (killed["killer"], killed["kills"][0]["invariants"]) == ("invariant:sound", ("sound",))
    assert survived["difference"]["path"] == "stock['a']"
    assert document["table"]["invariants"]["sound"] == {"kills": 1, "only_it": 1}


def test_a_machine_without_invariants_and_mutants_without_verdict_are_explained(tmp_path: Path) -> None:
    source = written(tmp_path, "LIMIT = 3 + 4\n")
    (mutant,) = mutants_of(source, ["arithmetic"])
    finding = MachineFinding(mutant.id, "not run", note="at import")
    machine = JudgingMachine("t:M", 4, 80, 0, ("sell",), (), (), {}, ())
    text = mutation_text(
        [source], Judgement([verdict_of(mutant, finding)], findings={mutant.id: finding}, machines=[machine])
    )
    assert "NOT RUN  1 mutant: at import\n  shop.py:1\n\n" in text
    assert text.startswith("no machine has an invariant: only what rules")


def test_what_no_trace_runs_and_no_invariant_reads_is_listed_whole(tmp_path: Path) -> None:
    source = written(tmp_path, "def total(a, b):\n    if a:\n        return a + b\n    return a - b\n")
    mutants = mutants_of(source, ["arithmetic", "negate"])
    findings = {each.id: MachineFinding(each.id, "uncovered") for each in mutants}
    machine = JudgingMachine("t:M", 4, 80, 0, ("sell",), (), ("sound",), {}, tuple(f"attribute_{n}" for n in range(12)))
    verdicts = [verdict_of(each, findings[each.id]) for each in mutants]
    text = mutation_text([source], Judgement(verdicts, findings=findings, machines=[machine]))
    assert "UNCOVERED  shop.py:2-4  total  no trace runs this (" in text
    assert "attribute_10, attribute_11\n" in text


def test_the_page_says_who_kills_and_why_survivors_survived(tmp_path: Path) -> None:
    source = written(tmp_path, ALLOWED)
    said = judgement(source)
    tables = {each.title: each.rows for each in machine_tables(said)}
    assert tables["Kills by invariant"] == [["sound", 1, 1, "stock"], ["idle", 0, 0, "nothing"]]
    assert tables["Why they survived"] == [["state differs", 1, "stock 1"]]
    page = mutation_page([source], said)
    assert "State differs at step 5 of trace 3 (sell)" in page
    assert "Not read by any invariant: mails" in page


def test_what_machines_say_is_there_too(tmp_path: Path) -> None:
    source = written(tmp_path, ALLOWED)
    document = stryker_json([source], judgement(source))
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


def test_survivors_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    source = written(tmp_path, ALLOWED)
    verdicts = [Verdict(each, "survived", tests=1) for each in mutants_of(source, ["comparison"])]
    text = mutation_text([source], Judgement(verdicts))
    hidden = f"\n{len(verdicts) - 1} more of these lines survived: --all shows them\n"
    assert (len(verdicts) > 1, text.count("  survived  "), hidden in text) == (True, 1, True)
    assert "more of these lines" not in mutation_text([source], Judgement(verdicts), every=True)
