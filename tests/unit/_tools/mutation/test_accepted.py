"""Mutants that are accepted: by a comment, for its line, its block or an operator, and by a file; never silently."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ordeal._tools.mutation.accepted import accept, accepted
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.source import Source
from ordeal.config.options import ACCEPTED_FILE
from ordeal.errors import ConfigError


def sourced(text: str) -> Source:
    return Source(Path("shop.py"), "shop.py", text.encode())


def found(text: str, folder: Path) -> set[tuple[int, str, str]]:
    source = sourced(text)
    mutants = mutants_of(source, PRESETS["standard"])
    reasons = accepted([source], mutants, folder / ACCEPTED_FILE)
    return {(each.line, each.operator, reasons[each.id]) for each in mutants if each.id in reasons}


def test_a_comment_is_for_its_line_its_block_or_an_operator(tmp_path: Path) -> None:
    line = "def f(x):\n    x = x + 1  # ordeal: no-mutate[arithmetic] same either way\n    return x * 2\n"
    assert found(line, tmp_path) == {(2, "arithmetic", "same either way")}
    block = "def f(x):  # ordeal: no mutate -- only a hint\n    return x\n\ndef g(x):\n    return x\n"
    assert found(block, tmp_path) == {(2, "return_none", "only a hint")}
    text = "def f(x):\n    return '# ordeal: no-mutate reason' + x\n"
    assert found(text, tmp_path) == set()


@pytest.mark.parametrize(
    "comment",
    [
        *("no-mutate", "no-mutate[arithmetic]", "no-mutate[plus] a reason"),
        *("no-mutate[] a reason", "no-mutate[arithmetic a reason", "nomutate a reason", "No-Mutation a reason"),
    ],
)
def test_no_reason_and_an_unknown_operator_are_refused(tmp_path: Path, comment: str) -> None:
    with pytest.raises(ConfigError, match=r"shop\.py:2"):
        found(f"def f(x):\n    return x + 1  # ordeal: {comment}\n", tmp_path)


def test_other_comments_of_the_line_may_stand_before_it(tmp_path: Path) -> None:
    text = "def f(x):\n    return x + 1  # type: ignore  # ordeal: no-mutate a count\n"
    assert (2, "arithmetic", "a count") in found(text, tmp_path)
    assert not found("def f(x):\n    return x + 1  # ordeal: none of this mutates\n", tmp_path)


def test_an_accepted_mutant_is_found_again_after_its_line_has_moved(tmp_path: Path) -> None:
    before = sourced("def f(x):\n    return x + 1\n")
    mutant = mutants_of(before, ["arithmetic"])[0]
    accept(mutant, 'the "unit"\nis free', tmp_path / ACCEPTED_FILE)
    accept(mutant, "twice", tmp_path / ACCEPTED_FILE)
    assert found("\n\n\ndef f(x):\n    return x + 1\n", tmp_path) == {(5, "arithmetic", "twice")}


WRONG = (
    "[[accepted]]\nreason='a'",
    "[[accepted]]\nid='a'\npattern='b'\nreason='c'",
    "[[accepted]]\npattern='('\nreason='c'",
    "[[accepted]]\npattern=3\nreason='c'",
    "[[accepted]]\nid=''\nreason='c'",
    "accepted = " + "[" * 20_000,
)


@pytest.mark.parametrize(
    "text",
    [
        "accepted = 3",
        "accepted = 'a'",
        "[[acepted]]\nid='a'\nreason='b'",
        "[[accepted]]\nid = 'a'",
        "[[accepted]]\nid='a'\nreason=' '",
        "[[",
        *WRONG,
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    Path(tmp_path, ACCEPTED_FILE).write_text(text, "utf-8")
    with pytest.raises(ConfigError):
        accepted([], [], tmp_path / ACCEPTED_FILE)


def test_a_pattern_is_for_the_lines_that_match_it(tmp_path: Path) -> None:
    entry = "[[accepted]]\npattern = 'metrics\\.'\nreason = 'only a count'\n"
    Path(tmp_path, ACCEPTED_FILE).write_text(entry, "utf-8")
    text = "def f(x):\n    metrics.add(x + 1)\n    return x - 1\n"
    assert {line for line, _, _ in found(text, tmp_path)} == {2}


def test_a_file_that_is_no_regular_one_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ACCEPTED_FILE)
    with pytest.raises(ConfigError, match="cannot be read: it is not a regular file"):
        found("def f(x):\n    return x\n", tmp_path)


def test_what_was_accepted_before_stays_where_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = mutants_of(sourced("def f(x):\n    return x + 1\n"), ["arithmetic"])[0]
    path = tmp_path / ACCEPTED_FILE
    accept(mutant, "before", path)

    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        accept(mutant, "after", path)
    assert "before" in path.read_text("utf-8")
