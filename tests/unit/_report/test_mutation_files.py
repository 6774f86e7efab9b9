"""Reports of mutation testing hold what no test noticed, once for each line, for people and for other programs."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from ordeal._report.mutation_files import (
    FORMATS,
    mutation_annotations,
    mutation_badge,
    mutation_junit,
    mutation_markdown,
    mutation_page,
    mutation_sarif,
)
from ordeal._report.mutation_rates import rate_tables, rates_json
from ordeal._report.stryker import stryker_json
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict

from .formats.test_formats import VALIDATORS, jenkins_faults


def judged(lines: int) -> tuple[list[Source], Judgement]:
    text = "".join(f"def f{each}(a, b):\n    return a < b\n" for each in range(lines))
    source = Source(Path("a b.py"), "a b.py", text.encode())
    mutants = mutants_of(source, ["comparison"])
    return [source], Judgement([Verdict(mutant, "survived", tests=1) for mutant in mutants], 1, ["test_<it>"])


def test_github_shows_nine_lines_and_counts_the_rest() -> None:
    told = mutation_annotations(*judged(14)).splitlines()
    assert len(told) == 10
    assert told[0].startswith("::warning file=a b.py,line=2,title=ordeal mutate ")
    assert told[-1].endswith("and 5 more lines: see the report")


def test_text_of_the_program_is_no_markup() -> None:
    assert "return a &lt;= b" in mutation_page(*judged(1))
    assert "return a &lt; b" in mutation_junit(*judged(1))


def test_each_format_is_made_of_no_mutants_too() -> None:
    nothing = judged(0)
    assert all(make(*nothing) is not None for _, make in FORMATS.values())
    assert mutation_badge(*nothing)["message"] == "none"


@pytest.mark.parametrize("lines", [0, 14])
def test_other_programs_can_read_the_reports(lines: int) -> None:
    assert jenkins_faults(ET.fromstring(mutation_junit(*judged(lines)))) == []
    VALIDATORS["sarif"].validate(mutation_sarif(*judged(lines)))


def test_markdown_has_the_score_the_rates_and_the_lines() -> None:
    text = mutation_markdown(*judged(2))
    assert text.startswith("## ordeal mutate: score 0/4 (0.0 %)\n\n4 mutants: survived 4\n")
    assert "| `a b.py f0` | 2 | 0 | 0.0 % |" in text
    assert "### `a b.py:2 f0, survived`\n\n\n```diff\n-     return a < b\n+     return a <= b\n```\n" in text


def test_a_page_can_hide_one_word_and_leads_from_each_finding_to_the_next() -> None:
    sources, judgement = judged(2)
    judgement.verdicts[-2] = Verdict(judgement.verdicts[-2].mutant, "uncovered")
    page = mutation_page(sources, judgement)
    first, *_, last = (each.mutant.id for each in judgement.verdicts if each.word != "killed")
    assert 'id="show-survived" checked' in page
    assert 'id="show-uncovered" checked' in page
    assert page.count('rel="next"') == page.count('rel="prev"') == len(judgement.verdicts) - 1
    assert f'<details class="finding survived" id="{first}"' in page
    assert f'href="#{last}" rel="next"' in page


def test_next_leads_down_the_page_whichever_file_comes_first() -> None:
    [few], judgement = judged(1)
    many = Source(Path("many.py"), "many.py", few.text + b"def g(a, b):\n    return a < b\n")
    verdicts = [Verdict(each, "survived", tests=1) for each in mutants_of(many, ["comparison"])]
    page = mutation_page([few, many], Judgement([*judgement.verdicts, *verdicts], 1, ["test_it"]))
    shown = re.findall(r'class="finding survived" id="(\w+)"', page)
    assert shown[-1] == judgement.verdicts[-1].mutant.id
    assert re.findall(r'href="#(\w+)" rel="next"', page) == shown[1:]


def test_a_page_has_the_whole_source_with_what_survived_below_its_line() -> None:
    sources, judgement = judged(20)
    judgement.verdicts[4:] = [Verdict(each.mutant, "killed") for each in judgement.verdicts[4:]]
    page = mutation_page(sources, judgement)
    text = re.sub(r"<[^>]+>", "", page)
    assert text.index("return a &lt; b") < text.index("return a &lt;= b") < text.index("def f1(")
    assert text.count("  def f") == 20
    assert "Lines 10 to 40, 32 noticed" in page
    assert "<h1>4 mutants survived</h1>" in page


# Rates

RATED = b"def f(a):\n    return a < 1\n\ndef g(a):\n    return a + 2\n"


def rated() -> list[Verdict]:
    mutants = mutants_of(Source(Path("a b.py"), "a b.py", RATED), ["comparison", "arithmetic", "boundary"])
    return [
        Verdict(each, "survived" if each.operator == "boundary" and each.name == "f" else "killed") for each in mutants
    ]


def test_values_and_tables_have_all_functions() -> None:
    found = rates_json(rated())
    assert [(each["file"], each["name"], each["percent"]) for each in found["functions"]] == [
        ("a b.py", "f", 50.0),
        ("a b.py", "g", 100.0),
    ]
    assert found["operators"][0]["operator"] == "boundary"
    assert [len(each.rows) for each in rate_tables(rated())] == [3, 2]


# Stryker


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
