"""The seed of all Hypothesis tests, as its own option --hypothesis-seed sets it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def forced_seed(seed: int) -> Iterator[None]:
    """Have Hypothesis draw all examples from ``seed`` during the block, if it is loaded by then.

    A test with ``@seed`` or ``derandomize`` keeps its own seed, as it does with the option.
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
