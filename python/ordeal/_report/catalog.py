"""The catalog of assertion sites and which of them no run has reached, as text for people and JSON for programs."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted, indented, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from ordeal._engine.properties.call_sites import Site
    from ordeal._engine.properties.catalog import SiteCatalog, SiteEntry

# By the value of the status. What needs attention is in capitals.
_HINT = (
    "hint: `always(...)`, `sometimes(...)` and `reachable(...)` of ordeal.assertions tell the search what matters: "
    "see `python -m pydoc ordeal.assertions`"
)
_WORDS = {"reached": "reached", "not_reached": "NOT REACHED", "clear": "clear", "unknown": "-"}


def catalog_text(catalog: SiteCatalog, reached_file: Path, *, exists: bool) -> str:
    """Return the listing, file by file, and its totals; ``exists`` says whether there is a file with hits."""
    if not catalog.entries:
        return f"No assertion sites in {counted(catalog.files, 'file')}.\n\n{_HINT}\n"
    lines = [f"Assertion sites: {len(catalog.entries)} in {counted(catalog.files, 'file')}"]
    for path, entries in groupby(catalog.entries, key=lambda entry: entry.site.path):
        lines += ["", f"  {one_line(path)}", *indented((_line(entry) for entry in entries), 4)]
    counts = _counts(catalog)
    lines += ["", f"{counts['reached']} of {counts['reached'] + counts['not_reached']} assertion sites reached"]
    if counts["clear"]:
        lines.append(f"{counts['clear']} marked as unreachable, and not reached")
    if counts["points"]:
        lines.append(f"{counts['points']} of buggify, which have no name to be found by")
    if not exists:
        lines.append(
            f"No run has recorded what it reached: `ordeal explore` and `pytest --chaos` save it in {reached_file}."
        )
    return "\n".join([*lines, ""])


def _line(entry: SiteEntry) -> str:
    site = entry.site
    beginning = f"{_WORDS[entry.status.value]:<11}  {site.line:>4}  {site.call}"
    name = "" if site.name is None else f": {one_line(site.name)}"
    return f"{beginning}{name}" + (f" ({counted(entry.hits, 'hit')})" if entry.hits else "")


def _counts(catalog: SiteCatalog) -> dict[str, int]:
    statuses = [entry.status.value for entry in catalog.entries]
    return {
        "reached": statuses.count("reached"),
        "not_reached": statuses.count("not_reached"),
        "clear": statuses.count("clear"),
        "dynamic": len(catalog.dynamic),
        "points": statuses.count("unknown") - len(catalog.dynamic),
    }


def catalog_complaints(catalog: SiteCatalog) -> str:
    """Return a line for each name used with two types or computed at run time, and for each unreadable file."""
    lines = []
    for clash in catalog.clashes:
        first, other = clash.sites
        uses = f"is {first.type} at {_place(first)} and {other.type} at {_place(other)}"
        lines.append(f"error: {one_line(repr(clash.name))} {uses}; give each property its own name")
    lines += [
        f"warning: {_place(site)}: the name of this {site.call} is known at run time only; write it as a constant"
        for site in catalog.dynamic
    ]
    lines += [f"warning: {one_line(path)} was left out: {one_line(reason)}" for path, reason in catalog.unreadable]
    return "\n".join(lines)


def _place(site: Site) -> str:
    return f"{one_line(site.path)}:{site.line}"


def catalog_json(catalog: SiteCatalog) -> str:
    """Return the catalog as JSON, ending in a newline."""
    document = {
        "schema_version": JSON_SCHEMA_VERSION,
        "tool": "catalog",
        "files": catalog.files,
        "sites": [
            _site_record(entry.site) | {"status": entry.status.value, "hits": entry.hits} for entry in catalog.entries
        ],
        "summary": _counts(catalog),
        "clashes": [
            {"name": clash.name, "sites": [_site_record(site) for site in clash.sites]} for clash in catalog.clashes
        ],
        "unreadable": [{"path": PurePath(path).as_posix(), "reason": reason} for path, reason in catalog.unreadable],
    }
    return json.dumps(document, indent=2) + "\n"


def _site_record(site: Site) -> dict[str, Any]:
    path = PurePath(site.path).as_posix()
    return {"path": path, "line": site.line, "call": site.call, "type": site.type, "name": site.name}
