"""Which files are seeds, and what finding them costs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordeal._engine.seed_corpus.paths import SeedError, seed_name, seed_paths


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    return path


def test_a_project_without_seeds_has_none(tmp_path: Path) -> None:
    assert seed_paths(tmp_path / ".ordeal/seeds") == []
    assert seed_paths(tmp_path) == []


def test_seeds_come_sorted_and_what_is_no_seed_is_left_out(tmp_path: Path) -> None:
    seeds = [
        put(tmp_path / name)
        for name in ("A/seed-1.json", "A/seed-2.json.gz", "A/seed-3.json.zst", "B/seed-0.json", "Ü/seed-0.json")
    ]
    for junk in ("README", "seed-9.json", "A/.seed-1.json.x", "A/seed-1.txt", "A/seed-.json", "A/deep/seed-1.json"):
        put(tmp_path / junk)
    assert seed_paths(tmp_path) == seeds
    assert [seed_name(path) for path in seeds[:3]] == ["seed-1", "seed-2", "seed-3"]


def test_odd_entries_with_the_name_of_a_seed_are_told_of_when_they_are_replayed(tmp_path: Path) -> None:
    folder = tmp_path / "A"
    (folder / "seed-folder.json").mkdir(parents=True)
    (folder / "seed-loop.json").symlink_to("seed-loop.json")
    os.mkfifo(folder / "seed-pipe.json")
    names = {path.name for path in seed_paths(tmp_path)}
    assert names == {"seed-folder.json", "seed-loop.json", "seed-pipe.json"}


def test_links_that_lead_nowhere_or_back_do_no_harm(tmp_path: Path) -> None:
    seed = put(tmp_path / "A/seed-1.json")
    (tmp_path / "Back").symlink_to(tmp_path)
    (tmp_path / "Gone").symlink_to("nowhere")
    (tmp_path / "Loop").symlink_to("Loop")
    assert seed_paths(tmp_path) == [seed, tmp_path / "Loop"]


def test_names_that_are_no_utf_8_are_names(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    put(Path(odd, "seed-1.json"))
    assert seed_paths(tmp_path) == [Path(odd, "seed-1.json")]


def test_a_class_whose_folder_cannot_be_listed_stands_for_its_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = put(tmp_path / "B/seed-1.json")
    put(tmp_path / "A/seed-1.json")
    listed = Path.iterdir

    def guarded(self: Path) -> Iterator[Path]:
        if self.name == "A":
            raise PermissionError(13, "Permission denied", str(self))
        return listed(self)

    monkeypatch.setattr(Path, "iterdir", guarded)
    assert seed_paths(tmp_path) == [tmp_path / "A", seed]


@pytest.mark.parametrize(
    ("name", "reason"), [("file", "Not a directory"), ("loop", "Too many levels of symbolic links"), ("a\0b", "null")]
)
def test_a_corpus_that_cannot_be_listed_is_an_error(tmp_path: Path, name: str, reason: str) -> None:
    put(tmp_path / "file")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SeedError, match=reason) as caught:
        seed_paths(tmp_path / name)
    assert str(tmp_path / name) in caught.value.message
    assert "`corpus_dir` in [report]" in str(caught.value.hint)


def test_looking_for_seeds_loads_neither_hypothesis_nor_the_engine() -> None:
    load = "import sys, ordeal._engine.seed_corpus.paths"
    source = load + "; print({'hypothesis', 'ordeal._native', 'click'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout == "set()\n"
