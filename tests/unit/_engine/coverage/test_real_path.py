"""Where a file really is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._engine.coverage.real_path import real_path


def test_links_are_followed_as_far_as_they_lead(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "source")
    assert real_path(str(tmp_path / "link" / ".." / "link" / "gone.py")) == str(
        tmp_path.resolve() / "source" / "gone.py"
    )


def test_a_relative_path_stays_so_where_the_working_folder_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    assert real_path("shop.py") == str(tmp_path.resolve() / "gone" / "shop.py")
    (tmp_path / "gone").rmdir()
    assert real_path("shop.py") == "shop.py"
    assert real_path(str(tmp_path / "shop.py")) == str(tmp_path.resolve() / "shop.py")


def test_a_relative_path_counts_from_the_folder_that_is_given(tmp_path: Path) -> None:
    assert real_path("shop.py", str(tmp_path)) == str(tmp_path.resolve() / "shop.py")
    assert real_path("/shop.py", str(tmp_path)) == "/shop.py"
