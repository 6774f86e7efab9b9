"""Wrong use of a simulation is an error of ordeal with a hint, and of an argument as Python knows it."""

from __future__ import annotations

import pytest

from ordeal.errors import OrdealError
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.file_system import FileSystem


@pytest.mark.parametrize("kind", [OrdealError, ValueError])
def test_it_is_caught_as_either(kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        FileSystem().inject_fault("/a", "melted")  # type: ignore[arg-type]
    assert isinstance(caught.value, SimulationError)
    assert caught.value.hint
