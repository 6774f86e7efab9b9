"""Two versions of a program, run by the same machine: what differs, and the shortest run that shows it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._engine.trace_view.view import PartChange
from ordeal._tools.compare.comparing import Version, VersionDifference, compare, first_difference
from ordeal._tools.compare.seen import SeenRun, SeenStep
from ordeal.errors import ConfigError

MACHINE = """
    import hypothesis.strategies as st
    from ordeal import ChaosTest, rule
    import compared_program

    class Machine(ChaosTest):
        def __init__(self):
            super().__init__()
            self.store = compared_program.Store()

        @rule(number=st.integers(0, 9))
        def put(self, number):
            self.store.put(number)

        @rule()
        def look(self):
            self.seen = len(self.store.items)

        @rule()
        def total(self):
            self.answer = self.store.total()
"""
PROGRAM = """
    class Store:
        def __init__(self):
            self.items = []

        def put(self, number):
            self.items.append(number)

        def total(self):
            return sum(self.items)
"""


def version(folder: Path, name: str, program: str) -> Version:
    place = folder / name
    place.mkdir()
    (place / "compared_machine.py").write_text(dedent(MACHINE))
    (place / "compared_program.py").write_text(dedent(program))
    return Version(name, place, (place,))


def differences(folder: Path, old: str, new: str) -> list[VersionDifference]:
    versions = version(folder, "old", old), version(folder, "new", new)
    found = compare(*versions, "compared_machine:Machine", ["compared_program"], [], seed=1, seconds=4)
    assert found.runs > 0
    return found.differences


@pytest.mark.slow
def test_each_difference_is_shown_once_by_its_shortest_run(tmp_path: Path) -> None:
    changed = PROGRAM.replace("sum(self.items)", "sum(self.items) if len(self.items) < 3 else sum(set(self.items))")
    changed = changed.replace("append(number)", "append(number if number != 7 else 8)")
    found = {each.what: each for each in differences(tmp_path, PROGRAM, changed)}
    assert {*found} == {"answer", "store.items"}
    assert found["store.items"].calls == ("put(number=7)",)
    assert (found["store.items"].old, found["store.items"].new) == ("store.items = [7]", "store.items = [8]")
    *puts, last = found["answer"].calls
    assert (len(puts), last) == (3, "total()")


@pytest.mark.slow
def test_what_no_line_of_code_shows_is_found_and_renamed_private_attributes_are_only_counted(tmp_path: Path) -> None:
    # Both versions reach the same lines whatever is put in; only the sum of two sevens is another.
    hidden = PROGRAM.replace("sum(self.items)", "sum(self.items) + (self.items.count(7) == 2)")
    versions = version(tmp_path, "old", PROGRAM), version(tmp_path, "new", hidden)
    found = compare(*versions, "compared_machine:Machine", ["compared_program"], [], seed=1, seconds=4)
    (each,) = found.differences
    assert each.calls == ("put(number=7)", "put(number=7)", "total()")
    renamed = PROGRAM.replace("self.items = []", "self.items, self._kept = [], []")
    versions = version(tmp_path, "renamed", renamed), versions[0]
    found = compare(*versions, "compared_machine:Machine", ["compared_program"], [], seed=1, seconds=2)
    assert found.differences == []
    assert set(found.inside) == set()
    kept = renamed.replace("self.items.append(number)", "self.items.append(number), self._kept.append(number)")
    found = compare(versions[0], version(tmp_path, "kept", kept), "compared_machine:Machine", [], [], seed=1, seconds=2)
    assert found.differences == []
    assert set(found.inside) == {"store._kept"}


@pytest.mark.slow
def test_a_version_differs_from_itself_in_nothing_and_what_chance_decides_is_left_out(tmp_path: Path) -> None:
    chance = PROGRAM.replace("append(number)", "append(id(object()) + __import__('time').time_ns())")
    assert differences(tmp_path, chance, chance.replace("sum(self.items)", "sum(self.items) + 0")) == []


@pytest.mark.slow
def test_an_error_on_one_version_alone_is_a_difference_and_a_version_that_cannot_run_an_error(tmp_path: Path) -> None:
    (each,) = differences(
        tmp_path, PROGRAM, PROGRAM.replace("return sum", "raise KeyError('x')\n            return sum")
    )
    assert (each.kind, each.name, each.old, each.new) == ("error", "total", "returns None", "KeyError: 'x'")
    assert each.calls == ("total()",)
    broken = version(tmp_path, "broken", "import nothing_of_that_name")
    with pytest.raises(ConfigError, match="`compared_machine:Machine` cannot run on broken: importing"):
        compare(broken, broken, "compared_machine:Machine", [], [], seed=1, seconds=1)


@pytest.mark.parametrize(
    ("old", "new", "kind", "shown"),
    [
        (SeenStep("a()", "a", "1"), SeenStep("a()", "a", "2"), "result", ("1", "2")),
        (SeenStep("a()", "a", "", error="E: x"), SeenStep("a()", "a", "1"), "error", ("E: x", "returns 1")),
        (SeenStep("a()", "a", ""), SeenStep("a(b=1)", "a", ""), "call", ("a()", "a(b=1)")),
        (SeenStep("a()", "a", ""), None, "call", ("a()", "the run has ended")),
        (
            SeenStep("a()", "a", "", (PartChange("x['k']", "1", "2"),)),
            SeenStep("a()", "a", ""),
            "state",
            ("x['k'] = 2", "x['k'] = 1"),
        ),
        (
            SeenStep("a()", "a", "", (PartChange("x._y", "1", "2"), PartChange("z", "1", "2"))),
            SeenStep("a()", "a", ""),
            "state",
            ("z = 2", "z = 1"),
        ),
        (
            SeenStep("a()", "a", "", (PartChange("x._y", "1", "2"),)),
            SeenStep("a()", "a", ""),
            "inside",
            ("x._y = 2", "x._y = 1"),
        ),
        (
            SeenStep("a()", "a", "", (PartChange("_y", "1", "2"),)),
            SeenStep("a()", "a", ""),
            "state",
            ("_y = 2", "_y = 1"),
        ),
    ],
)
def test_the_first_step_that_differs_is_named_by_what_differs(
    old: SeenStep, new: SeenStep | None, kind: str, shown: tuple[str, str]
) -> None:
    same = SeenStep("start()", "start", "")
    found = first_difference("m:M", SeenRun((same, old)), SeenRun((same, *([new] if new else []))))
    assert found is not None
    assert (found.kind, (found.old, found.new)) == (kind, shown)
    assert found.calls[0] == "start()"
    assert first_difference("m:M", SeenRun((same, old)), SeenRun((same, old))) is None


@pytest.mark.slow
def test_a_module_of_the_other_version_is_refused(tmp_path: Path) -> None:
    new = version(tmp_path, "new", PROGRAM)
    old = Version("old", tmp_path, (new.folder,), str(new.folder))
    with pytest.raises(ConfigError, match="cannot run on old: `compared_machine` is imported from "):
        compare(old, new, "compared_machine:Machine", [], [], seed=1, seconds=1)
