"""The names of shards are read as they were written, and as nothing else."""

from __future__ import annotations

from ordeal.store.backend import ShardName


def test_a_name_is_read_as_it_was_written() -> None:
    name = ShardName(7, "0123456789abcdef")
    assert ShardName.parse(str(name)) == name
    others = ["", "7-0123456789abcdef", "000007-0123456789ABCDEF", "000007-0123456789abcdef\n", "٠٠٠٠٠٧-" + "0" * 16]
    assert [ShardName.parse(text) for text in others] == [None] * 5
