"""Plain programs of what rewritten tests do with a library."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

from ordeal._engine.plain.program import Program
from ordeal._engine.plain.recorder import Recorder
from ordeal._engine.plain.rewriting import RECORDER, rewritten
from ordeal._engine.plain.trying import minimised, outcome
from ordeal._engine.plain.writing import CannotWriteError, program_of
from ordeal.simulate.errors import Deadlock

LIBRARY = """
    class Full(Exception): ...

    class Shelf:
        def __init__(self, size=2, told=None, clock=None):
            self.size, self.boxes, self.told, self.clock = size, [], told, clock

        @property
        def count(self):
            return len(self.boxes)

        def put(self, box):
            if len(self.boxes) == self.size:
                raise Full(f"no room for {box}")
            if self.told is not None:
                self.told(box)
            self.boxes.append(box)
            return self

        def take(self, at=0):
            return self.boxes.pop(at)

        def __iter__(self):
            return iter(self.boxes)

        def walk(self):
            for box in self.boxes:
                yield box
                if len(self.boxes) == 5:
                    raise Full("too many")

        def __getitem__(self, at):
            return self.boxes[at]

        def __setitem__(self, at, box):
            self.boxes[at] = box

        def __len__(self):
            return len(self.boxes) + (len(self.boxes) > 2)

        def written(self):
            return ",".join(map(str, self.boxes)) + ";" * 8

        def now(self):
            return self.clock()

    def read(text):
        return [int(part) for part in text.strip(";").split(",")]

    LIMITS = {"low": 1}
"""


@pytest.fixture(autouse=True)
def _library() -> Iterator[None]:
    library = ModuleType("shelflib")
    exec(dedent(LIBRARY), vars(library))
    sys.modules["shelflib"] = library
    yield
    del sys.modules["shelflib"]


def recorded(source: str, tmp_path: Path) -> tuple[Recorder, BaseException]:
    """Run a rewritten test to its failure."""
    recorder = Recorder(lambda module: module == "shelflib")
    path = tmp_path / "shelf_test.py"
    path.write_text(dedent(source), "utf-8")
    test = ModuleType("shelf_test")
    test.__file__ = str(path)
    sys.modules["shelf_test"] = test
    recorder.files = {str(path)}
    recorder.definitions.modules.add("shelf_test")
    vars(test)[RECORDER] = recorder
    try:
        exec(compile(rewritten(path.read_text("utf-8"), str(path)), str(path), "exec"), vars(test))
    except Exception as error:  # noqa: BLE001 - what a test fails with
        return recorder, error
    raise RuntimeError("the test passed")


def program(source: str, tmp_path: Path) -> str:
    """The lines of the tidied program, after its imports; it was run, and fails alike."""
    recorder, error = recorded(source, tmp_path)
    made = program_of(recorder, error)
    whole = outcome(made.source())
    assert whole["type"].rpartition(".")[2] == type(error).__name__, whole
    tried = minimised(made, "", lambda candidate: outcome(candidate.source(probes=True)))
    assert not tried.reason
    text = made.without(set(range(len(made.statements))) - set(tried.kept)).tidied().source()
    assert outcome(text)["type"] == whole["type"], text
    assert "shelf_test" not in text
    return "\n".join(line for line in text.split("\n")[1:] if line and not line.startswith(("import ", "from ")))


def test_only_calls_that_matter_lead_to_an_error_of_the_library(tmp_path: Path) -> None:
    source = """
        from shelflib import Shelf
        shelf, model = Shelf(1), []
        for box in (3, 4):
            assert len(shelf) == len(model)
            shelf.put(box)
            model.append(box)
    """
    assert program(source, tmp_path) == "shelf = Shelf(1)\nshelf.put(3)\nshelf.put(4)"


@pytest.mark.parametrize(
    ("ends", "line"),
    [
        ("assert len(shelf) == 3, 'three'", "assert len(shelf) == 3, 'three'"),
        ("assert shelf.count + 1 == 3 and 4 == len(model)", "assert (shelf.count + 1) == 3"),
        ("assert not [box for box in shelf if box == 2]", "assert not [list(shelf)[1]]"),
        ("after = list(shelf)\nassert after == model[:1]", "assert list(shelf) == [1]"),
        ("if shelf.count != len(model) + 1:\n    raise AssertionError('off')", "assert shelf.count == 4, 'off'"),
        ("assert shelf[1] is None", "assert shelf[1] is None"),
        ("assert shelf.boxes[0] == 7 or shelf.boxes[-1] == 9", "assert shelf.boxes[2] == 9"),
    ],
)
def test_what_the_test_compares_becomes_an_assertion(tmp_path: Path, ends: str, line: str) -> None:
    begin = """
