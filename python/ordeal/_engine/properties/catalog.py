"""Compares the assertion sites of the source with what runs have reached: unreached sites and clashing names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path

import msgspec

from ordeal._base.property_tracker import PropertyResult, PropertyTally
from ordeal._engine.properties.call_sites import Scan, Site, scan
from ordeal._engine.properties.history import Reached


class SiteStatus(Enum):
    """The status of a site."""

    REACHED = "reached"
    NOT_REACHED = "not_reached"
    CLEAR = "clear"  # an `unreachable` that no run has reached
    UNKNOWN = "unknown"  # its name is not known, so runs cannot be searched for it


class SiteEntry(msgspec.Struct, frozen=True):
    """A site, its status, and how often all runs together have reached a property of that name."""

    site: Site
    status: SiteStatus
    hits: int = 0


class Clash(msgspec.Struct, frozen=True):
    """A name that is used with two types, and the first site of each."""

    name: str
    sites: tuple[Site, Site]


class SiteCatalog(msgspec.Struct, frozen=True):
    """The sites of some files, in order. ``unreadable`` are files with reasons."""

    files: int
    entries: list[SiteEntry]
    clashes: list[Clash]
    unreadable: list[tuple[str, str]]

    def count(self, status: SiteStatus) -> int:
        """Return how many sites have the status."""
        return sum(entry.status is status for entry in self.entries)

    @property
    def dynamic(self) -> list[Site]:
        """The assertions whose names are computed at run time."""
        return [each.site for each in self.entries if each.site.type != "buggify" and each.site.name is None]

    @property
    def complete(self) -> bool:
        """Whether runs have reached everything reachable, and no name is used with two types."""
        return not self.clashes and not self.count(SiteStatus.NOT_REACHED)


def never_reached(files: Iterable[str], results: Sequence[PropertyResult]) -> list[PropertyResult]:
    """Return a result for each ``reachable()`` of some files that ``results`` lack: what never runs tracks nothing."""
    known = {result.name for result in results}
    sites = scan(path for path in map(Path, files) if path.is_file()).sites
    names = {site.name: None for site in sites if site.type == "reachable" and site.name is not None}
    return [PropertyResult.of(PropertyTally(name, "reachable", declared=True)) for name in names if name not in known]


def make_catalog(found: Scan, reached: Mapping[str, Reached]) -> SiteCatalog:
    """Compare by name and type. Two sites that share both cannot be distinguished: one hit reaches both."""
    entries: list[SiteEntry] = []
    first: dict[str, Site] = {}
    clashes: dict[str, Clash] = {}
    for site in found.sites:
        known = None if site.name is None else reached.get(site.name)
        if site.name is None:
            entries.append(SiteEntry(site, SiteStatus.UNKNOWN))
        elif known is not None and known.type == site.type and known.hits:
            entries.append(SiteEntry(site, SiteStatus.REACHED, known.hits))
        else:
            status = SiteStatus.CLEAR if site.type == "unreachable" else SiteStatus.NOT_REACHED
            entries.append(SiteEntry(site, status))
        if site.name is not None and first.setdefault(site.name, site).type != site.type:
            clashes.setdefault(site.name, Clash(site.name, (first[site.name], site)))
    return SiteCatalog(found.files, entries, list(clashes.values()), found.unreadable)
