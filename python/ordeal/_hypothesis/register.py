"""Makes the backend known to Hypothesis, which calls this when it is imported itself.

It imports nothing of the engine: every project whose environment has ordeal pays for it.
"""

from __future__ import annotations

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS

NAME = "ordeal"


def register_backend() -> None:
    """Let ``settings(backend="ordeal")`` find the backend; it is imported when a test first asks for it."""
    AVAILABLE_PROVIDERS.setdefault(NAME, "ordeal._hypothesis.backend.TapeBackend")
