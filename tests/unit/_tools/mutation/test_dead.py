"""What cannot matter, and what perhaps does not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._tools.mutation.dead import told, words_in
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import STATE_DIFFERS, Score, Verdict, Word

PROGRAM = """
    def f(total):
        rest = 10
        tax = total * 2
        seen = 5
        spied = 7
        print(seen)
        return total

    def spies(total):
        spied = 7
        return locals()

    def nobody(total):
        return total + 1

    def somebody(total):
        return total + 1
        print(total)
"""


def verdicts(folder: Path, word: Word, *operators: str, note: str = "") -> list[Verdict]:
    path = folder / "shop.py"
    path.write_text(dedent(PROGRAM))
    source = Source.of(path, "shop.py")
    found = [Verdict(each, word, note=note) for each in mutants_of(source, operators)]
    return told([source], found, folder)


def test_a_constant_that_nothing_reads_cannot_matter(tmp_path: Path) -> None:
    found = verdicts(tmp_path, "survived", "boundary")
    dead = {each.mutant.line: each.note for each in found if each.word == "dead"}
    assert dead == {3: "`rest` is stored and never read", 6: "`spied` is stored and never read"}
    assert Score.of(found).judged == len(found) - sum(each.word == "dead" for each in found)


def test_what_the_compiler_leaves_out_cannot_matter(tmp_path: Path) -> None:
    found = verdicts(tmp_path, "uncovered", "delete_statement")
    dead = {each.mutant.original: each.note for each in found if each.word == "dead"}
    assert dead["print(total)"] == "the compiler leaves it out"


def test_what_something_noticed_stays_what_it_is(tmp_path: Path) -> None:
    assert {each.word for each in verdicts(tmp_path, "killed", "boundary")} == {"killed"}


def test_a_value_that_nothing_reads_may_still_raise(tmp_path: Path) -> None:
    (found,) = (each for each in verdicts(tmp_path, "survived", "arithmetic") if each.mutant.line == 4)
    assert (found.word, found.doubt) == ("survived", "`tax` is stored and never read")


@pytest.mark.parametrize(("note", "doubts"), [("", 1), (STATE_DIFFERS, 0)])
def test_a_statement_is_in_doubt_where_all_passes_without_it(tmp_path: Path, note: str, doubts: int) -> None:
    found = [each for each in verdicts(tmp_path, "survived", "delete_statement", note=note) if each.mutant.line == 7]
    assert [each.doubt for each in found if each.doubt] == ["nothing notices when the statement is gone"] * doubts


def test_a_function_is_in_doubt_where_no_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("call `somebody`")
    found = {each.mutant.name: each.doubt for each in verdicts(tmp_path, "uncovered", "arithmetic")}
    assert (found["nobody"], found["somebody"]) == ("nothing else names `nobody`", "")


def test_only_texts_name_anything(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("entry = 'shop:main'")
    (tmp_path / "b.bin").write_text("hidden")
    found = words_in(sorted(tmp_path.iterdir()))
    assert (found["main"], found["hidden"]) == (1, 0)
