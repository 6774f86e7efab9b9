"""The code of live functions is exchanged and comes back; the functions stay the same objects."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, NotSwappable, OwnLines, Swap

PROGRAM = """
    import functools

    class Cart:
        @property
        def total(self):
            return 1 + 2

        def fill(self):
            self.filled = 1
            return self

    class Basket(Cart):
        def fill(self):
            self.full = True
            super().fill()
            return self

    @functools.cache
    def cached(a):
        return a + 1

    def maker(a, b):
        def inner(c):
            return a + c
        return inner

    made = maker(1, 2)

    def items():
        yield
"""


@pytest.fixture
def program(tmp_path: Path) -> tuple[Any, Source]:
    path = tmp_path / "swapped.py"
    path.write_text(dedent(PROGRAM))
    spec = importlib.util.spec_from_file_location("swapped", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, Source.of(path, "swapped.py")


def test_each_live_function_of_a_code_is_reached(program: tuple[Any, Source]) -> None:
    module, source = program
    live = LiveFunctions({real_path(str(source.path))})
    total, cached, inner = mutants_of(source, ["arithmetic"])
    made = module.made
    swap = Swap(live, source, total)
    assert module.Cart().total == -1
    swap.undo()
    assert module.Cart().total == 3
    swap = Swap(live, source, cached)
    assert module.cached(5) == 4
    swap.undo()
    swap = Swap(live, source, inner)
    assert (made(3), module.maker(1, 2)(3)) == (-2, -2)
    swap.undo()
    assert (made(3), module.maker(1, 2)(3)) == (4, 4)


def test_a_mutant_may_take_less_from_its_surroundings(program: tuple[Any, Source]) -> None:
    module, source = program
    live = LiveFunctions({real_path(str(source.path))})
    (inner,) = [each for each in mutants_of(source, ["return_none"]) if each.name == "maker.inner"]
    _, override = [each for each in mutants_of(source, ["delete_statement"]) if each.name == "Basket.fill"]
    swap = Swap(live, source, inner)
    assert (module.made(3), module.maker(1, 2)(3)) == (None, None)
    swap.undo()
    swap = Swap(live, source, override)
    assert vars(module.Basket().fill()) == {"full": True}
    swap.undo()
    assert module.maker(1, 2)(3) == 4
    assert vars(module.Basket().fill()) == {"filled": 1, "full": True}


def test_a_generator_whose_yield_is_deleted_is_refused(program: tuple[Any, Source]) -> None:
    module, source = program
    live = LiveFunctions({real_path(str(source.path))})
    (mutant,) = [each for each in mutants_of(source, ["delete_statement"]) if each.name == "items"]
    with pytest.raises(NotSwappable):
        Swap(live, source, mutant)
    assert [*module.items()] == [None]


def test_a_file_that_has_changed_since_it_was_imported_is_refused(program: tuple[Any, Source]) -> None:
    _, source = program
    live = LiveFunctions({real_path(str(source.path))})
    other = Source(source.path, source.shown, source.text.replace(b"1 + 2", b"1 + 3"))
    with pytest.raises(NotSwappable, match="other code"):
        Swap(live, other, mutants_of(other, ["arithmetic"])[0])


SOURCE = Source(
    Path("a.py"),
    "a.py",
    b"def f(a):\n    b = (\n        a\n        + 1\n    )\n    for c in b: d = c + 2\n    global e\n",
)


def test_the_lines_of_its_statement_that_have_code() -> None:
    found = OwnLines({"a.py": SOURCE})
    assert [found.of(each) for each in mutants_of(SOURCE, ["arithmetic"])] == [{2, 3, 4}, {6}]


def test_all_of_its_function_where_none_has() -> None:
    (mutant,) = [each for each in mutants_of(SOURCE, ["chimp"]) if each.original == "global e"]
    assert OwnLines({"a.py": SOURCE}).of(mutant) == {1, 2, 3, 4, 6}
