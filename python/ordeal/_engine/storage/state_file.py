"""The file behind ``--save-state``: what an exploration knows, as bytes that run no code when they are read.

A file has magic bytes, a version, the length and the SHA-256 of the rest, then one zstd frame. The frame holds a part
for each worker. A part is a JSON header and the bytes of the engine (tapes, corpus, swarm, coverage), and each of these
is checked field by field.
"""

from __future__ import annotations

import hashlib
import io
import platform
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path

import hypothesis
import msgspec

import ordeal._native as _native
from ordeal._base.limits import INPUT_BYTES_MAX
from ordeal._base.regular_file import read_regular
from ordeal._base.trace_file import write_atomically
from ordeal.config.options import SnapshotKind
from ordeal.errors import StateError

MAGIC = b"ordeal-state\n"
VERSION = 8
UNPACKED_SIZE_MAX = 1024 * 2**20
#: So that a small file cannot fill the memory: any file may unpack to this much, and larger ones to a multiple of their
#: size.
UNPACKED_SIZE_MIN = 16 * 2**20
UNPACKED_RATIO_MAX = 200
#: The first byte of a pickle, in which the public project of the same name keeps its state.
PICKLE = b"\x80"

_FRAME = struct.Struct("<IQ32s")
_SIZE = struct.Struct("<Q")
HEAD_SIZE = len(MAGIC) + _FRAME.size
#: More workers than any machine runs.
PARTS_MAX = 65_536
_AFRESH = "explore again without `--resume`"

#: The ``past`` of a header without one.
NO_PAST = msgspec.Raw(b"null")

_Side = tuple[int, bool]
_Site = tuple[int, int, bool, _Side, _Side]
_Code = tuple[int, bool, list[int], list[_Site]]
Option = str | int | float | bool | list[str] | None


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a tape comes from: its run, the checkpoint that it branched from (0: none), and its swarm configuration.

    ``swarm`` names the rules and the faults that were on, ``weights`` the weights of the rules, if they differed.
    """

    run_id: int
    checkpoint: int
    swarm: tuple[list[str], list[str]] | None
    edges: int
    weights: dict[str, int] = {}


class SavedFinding(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A finding without its tape."""

    bucket: str
    origin: Provenance
    error_type: str
    error_message: str
    traceback: str
    count: int
    flaky: bool
    outside: bool = False


