"""Calls are found however they were imported, and names wherever they are constants."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._engine.properties.call_sites import scan


def sites(tmp_path: Path, source: str) -> list[tuple[int, str, str, str | None]]:
    """Line, call, type and name of the sites in a source."""
    (tmp_path / "a.py").write_text(dedent(source), encoding="utf-8")
    found = scan([tmp_path])
    assert not found.unreadable
    return [(site.line, site.call, site.type, site.name) for site in found.sites]


@pytest.mark.parametrize(
    "source",
    [
        "from ordeal import always\nalways(x, 'n')",
        "from ordeal import always as check\ncheck(x, 'n')",
        "from ordeal.assertions import always\nalways(x, 'n')",
        "from ordeal.assertions import *\nalways(x, 'n')",
        "from ordeal import *\nalways(x, 'n')",
        "import ordeal\nordeal.always(x, 'n')",
        "import ordeal as o\no.always(x, 'n')",
        "import ordeal.assertions\nordeal.assertions.always(x, 'n')",
        "import ordeal.assertions as a\na.always(x, 'n')",
        "from ordeal import assertions as a\na.always(x, 'n')",
        "import ordeal\nordeal.always(x, name='n')",
        "import ordeal; N = 'n'\nordeal.always(x, N)",
        "import ordeal; N: str = 'n'\nordeal.always(x, N)",
        "import ordeal\nordeal.always(x, '' 'n')",
    ],
)
def test_a_call_is_found_however_it_is_written(tmp_path: Path, source: str) -> None:
    assert sites(tmp_path, source) == [(2, "always", "always", "n")]


def test_every_kind_of_call(tmp_path: Path) -> None:
    assert sites(
        tmp_path,
        """\
        from ordeal.assertions import *
        from ordeal import buggify, buggify_value
        always_or_unreachable(x, "a")
        always_gt(x, y, "b")
        sometimes(x, "c")
        sometimes_all({}, "d")
        sometimes_le(x, y, "e", left=1)
        reachable("f")
        unreachable("g", mute=True)
        declare("h")
        declare("i", "reachable")
        declare("j", kind="always", operation="o", fault="f")
        buggify()
        buggify.buggify(0.3)
        buggify_value(1, 2)
        buggify.buggify_value(1, 2)
        buggify.activate()
        """,
    ) == [
        (3, "always_or_unreachable", "always_or_unreachable", "a"),
        (4, "always_gt", "always", "b"),
        (5, "sometimes", "sometimes", "c"),
        (6, "sometimes_all", "sometimes", "d"),
        (7, "sometimes_le", "sometimes", "e"),
        (8, "reachable", "reachable", "f"),
        (9, "unreachable", "unreachable", "g"),
        (10, "declare", "sometimes", "h"),
        (11, "declare", "reachable", "i"),
        (12, "declare", "always", "j"),
        (13, "buggify", "buggify", None),
        (14, "buggify", "buggify", None),
        (15, "buggify_value", "buggify", None),
        (16, "buggify_value", "buggify", None),
    ]


@pytest.mark.parametrize("name", ["str(1)", "f'{x}'", "NAME", "*names", "x + 'n'", "**kwargs"])
def test_a_name_that_may_vary_is_none(tmp_path: Path, name: str) -> None:
    source = f"import ordeal\nNAME = 'a'\nNAME = 'b'\nordeal.always(x, {name})"
    assert sites(tmp_path, source) == [(4, "always", "always", None)]


@pytest.mark.parametrize(
    "source",
    ["always(x, 'ordeal')", "import ordeal\nother.always(x, 'n')", "from .ordeal import always\nalways(x, 'n')"],
)
def test_what_is_not_of_ordeal_is_left_alone(tmp_path: Path, source: str) -> None:
    assert sites(tmp_path, source) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"import ordeal\n\0", "source code string cannot contain null bytes"),
        (b"import ordeal\nx = " + b"(" * 500 + b")" * 500, "too many nested parentheses"),
        (b"# coding: nonsense\nimport ordeal", "unknown encoding"),
    ],
)
def test_a_file_that_cannot_be_read_takes_no_other_with_it(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "a.py").write_bytes(data)
    (tmp_path / "b.py").write_text("import ordeal\nordeal.reachable('n')", encoding="utf-8")
    found = scan([tmp_path])
    ((path, why),) = found.unreadable
    assert path == str(tmp_path / "a.py")
    assert reason in why
    assert [site.name for site in found.sites] == ["n"]
    assert found.files == 2


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("import ordeal\nordeal.reachable('n')", encoding="utf-8")
    assert len(scan([tmp_path, tmp_path / "b.py"]).sites) == 1
