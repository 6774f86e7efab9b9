"""Registers the backend with Hypothesis, which calls this when it is imported.

Imports nothing of the engine: every project with ordeal in its environment pays for these imports.
"""

from __future__ import annotations

NAME = "ordeal"


def register_backend() -> None:
    """Let ``settings(backend="ordeal")`` find the backend, which is imported when a test first asks for it."""
    try:
        from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS  # noqa: PLC0415 - may be gone
    except ImportError:
        return  # there are no other backends then
    AVAILABLE_PROVIDERS.setdefault(NAME, "ordeal._hypothesis.provider.TapeBackend")
