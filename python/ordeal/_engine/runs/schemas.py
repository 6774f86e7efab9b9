"""The JSON Schemas of the settings file and of the files of a run, made from the types that write and read them."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import msgspec

from ordeal._engine.runs.events import AnyEvent, RunStatus
from ordeal._engine.runs.report import ReportDocument
from ordeal.config.schema import config_schema


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by their names in the reference."""
    kinds: dict[str, Any] = {"event": AnyEvent, "report": ReportDocument, "status": RunStatus}
    return {"config": config_schema(), **{name: _schema(kind) for name, kind in kinds.items()}}


def _schema(kind: Any) -> dict[str, Any]:
    schema = msgspec.json.schema(kind)
    for each in schema["$defs"].values():
        if "description" in each:
            each["description"] = cleandoc(each["description"])  # Python 3.12 leaves docstrings indented
    return schema
