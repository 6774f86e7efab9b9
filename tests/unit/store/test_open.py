"""Addresses of stores: what is wrong with one is said, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal.errors import OrdealError, StoreError
from ordeal.store import open_store
from ordeal.store.open import Address


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "unknown kind of address"),
        ("shared", "unknown kind of address"),
        ("s3://bucket/x", "s3://... has an unknown kind of address"),
        ("dir:shared", "unknown kind of address"),
        ("redis:/localhost/0", "unknown kind of address"),
        ("REDIS//x", "unknown kind of address"),
        ("dir://", "names no folder"),
        ("dir://a\0b", "NUL character in its path"),
        ("redis://", "names no server"),
        ("redis:///0", "names no server"),
        ("redis://localhost:0/0", "names no server"),
        ("redis://localhost:66666/0", "no valid host and port"),
        ("redis://localhost:port/0", "no valid host and port"),
        ("redis://[::1/0", "no valid host and port"),
        ("redis://localhost/first", "names a database that is not a number"),
        ("redis://localhost/-1", "names a database that is not a number"),
        ("redis://localhost/0/1", "names a database that is not a number"),
        ("redis://localhost/99999", "names a database that is not a number"),
        ("redis://localhost/0?x=1", "unknown parts after its database"),
        ("redis://localhost/0#x", "unknown parts after its database"),
    ],
)
def test_a_wrong_address_is_an_error(url: str, message: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(url, "x")
    assert message in caught.value.message
    assert caught.value.hint is not None
    assert "write" in caught.value.hint
    assert isinstance(caught.value, OrdealError)


@pytest.mark.parametrize(
    "url",
    [
        "redis://me:secret@localhost/first",
        "redas://me:secret@localhost/0",
        "redis://:secret@",
        "redis://:se/secret@localhost/0",
        "redis://:a@secret@localhost:x/0",
        "redis://localhost:secret/0",
        "redis://me:secret",
        "redis://:a#secret@localhost/0",
        "redis://:a?secret@localhost/0",
        "redis:/me:secret@localhost",
        "redis:me:secret@localhost",
        "me:secret@localhost",
        "secret://localhost@x y/secret",
        "redis://[secret@localhost/0",
    ],
)
def test_a_password_is_not_printed(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(url, "x")
    assert "secret" not in str(caught.value)


def test_who_logs_an_address_that_was_handed_on_shows_no_password() -> None:
    given = {"store": Address("redis://:secret@store:6379/0")}
    assert str(given) == "{'store': 'redis://store:6379/0'}"
    assert given["store"] == "redis://:secret@store:6379/0"


def test_an_address_cannot_write_to_the_terminal() -> None:
    with pytest.raises(StoreError) as caught:
        open_store("\x1b[31mred", "x")
    assert "\x1b" not in str(caught.value)


def test_any_text_is_a_namespace(tmp_path: Path) -> None:
    for number, text in enumerate(["", "../..", "\0", "\ud800", "x" * 100_000]):
        open_store(f"dir://{tmp_path}", text)
        assert len(list(tmp_path.iterdir())) == number + 1
