"""Plans of arrays draw what Hypothesis draws, with the same choices."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

import ordeal._native as _native
from ordeal._hypothesis import compiled_checks
from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.strategy_compiler import compile_strategy
from ordeal._hypothesis.tape_data import TapeData

np = pytest.importorskip("numpy")
npst = pytest.importorskip("hypothesis.extra.numpy")

RECORD = np.dtype([("number", "i4"), ("flag", "?")])
STRATEGIES: dict[str, SearchStrategy[Any]] = {
    "sparse": npst.arrays(np.int64, 40),
    "two dimensions": npst.arrays(np.float32, (3, 4), elements=st.floats(0, 1, width=32)),
    "one place": npst.arrays(np.uint8, ()),
    "no places": npst.arrays(np.int8, (2, 0)),
    "dense": npst.arrays(np.int16, 5, fill=st.nothing()),
    "another fill": npst.arrays("U4", 6, elements=st.text("ab", max_size=4), fill=st.just("")),
    "unique": npst.arrays(np.int8, 4, unique=True),
    "objects": npst.arrays(object, 4, elements=st.tuples(st.integers(), st.booleans())),
    "records": npst.arrays(RECORD, 3),
    "dates": npst.arrays("M8[s]", 3),
    "some shape": npst.arrays(np.int32, npst.array_shapes(max_dims=2, max_side=4)),
    "some type": npst.arrays(npst.scalar_dtypes(), 3),
    "shapes": npst.array_shapes(),
    "scalars": npst.from_dtype(np.dtype("complex64")),
}
#: Parts of these depend on a choice, and are made in the draw.
MADE_IN_THE_DRAW = {"some shape", "some type"}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_plan_draws_what_hypothesis_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[str] = []
    monkeypatch.setattr(compiled_checks, "given_up", given_up)
    monkeypatch.setattr(compiled_checks, "PROBES", 30)
    compiled = compile_strategy(STRATEGIES[name])
    assert compiled is not None
    if name in MADE_IN_THE_DRAW:
        return
    data = TapeData(TapeProvider(_native.Redraw(0).source))
    with BuildContext(data, is_final=False, wrapped_test=lambda: None):
        assert compiled_checks.passes_probe(STRATEGIES[name], compiled[0]), given_up


def test_an_unsized_text_is_drawn_through_hypothesis() -> None:
    assert compile_strategy(npst.arrays("U", 3)) is None


def test_a_value_that_does_not_fit_is_an_error() -> None:
    compiled = compile_strategy(npst.arrays(np.int8, 3, elements=st.just(1000), fill=st.nothing()))
    assert compiled is not None
    run = _native.DrawContext()
    redraw = _native.Redraw(1)
    run.begin(redraw.source, compiled_checks._NoRun(redraw.source))
    with pytest.raises((InvalidArgument, OverflowError)):
        compiled[0].draw(run)
    run.end()
