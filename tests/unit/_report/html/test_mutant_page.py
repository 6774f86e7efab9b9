"""The page of a mutant beside the original."""

from __future__ import annotations

from pathlib import Path

from ordeal._report.html.mutant_page import mutant_page
from ordeal._tools.mutation.machines.views import Beside, Side, SideBySide
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source

SOURCE = Source(Path("a.py"), "a.py", b"def f(a):\n    return a + 1\n")
MUTANT = mutants_of(SOURCE, ["arithmetic"])[0]


def test_each_step_has_both_sides_and_text_is_no_markup() -> None:
    steps = [
        Beside("(the machine is made)", Side([], []), Side([], [])),
        Beside("put(name='<b>')", Side([("a", "1"), ("b", "2")], [("a", "1")]), Side([], [("a", "-1")])),
        Beside("put()", Side([("a", "3")], []), Side([], [], is_there=False)),
    ]
    page = mutant_page(SOURCE, MUTANT, SideBySide("m:M", 3, steps, "step 2: AssertionError by invariant:x", 1))
    assert "The mutant fails in step 2: AssertionError by invariant:x. The states part at step 1." in page
    assert "put(name=&#39;&lt;b&gt;&#39;)" in page
    assert "<b>" not in page.split("<table")[1]
    assert page.count('<span class="mark bad">differs</span>') == 2
    assert '<tr id="first"><td class="number">1</td>' in page
    assert "ended" in page
