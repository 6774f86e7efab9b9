"""The softmax of the examples: invariants over arguments from the hints find the planted bug."""

import pytest

from .conftest import EXAMPLES, imported

PROJECT = EXAMPLES / "softmax"


def test_large_scores_are_found() -> None:
    with imported(PROJECT / "test_softmax.py", path=[PROJECT], modules={"softmax"}) as module:
        with pytest.raises((AssertionError, ExceptionGroup)) as caught:
            module.test_shares_are_shares()
        assert "violated: value[" in repr(caught.value)
        module.shares(module.softmax([1.0, 2.0]))
