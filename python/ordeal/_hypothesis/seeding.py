"""The seed that all of Hypothesis' tests draw from, as its own option --hypothesis-seed sets it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def forced_seed(seed: int) -> Iterator[None]:
    """Have Hypothesis draw all its examples from ``seed`` inside the block, where it is loaded by then.

    A test with ``@seed``, and one that is derandomized, go by that, as they do with the option.
    """
    core: Any = sys.modules.get("hypothesis.core")
    if core is None:
        yield
        return
    before = core.global_force_seed
    core.global_force_seed = seed
    try:
        yield
    finally:
        core.global_force_seed = before
