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


def test_a_site_is_reached_by_hits_of_its_name_and_type() -> None:
    found = catalog(site("sold"), site("full"), sold=("sometimes", 3), full=("sometimes", 0))
    assert statuses(found) == [(SiteStatus.REACHED, 3), (SiteStatus.NOT_REACHED, 0)]
    assert not found.complete


def test_hits_of_another_type_reach_nothing() -> None:
    assert statuses(catalog(site("sold"), sold=("always", 3))) == [(SiteStatus.NOT_REACHED, 0)]


def test_what_must_not_be_reached_is_clear_until_it_is() -> None:
    assert statuses(catalog(site("never", "unreachable"))) == [(SiteStatus.CLEAR, 0)]
    assert catalog(site("never", "unreachable")).complete
    reached = catalog(site("never", "unreachable"), never=("unreachable", 1))
    assert statuses(reached) == [(SiteStatus.REACHED, 1)]


def test_without_a_name_nothing_is_known() -> None:
    dynamic, point = site(None), site(None, "buggify")
    found = catalog(dynamic, point)
    assert statuses(found) == [(SiteStatus.UNKNOWN, 0)] * 2
    assert found.dynamic == [dynamic], "a point of buggify has no name to lack"
    assert found.complete


def test_two_sites_of_one_name_are_reached_together() -> None:
    found = catalog(site("sold"), site("sold", line=9), sold=("sometimes", 2))
    assert found.count(SiteStatus.REACHED) == 2
    assert found.clashes == []


def test_a_name_of_two_types_clashes_once_with_the_first_site_of_each() -> None:
    sites = [site("sold"), site("sold", line=2), site("sold", "always", 3), site("sold", "reachable", 4)]
    found = catalog(*sites, sold=("sometimes", 2))
    assert [(clash.name, clash.sites) for clash in found.clashes] == [("sold", (sites[0], sites[2]))]
    assert not catalog(sites[0], sites[2], sold=("sometimes", 1)).complete


def test_what_could_not_be_read_is_handed_on() -> None:
    found = catalog()
    assert (found.files, found.entries, found.unreadable) == (1, [], [("broken.py", "no Python")])
    assert found.complete
