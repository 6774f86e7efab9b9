"""The disk: what is durable, what a crash keeps of the rest, and that a copy shares nothing."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import pytest

from ordeal._base.buggify_state import enter_run, leave_run
from ordeal.simulate.disk import Disk, File, Folder, Resize, TapeNumbers, Write


def keeping(*answers: int) -> Callable[[int], int]:
    """Answers in turn, and refuses to be asked more or for what was not offered."""
    left = list(answers)

    def choose(most: int) -> int:
        answer = left.pop(0)
        assert answer <= most
        return answer

    return choose


def everything(most: int) -> int:
    return most


def nothing(most: int) -> int:
    assert most > 0, "there is nothing to choose"
    return 0


def tree(folder: Folder) -> dict[str, object]:
    return {
        name: tree(node) if isinstance(node, Folder) else bytes(node.content) for name, node in folder.entries.items()
    }


def test_a_write_fills_the_gap_before_it_and_keeps_what_is_behind() -> None:
    content = bytearray(b"abcd")
    Write(1, b"XY").apply(content)
    assert content == b"aXYd"
    Write(6, b"Z").apply(content)
    assert content == b"aXYd\0\0Z"
    Write(99, b"").apply(content)
    assert content == b"aXYd\0\0Z", "nothing put far behind the end leaves no gap"


def test_a_resize_cuts_or_adds_zeros() -> None:
    content = bytearray(b"abc")
    Resize(1).apply(content)
    Resize(3).apply(content)
    assert content == b"a\0\0"


@pytest.mark.parametrize(("kept", "content"), [(0, b"old"), (1, b"new"), (2, b"newer"), (3, b"n")])
def test_a_crash_keeps_the_first_so_many_writes(kept: int, content: bytes) -> None:
    file = File(1, 0.0, bytearray(b"old"), b"old")
    for change in (Write(0, b"new"), Write(3, b"er"), Resize(1)):
        file.change(change, 1.0)
    file.crash(keeping(kept), torn=None)
    assert bytes(file.content) == file.durable == content
    file.crash(nothing, torn=nothing)
    assert file.content == content, "what a crash has left is durable"


def test_a_torn_write_arrives_in_part_and_a_resize_does_not() -> None:
    file = File(1, 0.0)
    file.change(Write(0, b"abcd"), 1.0)
    file.change(Resize(0), 2.0)
    file.crash(chosen := keeping(0, 3), torn=chosen)
    assert file.content == b"abc"
    file.change(Resize(0), 3.0)
    file.crash(chosen := keeping(0), torn=chosen)
    assert file.content == b"abc"


def test_writing_nothing_changes_nothing() -> None:
    file = File(1, 5.0)
    file.change(Write(9, b""), 7.0)
    assert (bytes(file.content), len(file.unsynced), file.modified_s) == (b"", 0, 5.0)


def test_a_synced_file_survives_without_being_asked_for() -> None:
    file = File(1, 0.0)
    file.change(Write(0, b"a"), 1.0)
    file.sync()
    file.crash(nothing, torn=nothing)
    assert file.content == b"a"


def filled() -> Disk:
    """Two files in a folder, all of it durable."""
    disk = Disk()
    folder = disk.new_folder(disk.root, "folder")
    for name in ("a", "b"):
        disk.new_file(folder, name, 0.0).change(Write(0, name.encode()), 0.0)
    disk.sync()
    return disk


def folder_of(disk: Disk) -> Folder:
    folder = disk.root.entries["folder"]
    assert isinstance(folder, Folder)
    return folder


def test_what_was_synced_survives() -> None:
    disk = filled()
    disk.crash(nothing, torn=nothing)
    assert tree(disk.root) == {"folder": {"a": b"a", "b": b"b"}}


@pytest.mark.parametrize(("kept", "names"), [(0, {"a", "b"}), (1, {"b", "c"}), (2, {"b"}), (3, {"b", "new"})])
def test_names_survive_in_order_and_a_rename_as_a_whole(kept: int, names: set[str]) -> None:
    disk = filled()
    folder = folder_of(disk)
    disk.rename(folder, "a", folder, "c")
    disk.remove(folder, "c")
    disk.new_file(folder, "new", 1.0)
    disk.crash(keeping(kept), torn=None)
    assert set(folder_of(disk).entries) == names


def test_a_rename_takes_the_place_of_what_was_there() -> None:
    disk = filled()
    folder = folder_of(disk)
    disk.rename(folder, "a", folder, "b")
    assert tree(disk.root) == {"folder": {"b": b"a"}}
    disk.crash(nothing, torn=None)
    assert tree(disk.root) == {"folder": {"a": b"a", "b": b"b"}}


def test_a_synced_folder_keeps_what_was_named_before_anywhere_and_no_content() -> None:
    disk = filled()
    other = disk.new_folder(disk.root, "other")
    disk.new_file(other, "x", 1.0).change(Write(0, b"x"), 1.0)
    disk.new_file(folder_of(disk), "c", 1.0)
    disk.sync_folder(other)
    disk.crash(nothing, torn=None)
    assert tree(disk.root) == {"folder": {"a": b"a", "b": b"b"}, "other": {"x": b""}}


def test_a_durable_folder_was_there_all_along() -> None:
    disk = Disk()
    disk.new_folder(disk.root, "root", durable=True)
    disk.crash(nothing, torn=None)
    assert tree(disk.root) == {"root": {}}


def test_a_crash_asks_for_names_first_and_then_for_files_by_age() -> None:
    disk = filled()
    asked: list[int] = []

    def choose(most: int) -> int:
        asked.append(most)
        return most

    young = disk.new_file(disk.root, "young", 1.0)
    for _ in range(5):
        young.change(Write(0, b"y"), 1.0)
    old = folder_of(disk).entries["a"]
    assert isinstance(old, File)
    old.change(Write(0, b"o"), 1.0)
    disk.crash(choose, torn=choose)
    assert asked == [1, 1, 5]


def test_a_copy_is_a_disk_of_its_own() -> None:
    disk = filled()
    folder = folder_of(disk)
    disk.new_file(folder, "c", 1.0)
    copied = copy.deepcopy(disk)
    disk.remove(folder, "a")
    file = folder.entries["b"]
    assert isinstance(file, File)
    file.change(Write(0, b"changed"), 2.0)
    assert tree(copied.root) == {"folder": {"a": b"a", "b": b"b", "c": b""}}
    copied.crash(everything, torn=None)
    assert tree(copied.root) == {"folder": {"a": b"a", "b": b"b", "c": b""}}, "its journal is a copy too"
    assert tree(disk.root) == {"folder": {"b": b"changed", "c": b""}}


class Answers:
    """Decides all alike, and counts."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.asked = 0

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        assert (probability, is_point) == (0.5, True)
        self.asked += 1
        return self.answer


