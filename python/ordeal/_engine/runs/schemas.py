"""The JSON Schemas of the files of a run, made from the types that write and read them."""

from __future__ import annotations

from typing import Any

import msgspec

from ordeal._engine.runs.events import AnyEvent, RunStatus
from ordeal._engine.runs.report import ReportDocument


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by their names in the reference."""
    kinds: dict[str, Any] = {"event": AnyEvent, "report": ReportDocument, "status": RunStatus}
    return {name: msgspec.json.schema(kind) for name, kind in kinds.items()}