class SavedFile(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A source file, relative to its target, and its executed lines."""

    target: str
    path: str
    lines: list[int]


class SavedMonitor(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What the monitor resumes with. See ``Monitor.save`` in ``_native.pyi``."""

    level: str
    files: list[SavedFile]
    touched: list[int]
    codes: list[_Code]
    events: int


class SavedAids(msgspec.Struct, forbid_unknown_fields=True):
    """What a search has bought: what each aid has cost, how many files were read for constants, and the functions.

    ``rewrites`` says whether the next piece for comparisons is a function rather than a replay, and ``numbers`` where
    the state has numbers: the first fresh run from ``numbers_from`` on says so, and one of twice that number again. The
    first runs find what is easy without them.
    """

    paid: dict[str, int] = {}
    files: int = 0
    functions: list[str] = []
    rewrites: bool = True
    numbers: list[str] = []
    numbers_from: int = 16


class Header(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What an exploration knows outside its session.

    ``seconds`` is how long it has explored. The engine keeps the tapes of ``findings`` and then those of
    ``productive``, in this order. ``rule_files`` holds for each rule the indices, in ``monitor``, of the files that it
    was seen to run. ``properties`` is the snapshot of a tracker; ``nearest`` names the checkpoint that came nearest to
    each property that compares numbers, or 0 if it is worth more than that. ``faults`` counts what each fault did,
    ``rules`` what each rule did.
    ``aids`` is what was bought.
    ``past`` is for supervisors: the counts of the processes that this one replaced, if any.
    """

    versions: dict[str, str]
    test_class: str
    options: dict[str, Option]
    tally: dict[str, int]
    notes: list[str]
    seconds: float
    snapshot_kind: SnapshotKind
    findings: list[SavedFinding]
    unfaithful: dict[str, int]
    productive: list[Provenance]
    monitor: SavedMonitor | None
    rule_files: dict[str, list[int]]
    properties: dict[str, list[dict[str, str | int | float | bool | None]]] = {}
    nearest: dict[str, int] = {}
    faults: dict[str, list[int]] = {}
    rules: dict[str, list[int]] = {}
    aids: SavedAids = msgspec.field(default_factory=SavedAids)
    past: msgspec.Raw = NO_PAST


def versions() -> dict[str, str]:
    """Return the versions that, besides the user's code, decide which choices give which run."""
    return {"Python": platform.python_version(), "Hypothesis": hypothesis.__version__, "ordeal": _native.__version__}


def check_writable(path: Path) -> None:
    """Check that a state can be saved to ``path``, before hours of work; makes its folder.

    Raises:
        StateError: it cannot be saved.
    """
    if path.is_dir():
        raise StateError(f"cannot save the state to {path}: it is a folder", hint="name a file in it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(prefix=f".{path.name}.", dir=path.parent):
            pass
    except OSError as error:
        raise _unwritable(path, error) from error


def join_part(header: Header, engine: bytes) -> bytes:
    """Encode what one worker knows."""
    encoded = msgspec.json.encode(header)
    return b"".join((_SIZE.pack(len(encoded)), encoded, engine))


def split_part(part: bytes) -> tuple[Header, bytes]:
    """Decode what ``join_part`` returned. The bytes of the engine are not checked yet.

    Raises:
        ValueError: these are no such bytes.
    """
    encoded, end = _cut(part, 0, "its header")
    return msgspec.json.decode(encoded, type=Header), part[end:]


def write_state(path: Path, parts: Sequence[bytes]) -> None:
    """Write a state completely or not at all; ``parts`` belong to the workers, in their order.

    Raises:
        StateError: the file cannot be written.
    """
    frame = _native.compress(b"".join(each for part in parts for each in (_SIZE.pack(len(part)), part)))
    data = b"".join((MAGIC, _FRAME.pack(VERSION, len(frame), hashlib.sha256(frame).digest()), frame))
    try:
        write_atomically(path, data)
    except OSError as error:
        raise _unwritable(path, error) from error


def read_state(path: Path) -> list[tuple[Header, bytes]]:
    """Read a state: for each worker its header, and the bytes of the engine, which are not checked yet.

    Raises:
        StateError: the file is missing, damaged, or of an unknown version.
    """
    try:
        frame = _read_frame(path, io.BytesIO(read_regular(path, HEAD_SIZE + INPUT_BYTES_MAX)))
    except FileNotFoundError as error:
        raise StateError(
            f"the state {path} does not exist", hint="write the path that `--save-state` was given, or drop `--resume`"
        ) from error
    except OSError as error:
        raise StateError(f"cannot read the state {path}: {error.strerror or error}", hint=_AFRESH) from error
    # No state is packed so well that this is too little.
    unpacked_max = min(UNPACKED_SIZE_MAX, max(UNPACKED_SIZE_MIN, UNPACKED_RATIO_MAX * len(frame)))
    try:
        parts: list[tuple[Header, bytes]] = []
        data, at = _native.decompress(frame, unpacked_max), 0
        while at < len(data):
            if len(parts) == PARTS_MAX:
                raise ValueError(f"it has more than {PARTS_MAX} parts")
            part, at = _cut(data, at, "its part")
            parts.append(split_part(part))
        if not parts:
            raise ValueError("it has no part")
        return parts
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error


def damaged(path: Path, why: object) -> StateError:
    """Return the error for a file that no exploration has written."""
    return StateError(f"the state {path} is damaged: {why}", hint=_AFRESH)


def _read_frame(path: Path, file: io.BytesIO) -> bytes:
    start = file.read(len(MAGIC))
    if start.startswith(PICKLE):
        raise StateError(
            f"{path} is a pickle, which ordeal never loads: loading one can run any code",
            hint=f"{_AFRESH}, and save the state with this ordeal",
        )
    if start != MAGIC:
        what = "is empty" if not start else "is not a state of ordeal"
        raise StateError(f"{path} {what}", hint="write the path that `--save-state` was given")
    fixed = file.read(_FRAME.size)
    if len(fixed) < _FRAME.size:
        raise damaged(path, "it ends in the middle of its first bytes")
    version, size, checksum = _FRAME.unpack(fixed)
    if version != VERSION:
        raise StateError(
            f"the state {path} has version {version}; this ordeal reads version {VERSION}",
            hint="resume it with the ordeal that saved it, or explore again without `--resume`",
        )
    left = file.getbuffer().nbytes - file.tell()
    if size != left or size > INPUT_BYTES_MAX:
        raise damaged(path, f"{size} bytes should follow its first ones, and {left} do (at most {INPUT_BYTES_MAX})")
    frame = file.read(size)
    if hashlib.sha256(frame).digest() != checksum:
        raise damaged(path, "its checksum does not fit")
    return frame


def _cut(data: bytes, at: int, what: str) -> tuple[bytes, int]:
    """Return the bytes at ``at``, which follow their size, and where they end."""
    if len(data) - at < _SIZE.size:
        raise ValueError(f"it ends before {what}")
    (size,) = _SIZE.unpack_from(data, at)
    begin = at + _SIZE.size
    if not size:
        raise ValueError(f"{what} is empty")
    if size > len(data) - begin:
        raise ValueError(f"{what} claims {size} bytes of {len(data) - at}")
    return data[begin : begin + size], begin + size


def _unwritable(path: Path, error: OSError) -> StateError:
    return StateError(
        f"cannot save the state to {path}: {error.strerror or error}",
        hint="name another path, or change the rights of this one",
    )
