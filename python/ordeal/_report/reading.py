"""Reads the JSON report of an earlier exploration from a file, which may hold anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import JSON_SCHEMA_VERSION
from ordeal._base.regular_file import read_regular
from ordeal._engine.runs.report import ReportDocument
from ordeal.errors import ConfigError

_BYTES_MAX = 1 << 28


def read_document(path: Path) -> dict[str, Any]:
    """Return the document that a file holds.

    Raises:
        ConfigError: the file cannot be read, or is no JSON report of this version.
    """
    hint = "name a file that `ordeal explore --json` or `--report json` wrote"
    try:
        data = read_regular(path, _BYTES_MAX)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(f"cannot read the report `{path}`: {reason}", hint=hint) from None
    if len(data) > _BYTES_MAX:
        raise ConfigError(f"the report `{path}` is larger than {_BYTES_MAX} bytes", hint=hint)
    try:
        # The decoder of msgspec refuses half of a pair of surrogates, which messages may hold.
        document: dict[str, Any] = json.loads(data)
        checked = msgspec.convert(document, ReportDocument)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        reason = re.sub(r"\s+", " ", str(error))
        raise ConfigError(f"`{path}` is no JSON report of ordeal: {reason}", hint=hint) from None
    if checked.schema_version != JSON_SCHEMA_VERSION:
        raise ConfigError(f"`{path}` has schema version {checked.schema_version}", hint="explore again")
    return document
