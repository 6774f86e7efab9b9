"""The catalog of assertion sites as text, as complaints, and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from ordeal._engine.properties.call_sites import Scan, Site
from ordeal._engine.properties.catalog import SiteCatalog, make_catalog
from ordeal._engine.properties.history import Reached
from ordeal._report.catalog import catalog_complaints, catalog_json, catalog_text

FILE = Path(".ordeal/reached.json")
SITES = [
    Site("a.py", 3, "sometimes", "sometimes", "sold\nout"),
    Site("a.py", 12, "always", "always", "never below zero"),
    Site("b.py", 1, "unreachable", "unreachable", "lost"),
    Site("b.py", 2, "buggify", "buggify", None),
    Site("b.py", 3, "reachable", "reachable", None),
]


def catalog(*sites: Site) -> SiteCatalog:
    reached = {"sold\nout": Reached("sold\nout", "sometimes", 2, 1, 1)}
    return make_catalog(Scan(2, list(sites), [("c.py", "bad\nindent")]), reached)


def test_the_listing_goes_file_by_file() -> None:
    assert catalog_text(catalog(*SITES), FILE, exists=True) == (
        "Assertion sites: 5 in 2 files\n"
        "\n"
        "  a.py\n"
        "    reached         3  sometimes: sold\\nout (2 hits)\n"
        "    NOT REACHED    12  always: never below zero\n"
        "\n"
        "  b.py\n"
        "    clear           1  unreachable: lost\n"
        "    -               2  buggify\n"
        "    -               3  reachable\n"
        "\n"
        "1 of 2 assertion sites reached\n"
        "1 marked as unreachable, and not reached\n"
        "1 of buggify, which have no name to be found by\n"
    )


def test_complaints_name_the_place_and_what_to_do() -> None:
    other = Site("b.py", 9, "always", "always", "sold\nout")
    assert catalog_complaints(catalog(*SITES, other)).split("\n") == [
        r"error: 'sold\nout' is sometimes at a.py:3 and always at b.py:9; give each property a name of its own",
        "warning: b.py:3: the name of this reachable is known at run time only; write it as a constant",
        r"warning: c.py was left out: bad\nindent",
    ]


def test_json_has_all_of_it() -> None:
    found = json.loads(catalog_json(catalog(*SITES, Site("b.py", 9, "always", "always", "sold\nout"))))
    assert (found["schema_version"], found["tool"], found["files"]) == (1, "catalog", 2)
    assert found["sites"][0] == {
        "path": "a.py",
        "line": 3,
        "call": "sometimes",
        "type": "sometimes",
        "name": "sold\nout",
        "status": "reached",
        "hits": 2,
    }
    assert found["summary"] == {"reached": 1, "not_reached": 2, "clear": 1, "dynamic": 1, "points": 1}
    ((clash),) = found["clashes"]
    assert [site["line"] for site in clash["sites"]] == [3, 9]
    assert found["unreadable"] == [{"path": "c.py", "reason": "bad\nindent"}]
