"""Keeps in a file which properties the runs of a project have reached, for ``ordeal catalog``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
import msgspec.structs

from ordeal._base.json_fields import Record, checked, read_json
from ordeal._base.limits import COUNT_MAX, INPUT_BYTES_MAX
from ordeal._base.property_tracker import PROPERTIES_MAX, PropertyResult, PropertyType
from ordeal._base.regular_file import read_regular
from ordeal._base.trace_file import locked, write_atomically
from ordeal.errors import PropertyError, TraceError

PROPERTIES_PATH = ".ordeal/properties.json"
SCHEMA_VERSION = 1

_AFRESH = "delete it; the next `ordeal explore` or `pytest --chaos` writes a new one"


class Reached(Record, forbid_unknown_fields=True):
    """How often all runs together have reached one property; ``passes`` and ``failures`` add up to ``hits``."""

    name: str
    type: PropertyType
    hits: int
    passes: int
    failures: int

    def __post_init__(self) -> None:
        """Refuse impossible counts."""
        super().__post_init__()
        if min(self.passes, self.failures) < 0 or self.hits != self.passes + self.failures:
            raise ValueError(f"{self.hits} hits are not {self.passes} passes and {self.failures} failures")


def load_reached(path: Path) -> dict[str, Reached]:
    """Return what runs have reached, by name; nothing before the first run.

    Raises:
        PropertyError: the file cannot be read, or is invalid.
    """
    try:
        data = read_regular(path, INPUT_BYTES_MAX)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise PropertyError(
            f"cannot read {path}: {error.strerror or error}", hint="check that it is a file that this user may read"
        ) from error
    if len(data) > INPUT_BYTES_MAX:
        raise PropertyError(f"{path} is larger than {INPUT_BYTES_MAX} bytes", hint=_AFRESH)
    try:
        document: Any = read_json(data, str(path))
        if isinstance(document, dict) and document.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
            version = f"{document['schema_version']!r:.100}"
            raise TraceError(f"{path} has version {version}; this ordeal reads version {SCHEMA_VERSION}")
        return {each.name: each for each in checked(document, _Document, str(path)).properties}
    except (TraceError, RecursionError) as error:
        raise PropertyError(error.message if isinstance(error, TraceError) else str(error), hint=_AFRESH) from error


def add_reached(path: Path, results: Sequence[PropertyResult]) -> bool:
    """Add the results of one session to the file, and return whether it tracked anything.

    A damaged file is replaced. Processes that write at the same time wait for each other if the system has file locks;
    a reader sees the file either before or after a write.

    Raises:
        PropertyError: the file cannot be written.
    """
    if not results:
        return False
    seen = [result for result in results if result.hits]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent):
            known: dict[str, Reached] = {}
            with suppress(PropertyError):
                known = load_reached(path)
            summed: list[Reached] = []
            for new in seen:
                # The newer type of a name wins, and so do newer names when there are too many.
                old, passes, failures = known.pop(new.name, None), new.passes, new.failures
                if old is not None and old.type == new.type:
                    passes = min(passes + old.passes, COUNT_MAX // 2)
                    failures = min(failures + old.failures, COUNT_MAX // 2)
                summed.append(Reached(new.name, new.type, passes + failures, passes, failures))
            kept = [*summed, *(known[name] for name in sorted(known))][:PROPERTIES_MAX]
            properties = [msgspec.structs.asdict(each) for each in sorted(kept, key=lambda each: each.name)]
            document = {"schema_version": SCHEMA_VERSION, "properties": properties}
            write_atomically(path, (json.dumps(document, indent=1) + "\n").encode())
    except OSError as error:
        raise PropertyError(
            f"cannot save what was seen of properties to {path}: {error.strerror or error}",
            hint="check that this user may write in the folder",
        ) from error
    return True


class _Document(Record, forbid_unknown_fields=True):
    schema_version: int
    properties: Annotated[list[Reached], msgspec.Meta(max_length=PROPERTIES_MAX)]
