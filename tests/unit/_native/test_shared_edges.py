"""The edges that workers share lie in memory of theirs, as much as the targets need."""

from __future__ import annotations

from mmap import mmap
from pathlib import Path

import pytest

import ordeal._native as _native
from ordeal._engine.coverage.targets import Target
from ordeal._engine.parallel.worker_pool import edge_bytes


def fresh(length: int = _native.SharedEdges.DEFAULT_BYTES) -> _native.SharedEdges:
    return _native.SharedEdges(mmap(-1, length))


def test_what_one_map_saw_is_no_news_to_another() -> None:
    edges = fresh()
    maps = [_native.CoverageMap() for _ in range(2)]
    for each in maps:
        each.share(edges, listens=True)
    maps[0].share(edges, listens=True)
    maps[0].mark(maps[0].add_edge(7))
    maps[0].share(edges, listens=True)  # what it has seen is shared now
    maps[1].mark(maps[1].add_edge(7))
    assert maps[1].take_new_coverage() == (0, 0)
    assert edges.keys() == [7]
    edges.erase(7)
    assert edges.keys() == []


def test_it_keeps_its_memory() -> None:
    memory = mmap(-1, _native.SharedEdges.DEFAULT_BYTES)
    edges = _native.SharedEdges(memory)
    with pytest.raises(BufferError):
        memory.close()
    del edges
    memory.close()


@pytest.mark.parametrize("memory", [b"", bytearray(100), bytes(65536), 7, None])
def test_other_memory_is_refused(memory: object) -> None:
    with pytest.raises((ValueError, BufferError, TypeError)):
        _native.SharedEdges(memory)  # type: ignore[arg-type]


def test_there_is_a_byte_for_each_of_the_source(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    target = Target("package", str(package), is_package=True)
    assert edge_bytes([]) == edge_bytes([target]) == 65536
    (package / "one.py").write_text("x = 1\n" * 10_000)
    assert edge_bytes([target]) == 65536
    (package / "two.py").write_text("x = 1\n" * 10_000)
    assert edge_bytes([target]) == edge_bytes([target, target]) == 131072
