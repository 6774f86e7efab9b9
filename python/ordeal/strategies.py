"""Strategies for values that programs often get wrong: damaged bytes, hostile texts, NaN, the ends of integers."""

from __future__ import annotations

import inspect
import math
import sys
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ordeal.errors import ConfigError

__all__ = ["adversarial_strings", "catalog", "corrupted_bytes", "edge_integers", "mixed_types", "nan_floats"]

#: As wide as the longest keys of RSA that programs use.
BITS_MAX = 4096

#: The beginnings of formats that a reader of bytes may recognise, and then find to be something else.
_WELL_FORMED = (
    b'{"id": 1, "name": "caf\xc3\xa9", "tags": ["a", "b"]}',
    b"<?xml version='1.0'?><a><b>1</b></a>",
    b"id,name\r\n1,Ann\r\n2,Bob\r\n",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    b"PK\x03\x04\x14\x00\x00\x00",
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    b"\xef\xbb\xbftext",
    "naïve 日本 \N{GRINNING FACE}".encode(),
    "text".encode("utf-16"),
)
#: Bytes that no decoder of UTF-8 accepts, or that end a text early.
_BROKEN = (b"\x00", b"\xff", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\x00" * 16)

_HOSTILE = (
    *("' OR '1'='1", "'; DROP TABLE users; --", '" OR ""="', "admin'--"),
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)"),
    *("../../../../etc/passwd", "..\\..\\boot.ini", "file:///etc/passwd", "CON", "a/b", "."),
    *("; ls", "| cat", "$(id)", "`id`", "&& true", "-rf", "--help"),
    *("%s%s%n", "{0.__class__}", "${7*7}", "{{7*7}}", "%00", "%2e%2e%2f"),
    *("\x00", "a\x00b", "\r\nSet-Cookie: a=b", "\n", "\t", " ", "\x7f", "\x1b[31m", "\\", '"', "'"),
    *("null", "None", "undefined", "true", "NaN", "Infinity", "-0", "1e999", "0x10", "1_000", "\u0663", "\uff11"),
    *("\ufeff", "\u200b", "\u202e abc", "e\u0301", "\u00e9", "ß", "\u0131", "İ", "ﬁ", "Å", "\u2028", "\uffff"),
    *("\N{GRINNING FACE}", "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}", "日本語", "עברית", "Z" + "\u0335" * 20),
)


def corrupted_bytes(min_size: int = 0, max_size: int = 1024) -> SearchStrategy[bytes]:
    """Draw ``min_size`` to ``max_size`` bytes, as a bad disk leaves them.

    They are well-formed data, cut, flipped and mixed with bad bytes.

    Raises ConfigError when the sizes are not whole numbers from 0, in this order.
    """
    _check_sizes("corrupted_bytes", min_size, max_size)
    damaged = st.builds(_damage, st.sampled_from(_WELL_FORMED), st.integers(0, 255), st.integers(0, 7), st.booleans())
    piece = st.one_of(st.binary(max_size=8), st.sampled_from(_BROKEN), damaged)
    pieces = st.lists(piece, max_size=4).map(b"".join)
    return st.builds(
        _fitted, pieces, st.binary(min_size=min_size, max_size=max_size), *map(st.just, (min_size, max_size))
    )


def adversarial_strings(min_size: int = 0, max_size: int = 256) -> SearchStrategy[str]:
    """Draw texts of ``min_size`` to ``max_size`` characters that break programs: injections, paths, control characters.

    Raises ConfigError when the sizes are not whole numbers from 0, in this order.
    """
    _check_sizes("adversarial_strings", min_size, max_size)
    plain = st.text(min_size=min_size, max_size=max_size)
    known = [text for text in _HOSTILE if min_size <= len(text) <= max_size]
    long = [character * max_size for character in ("A", "\N{GRINNING FACE}", "(") if max_size]
    hostile = st.lists(st.one_of(st.text(max_size=4), st.sampled_from(_HOSTILE)), min_size=1, max_size=3).map("".join)
    built = st.builds(_fitted, hostile, plain, st.just(min_size), st.just(max_size))
    choices = [plain, *([st.sampled_from(known)] if known else []), built, *([st.sampled_from(long)] if long else [])]
    return st.one_of(choices)


def nan_floats() -> SearchStrategy[float]:
    """Draw floats among which NaN, the infinities, negative zero and the smallest and largest numbers are frequent."""
    sizes = (math.inf, 0.0, sys.float_info.max, sys.float_info.min, 5e-324, sys.float_info.epsilon, 2.0**53, 2.0**63)
    return st.one_of(st.floats(), st.just(math.nan), st.sampled_from([s * size for size in sizes for s in (1.0, -1.0)]))


def edge_integers(bits: int = 64) -> SearchStrategy[int]:
    """Draw signed integers of ``bits`` bits, often at or next to 0, a power of two, or the end of a word.

    Raises ConfigError when ``bits`` is not a whole number from 1 to 4096.
    """
    if type(bits) is not int or not 1 <= bits <= BITS_MAX:
        raise ConfigError(f"edge_integers(bits={bits!r})", hint=f"write a whole number of bits from 1 to {BITS_MAX}")
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    near = {sign * 2**power + step for power in range(bits) for sign in (1, -1) for step in (-1, 0, 1)}
    edges = sorted((edge for edge in near | {0} if low <= edge <= high), key=lambda edge: (abs(edge), edge < 0))
    return st.one_of(st.integers(low, high), st.sampled_from(edges))


def mixed_types() -> SearchStrategy[Any]:
    """Draw values of all the types that JSON, settings and careless callers bring, alone and nested."""
    leaf = st.one_of(
        st.none(), st.booleans(), st.integers(), nan_floats(), st.text(max_size=20), st.binary(max_size=20)
    )
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(st.text(max_size=8), inner, max_size=4),
            st.lists(inner, max_size=4).map(tuple),
        ),
        max_leaves=8,
    )


def catalog() -> list[dict[str, str]]:
    """List every strategy of this module: ``name``, ``qualname``, ``signature``, and the first line of its ``doc``."""
    return [
        {
            "name": name,
            "qualname": f"{__name__}.{name}",
            "signature": str(inspect.signature(globals()[name])),
            "doc": (inspect.getdoc(globals()[name]) or "").partition("\n")[0],
        }
        for name in __all__
        if name != "catalog"
    ]


def _damage(data: bytes, at: int, bit: int, cut: bool) -> bytes:
    """Return ``data`` cut short, or with one bit flipped."""
    at %= len(data)
    return data[:at] if cut else data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def _fitted[Value: (bytes, str)](value: Value, filling: Value, min_size: int, max_size: int) -> Value:
    """Return ``value`` cut to the largest size, or filled up to the smallest; ``filling`` has at least that size."""
    return value[:max_size] if len(value) >= min_size else (value + filling)[:max_size]


def _check_sizes(name: str, min_size: Any, max_size: Any) -> None:
    call = f"{name}({min_size!r}, {max_size!r})"
    for size in (min_size, max_size):
        if type(size) is not int or size < 0:
            raise ConfigError(f"{call}: {size!r} is not a size", hint="write whole numbers from 0")
    if min_size > max_size:
        raise ConfigError(
            f"{call}: the smallest size is above the largest", hint=f"write {name}({max_size}, {min_size})"
        )
