"""Messages between members of a store: values, of which an entry knows its name."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from ordeal.store import Entry, FailureReport
from ordeal.store.messages import Incoming, Outgoing


def test_an_entry_is_known_by_its_tape() -> None:
    assert Entry(b"x", (1,)).id == Entry(b"x").id != Entry(b"y").id


def test_a_name_is_the_same_on_every_machine_and_says_nothing_of_edges() -> None:
    assert Entry(b"tape").id == "228fda6bb499394060d117891bb63caa"
    assert len({Entry(bytes([number])).id for number in range(256)}) == 256


def test_messages_are_values() -> None:
    assert Entry(b"x", (1,)) == Entry(b"x", (1,)) != Entry(b"x", (2,))
    assert hash(FailureReport("b", b"{}", 3, 1)) == hash(FailureReport("b", b"{}", 3, 1))
    for message in (Outgoing(), Incoming()):
        assert not message.entries
        assert not message.edges
        assert not message.failures
        with pytest.raises(FrozenInstanceError):
            message.entries = ()  # type: ignore[misc]


def test_nothing_read_means_that_nothing_was_refused_and_nobody_is_there() -> None:
    nothing = Incoming()
    assert (nothing.refused, nothing.refusal, nothing.members, nothing.paused) == (0, "", 0, "")