from shelflib import Shelf
shelf, model = Shelf(9), []
for box in (1, 2, 3):
    shelf.put(box)
    model.append(box)
"""
    made = program(f"{begin}{ends}\n", tmp_path).split("\n")
    assert made[:4] == ["shelf = Shelf(9)", "shelf.put(1)", "shelf.put(2)", "shelf.put(3)"]
    assert made[-1] == line


def test_what_a_loop_does_stands_between_its_items(tmp_path: Path) -> None:
    source = """
        from shelflib import Shelf
        shelf = Shelf(9)
        shelf.put(1).put(2)
        for box in shelf.walk():
            shelf.put(box)
    """
    assert program(source, tmp_path).split("\n") == [
        "shelf = Shelf(9)",
        "shelf.put(1)",
        "shelf.put(2)",
        "result = list(itertools.islice((result_rest := iter(shelf.walk())), 1))",
        "shelf.put(1)",
        "shelf.put(2)",
        "shelf.put(1)",
        "result.append(next(result_rest))",
    ]


def test_errors_that_the_test_expects_are_suppressed(tmp_path: Path) -> None:
    source = """
        from shelflib import Full, Shelf
        shelf = Shelf(1)
        shelf.put(1)
        try:
            shelf.put(2)
        except Full:
            pass
        assert shelf.count == 2
    """
    assert program(source, tmp_path) == (
        "shelf = Shelf(1)\nshelf.put(1)\nwith contextlib.suppress(Full):\n    shelf.put(2)\nassert shelf.count == 2"
    )


def test_items_texts_and_globals_of_the_library_are_followed(tmp_path: Path) -> None:
    source = """
        import shelflib
        shelf = shelflib.Shelf()
        shelf.put(1).put(2)
        shelf[0] = 5
        shelflib.LIMITS["low"] = 3
        assert shelflib.read(shelf.written()) == [1, 2]
    """
    assert program(source, tmp_path) == (
        "shelf = Shelf()\nshelf.put(1)\nshelf.put(2)\nshelf[0] = 5\nLIMITS['low'] = 3\n"
        "assert read(shelf.written()) == [1, 2]"
    )


def test_functions_of_the_test_give_their_answers_again_and_classes_are_written_down(tmp_path: Path) -> None:
    source = """
        from shelflib import Shelf
        START = 4
        class Clock:
            def __init__(self): self.at = START
            def __call__(self): return self.at
        seen, clock = [], Clock()
        shelf = Shelf(5, seen.append, clock)
        shelf.put(1)
        clock.at += 2
        assert shelf.now() == 4
    """
    made = program(source, tmp_path)
    assert "START = 4\n" in made
    assert "class Clock:" in made
    assert "clock.at = 6\n" in made
    assert "def append(*args, **kwargs):\n    return None" in made
    assert made.endswith("assert shelf.now() == 4")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("assert 1 == 2", "what the test compares at the end does not come from the code under test"),
        ("import shelflib\nshelflib.Shelf()\nraise ValueError('own')", "what the test compares at the end"),
        (
            """
            import shelflib
            class Odd:
                def __init__(self, given): pass
            ODD = object.__new__(Odd)
            shelf = shelflib.Shelf()
            shelf.put(ODD)
            shelf.put(1)
            shelf.put(2)
            """,
            "cannot be written",
        ),
    ],
)
def test_where_there_is_no_program_it_says_why(tmp_path: Path, source: str, reason: str) -> None:
    recorder, error = recorded(source, tmp_path)
    with pytest.raises(CannotWriteError, match=reason):
        program_of(recorder, error)


def test_a_program_that_ends_otherwise_is_refused() -> None:
    made = Program(title="ValueError: x")
    made.end.error = "ValueError"
    refused = minimised(made, "", lambda _: {"type": "KeyError", "place": "", "text": "", "seen": []})
    assert refused.reason == "it ends with KeyError instead of ValueError"
    elsewhere: dict[str, Any] = {"type": "ValueError", "place": "g", "text": "", "seen": []}
    assert minimised(made, "f", lambda _: elsewhere).reason == "it fails in g instead of f"


def test_what_only_a_simulated_run_ends_with_has_no_plain_program(tmp_path: Path) -> None:
    source = """
        from shelflib import Shelf
        shelf = Shelf(1)
        assert not shelf.put(3)
    """
    recorder, _ = recorded(source, tmp_path)
    with pytest.raises(CannotWriteError, match="a failure of a simulated run"):
        program_of(recorder, Deadlock("nothing can go on"))
