"""Reports on a session's seed, always in a form that can be pasted back."""

from __future__ import annotations

from collections.abc import Sequence


def session_seed_line(seed: int, *, origin: str = "") -> str:
    """Return the line that a pytest run prints once. ``origin`` says where the seed comes from, empty if obvious."""
    place = f", from {origin}" if origin else ""
    return f"ordeal seed: {seed:#x}{place} (replay with --ordeal-seed={seed:#x})"


def session_seed_replay(node_id: str, seed: int, *, options: Sequence[str] = ()) -> str:
    """Return the line that says how to run a failed pytest test again, as it ran."""
    quoted = "'" + node_id.replace("'", "'\"'\"'") + "'"
    return " ".join(["replay: pytest", quoted, f"--ordeal-seed={seed:#x}", *options])
