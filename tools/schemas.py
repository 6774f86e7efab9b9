"""The JSON Schemas of the files of a run, written from the types that read them.

usage: python tools/schemas.py writes them anew; with --check it says which are stale, and changes nothing
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ordeal._engine.runs.report import schemas

FOLDER = Path(__file__).parent.parent / "docs/reference/schemas"


def texts() -> dict[Path, str]:
    """Return the text of each schema by its path."""
    return {
        FOLDER / f"{name}.schema.json": json.dumps(schema, indent=1, sort_keys=True) + "\n"
        for name, schema in schemas().items()
    }


def main(arguments: list[str]) -> int:
    """Write the schemas, or name those that are stale, and end with 1 where there are any."""
    stale = [path for path, text in texts().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        if "--check" in arguments:
            print(f"{path.name} is stale: run python tools/schemas.py")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts()[path], "utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
