"""``--report json``: the JSON report, as ``ordeal explore --json`` prints it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordeal._report.formats.document import save


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``ordeal.json``."""
    return save(folder, "ordeal.json", json.dumps(document, indent=2) + "\n")
