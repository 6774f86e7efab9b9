"""Damages trace files in the ways that disks, networks, editors and attackers do, the same way every time."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import random
import re
from collections.abc import Callable
from typing import Any

import ordeal._native as _native

NUMBERS = [0, -1, 1, 127, 2**31 - 1, 2**32, 2**63, -(2**63) - 1, 2**64, 10**30, 10**4000]
NUMBER_TEXTS = [*map(str, NUMBERS), "1e999", "-0", "1.5", "NaN", "-Infinity", "9" * 5_000]
HOSTILE: list[Any] = [
    None,
    True,
    1.5,
    float("nan"),
    *NUMBERS,
    "",
    "x",
    "\ud800",
    "\x00" * 50,
    "y" * 10_000,
    [],
    [[]],
    {},
    {"float": "0x1p0"},
    {"float": "7ff0000000000001"},
    {"integer": "-0x" + "f" * 3_000},
    {"bytes": "AP8="},
    {"characters": [0, 0xD800, 0x10FFFF]},
    {"characters": [0x110000]},
    {"": 1},
]

Mutation = Callable[[random.Random, bytes, bytes], bytes]


def _cut(rng: random.Random, data: bytes) -> tuple[int, int]:
    """A stretch of ``data``: seldom long."""
    begin = rng.randrange(len(data) + 1)
    return begin, min(len(data), begin + int(rng.expovariate(1 / 20)))


def flip_bits(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """One to eight bits are the other way round."""
    flipped = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def truncate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The end is missing."""
    return data[: rng.randrange(len(data))]


def remove(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A stretch is missing."""
    begin, end = _cut(rng, data)
    return data[:begin] + data[end:]


def duplicate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A stretch is there several times."""
    begin, end = _cut(rng, data)
    return data[:end] + data[begin:end] * rng.randint(1, 30) + data[end:]


def splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """It goes on as another file does."""
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def insert(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Bytes were put in."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.randint(1, 20)) + data[at:]


def edit_number(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A number in the text is another one."""
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return flip_bits(rng, data, other)
    found = rng.choice(numbers)
    return data[: found.start()] + rng.choice(NUMBER_TEXTS).encode() + data[found.end() :]


def edit_size(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The first or last bytes, where packed files keep their sizes and checksums, hold other numbers."""
    at = rng.choice([*range(min(16, len(data))), *range(max(0, len(data) - 8), len(data))])
    number = rng.choice([0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**62, 2**64 - 1])
    width = rng.choice([1, 2, 4, 8])
    mask: int = 2 ** (8 * width) - 1
    return data[:at] + (number & mask).to_bytes(width, "little") + data[at + width :]


MUTATIONS: list[Mutation] = [flip_bits, truncate, remove, duplicate, splice, insert, edit_number, edit_size]


def mutated(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """``data`` after one to three mutations; ``other`` is what it may be spliced with."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        data = rng.choice(MUTATIONS)(rng, data, other) if data else other[:1]
    return data


def mutated_record(rng: random.Random, record: dict[str, Any]) -> dict[str, Any]:
    """``record`` with one to four places of its tree changed."""
    record = copy.deepcopy(record)
    for _ in range(rng.choice([1, 1, 2, 4])):
        _mutate_place(rng, record)
    return record


def _mutate_place(rng: random.Random, record: dict[str, Any]) -> None:
    parent: Any = record
    while True:
        keys = list(parent) if isinstance(parent, dict) else range(len(parent))
        if not keys:
            return
        key = rng.choice(keys)
        below = parent[key]
        if not isinstance(below, dict | list) or not below or rng.random() < 0.2:
            break
        parent = below
    action = rng.randrange(4)
    if action == 0:
        del parent[key]
    elif action == 1 and isinstance(parent, list):
        parent[key:key] = [copy.deepcopy(below)] * rng.randint(1, 3)
    elif action == 1:
        parent[rng.choice(["", "kind", "by", "(body)", "unknown", str(key)])] = below
    elif action == 2 and isinstance(below, int | str):
        parent[key] = below + rng.choice([1, -1, 2**40]) if isinstance(below, int) else below[: len(below) // 2]
    else:
        parent[key] = copy.deepcopy(rng.choice(HOSTILE))


def sealed(record: dict[str, Any]) -> bytes:
    """``record`` as a file whose checksum fits."""
    record = {name: value for name, value in record.items() if name != "checksum"}
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return json.dumps({**record, "checksum": hashlib.sha256(text.encode()).hexdigest()}, indent=2).encode()


def resealed(data: bytes) -> bytes:
    """A file with its checksum computed anew, or as it is where it is not a JSON object any more."""
    try:
        record = json.loads(data)
        return sealed(record) if isinstance(record, dict) else data
    except (ValueError, RecursionError):
        return data


def packed(data: bytes, suffix: str) -> bytes:
    """What a file of that suffix holds."""
    if suffix.endswith(".gz"):
        return gzip.compress(data, 1, mtime=0)
    return _native.compress(data) if suffix.endswith(".zst") else data