def numbers(chance: TapeNumbers, count: int = 20) -> list[int]:
    return [chance.up_to(1000) for _ in range(count)]


def test_a_seed_decides_all() -> None:
    drawn = numbers(TapeNumbers(1))
    random.random()
    assert numbers(TapeNumbers(1)) == drawn
    assert numbers(TapeNumbers(2)) != drawn
    assert len(set(drawn)) > 10


@pytest.mark.parametrize("most", [0, 1, 2, 7, 8])
def test_a_number_keeps_its_range_and_has_both_ends(most: int) -> None:
    chance = TapeNumbers(5)
    assert {chance.up_to(most) for _ in range(400)} == set(range(most + 1))


def test_contents_have_their_size_and_differ() -> None:
    chance = TapeNumbers(1)
    first, second = chance.content(40), chance.content(40)
    assert len(first) == len(second) == 40
    assert first != second
    assert chance.content(0) == b""


def test_a_copy_goes_on_alike_and_on_its_own() -> None:
    chance = TapeNumbers(3)
    numbers(chance)
    copied = copy.deepcopy(chance)
    assert numbers(copied) == numbers(chance)


def test_in_a_run_the_run_decides() -> None:
    for answer, expected in ((False, 0), (True, 7)):
        answers = Answers(answer)
        before = enter_run(answers, 0.1)
        try:
            assert TapeNumbers(1).up_to(7) == expected
            assert answers.asked == 3, "a decision for each bit"
        finally:
            leave_run(before)


def test_a_content_takes_as_many_decisions_whatever_its_size() -> None:
    answers = Answers(False)
    before = enter_run(answers, 0.1)
    try:
        TapeNumbers(1).content(1)
        TapeNumbers(1).content(10_000)
    finally:
        leave_run(before)
    assert answers.asked == 32
