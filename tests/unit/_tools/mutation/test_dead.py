"""What cannot matter, and what perhaps does not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._tools.mutation.dead import proof, statement_of, told, words_in
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import STATE_DIFFERS, Verdict, Word

PROGRAM = """
    def nobody(total):
        return total + 1

    def somebody(total):
        return total + 1
"""


def verdicts(folder: Path, word: Word, *operators: str, note: str = "") -> list[Verdict]:
    path = folder / "shop.py"
    path.write_text(dedent(PROGRAM))
    source = Source.of(path, "shop.py")
    found = [Verdict(each, word, note=note) for each in mutants_of(source, operators)]
    return told([source], found, folder)


@pytest.mark.parametrize(
    ("body", "dead"),
    [
        ("rest = 10\n    return a", True),
        ("rest = 10\n    if a:\n        rest = a\n    return rest", False),
        ("rest = 10\n    del rest, a[0]", False),
        ("rest = 10\n    return locals()", False),
        ("rest = 10\n    return lambda: rest", False),
        ("while a:\n        a -= 1", False),
        ("n = 1\n    n = 2\n    return a", True),
        ("both = other = 10\n    return other", False),
        ("return a\n    print(a)", True),
        ("rest = 10\n    for each in a:\n        rest = each\n        print(rest)", True),
        ("rest = 10\n    if a:\n        rest = a\n    else:\n        rest = -a\n    return rest", True),
        ("rest = 10\n    for each in a:\n        print(rest)\n        rest = each", False),
        ("rest = 10\n    try:\n        rest = int(a)\n    except ValueError:\n        rest = a\n    return rest", True),
        ("rest = 10\n    try:\n        rest = int(a)\n    except ValueError:\n        pass\n    return rest", False),
        ("rest = 10\n    with a:\n        rest = a\n    return rest", False),
        ("try:\n        print(a)\n    finally:\n        rest = 10\n    rest = a\n    return rest", True),
        ("del a", True),
        ("for b in c:\n        del a[b]", False),
        ("b = c()\n    print(b)\n    del b\n    return locals()", False),
        ("global b\n    del b", False),
    ],
)
def test_what_cannot_matter_is_proved(tmp_path: Path, body: str, dead: bool) -> None:
    source = Source(tmp_path / "shop.py", "shop.py", f"def f(a):\n    {body}\n".encode())
    made = mutants_of(source, ["boundary", "delete_statement", "comparison"])
    found = [each for each in made if proof(source, each, statement_of(source, each)) and "return" not in each.original]
    assert bool(found) == dead


@pytest.mark.parametrize(
    ("begin", "dead"),
    [
        ("import sys\nON_OLD = sys.version_info < (3,)\n", True),
        ("import platform\nON_OLD = platform.python_implementation() == 'Other'\n", True),
        ("import sys\nON_OLD = len(sys.argv) < 0\n", False),
        ("ON_OLD = False\n", False),
    ],
)
def test_what_only_other_systems_run_is_dead(tmp_path: Path, begin: str, dead: bool) -> None:
    text = f"{begin}def f(a):\n    if ON_OLD:\n        print(1)\n    return 1 if ON_OLD else a\n"
    source = Source(tmp_path / "shop.py", "shop.py", text.encode())
    made = [each for each in mutants_of(source, ["delete_statement", "boundary"]) if each.name]
    found = [bool(proof(source, each, statement_of(source, each))) for each in made]
    assert found == [dead] * 5


def test_what_something_noticed_stays_what_it_is(tmp_path: Path) -> None:
    assert {each.word for each in verdicts(tmp_path, "killed", "boundary")} == {"killed"}


@pytest.mark.parametrize(("note", "doubt"), [("", "this value of `tax` is never read"), (STATE_DIFFERS, "")])
def test_a_statement_is_in_doubt_only_where_nothing_reads_what_it_stores(tmp_path: Path, note: str, doubt: str) -> None:
    source = Source(tmp_path / "shop.py", "shop.py", b"def f(a):\n    tax = a * 2\n    print(a)\n    return a\n")
    found = [Verdict(each, "survived", note=note) for each in mutants_of(source, ["delete_statement"])]
    assert [(each.word, each.doubt) for each in told([source], found, tmp_path)] == [
        ("survived", doubt),
        ("survived", ""),
    ]


def test_a_function_is_in_doubt_where_no_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("call `somebody`")
    found = {each.mutant.name: each.doubt for each in verdicts(tmp_path, "uncovered", "arithmetic")}
    assert (found["nobody"], found["somebody"]) == ("nothing else names `nobody`", "")


def test_only_texts_name_anything(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("entry = 'shop:main'")
    (tmp_path / "b.bin").write_text("hidden")
    found = words_in(sorted(tmp_path.iterdir()))
    assert (found["main"], found["hidden"]) == (1, 0)


@pytest.mark.parametrize(
    ("calls", "word"),
    [
        ("_f(1, 2), _f(1, n=2)", "dead"),
        ("_f(1, 2), _f(1)", "survived"),
        ("_f(*a), _f(1, 2)", "survived"),
        ("_f(1, **a)", "survived"),
        ("_f(1, 2), map(_f, a)", "survived"),
    ],
)
def test_a_default_that_every_call_passes_is_dead(tmp_path: Path, calls: str, word: str) -> None:
    path = tmp_path / "shop.py"
    path.write_text(f"def _f(a, n=5):\n    return a + n\n\ndef g(a):\n    return {calls}\n")
    source = Source.of(path, "shop.py")
    made = [each for each in mutants_of(source, ["boundary"]) if each.original == "5"]
    assert [each.word for each in told([source], [Verdict(each, "survived") for each in made], tmp_path)] == [word] * 2
