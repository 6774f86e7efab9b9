"""The catalog compares sites by name and type with what was reached, and names what clashes."""

from __future__ import annotations

from ordeal._base.property_tracker import PropertyType
from ordeal._engine.properties.call_sites import Scan, Site, SiteType
from ordeal._engine.properties.catalog import SiteCatalog, SiteStatus, make_catalog
from ordeal._engine.properties.history import Reached


def site(name: str | None, kind: SiteType = "sometimes", line: int = 1) -> Site:
    return Site("shop.py", line, kind, kind, name)


def catalog(*sites: Site, **reached: tuple[PropertyType, int]) -> SiteCatalog:
    """``reached`` has for each name the type and the hits that runs have counted."""
    known = {name: Reached(name, kind, hits, hits, 0) for name, (kind, hits) in reached.items()}
    return make_catalog(Scan(1, list(sites), [("broken.py", "no Python")]), known)


def statuses(found: SiteCatalog) -> list[tuple[SiteStatus, int]]:
    return [(entry.status, entry.hits) for entry in found.entries]


def test_hits_of_another_type_reach_nothing() -> None:
    assert statuses(catalog(site("sold"), sold=("always", 3))) == [(SiteStatus.NOT_REACHED, 0)]


def test_what_must_not_be_reached_is_clear_until_it_is() -> None:
    assert statuses(catalog(site("never", "unreachable"))) == [(SiteStatus.CLEAR, 0)]
    assert catalog(site("never", "unreachable")).complete
    reached = catalog(site("never", "unreachable"), never=("unreachable", 1))
    assert statuses(reached) == [(SiteStatus.REACHED, 1)]
