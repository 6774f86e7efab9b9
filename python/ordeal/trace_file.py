"""The file behind a trace: its values, its JSON, and how it is read with nothing taken on trust."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import os
import platform
import struct
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis

from ordeal import _native
from ordeal.errors import TraceError
from ordeal.report import error_message

FORMAT = "ordeal-trace"
VERSION = 1
SIZE_MAX = 256 * 2**20
MESSAGE_CHARS_MAX = 500
#: Integers above this are written in hexadecimal: Python refuses to read or write long decimal ones.
DECIMAL_BITS_MAX = 1_024

ChoiceValue = bool | int | float | str | bytes


@dataclass(slots=True)
class TraceStep:
    """One step. ``kind`` is ``rule``, ``initialize``, ``fault_toggle`` or ``rule_swarm``.

    ``name`` is the rule's, or ``+fault`` and ``-fault`` for a toggle. ``params`` holds the arguments: the values
    themselves while the trace is in memory, their text once it was loaded from a file. ``choices`` holds what chance
    decided, by argument name: with it the strategies build the same values again, whatever their type. ``draws`` is the
    text of what the rule drew from ``data()``; ``result`` that of what it put into bundles, which files do not hold.
    """

    kind: str
    name: str
    params: dict[str, Any] = field(default_factory=dict)
    active_faults: list[str] = field(default_factory=list)
    choices: dict[str, list[ChoiceValue]] = field(default_factory=dict)
    text: dict[str, str] = field(default_factory=dict)
    draws: list[str] = field(default_factory=list)
    result: str = ""


@dataclass(slots=True)
class TraceFailure:
    """How the run failed. ``step`` is the number of the failing step from 1; 0 means before the first."""

    error_type: str
    error_message: str
    step: int
    bucket: str = ""

    @classmethod
    def of(cls, error: BaseException, step: int, bucket: str) -> TraceFailure:
        """The failure ``error``, whose message is cut to 500 characters."""
        return cls(type(error).__name__, error_message(error)[:MESSAGE_CHARS_MAX], step, bucket)


@dataclass(slots=True)
class Trace:
    """A run from a fresh machine: every choice of it, and what a person wants to read.

    ``seed`` is the integer that the exploration was started with. ``from_checkpoint`` is the number of the checkpoint
    that the run branched from, or None; the steps before it are part of the trace in any case.
    """

    run_id: int
    seed: int
    test_class: str
    from_checkpoint: int | None = None
    steps: list[TraceStep] = field(default_factory=list)
    failure: TraceFailure | None = None
    edges_discovered: int = 0
    duration: float = 0.0
    program: list[str] = field(default_factory=list)

    def taken_steps(self) -> list[TraceStep]:
        """The steps that the machine takes: all but the swarm's configuration, which is written among them."""
        return [step for step in self.steps if step.kind != "rule_swarm"]

    def content_hash(self) -> str:
        """Twelve hex digits over what happens: class, steps, choices and bucket; not run ids, seeds or times."""
        content = {
            "test_class": self.test_class,
            "steps": [_step_record(step) for step in self.taken_steps()],
            "bucket": self.failure.bucket if self.failure else None,
        }
        return hashlib.sha256(_canonical(content)).hexdigest()[:12]

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain JSON values."""
        failure = self.failure
        record: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "ordeal": _native.__version__,
            "hypothesis": hypothesis.__version__,
            "python": platform.python_version(),
            "run_id": self.run_id,
            "seed": self.seed,
            "test_class": self.test_class,
            "from_checkpoint": self.from_checkpoint,
            "steps": [_step_to_dict(step) for step in self.steps],
            "failure": None
            if failure is None
            else {
                "error_type": failure.error_type,
                "error_message": failure.error_message,
                "step": failure.step,
                "bucket": failure.bucket,
            },
            "edges_discovered": self.edges_discovered,
            "program": list(self.program),
        }
        record["checksum"] = _checksum(record)
        return record

    @classmethod
    def from_dict(cls, record: Any, *, where: str = "trace") -> Trace:
        """Build a trace from what ``to_dict`` gave; every field is checked.

        Raises:
            TraceError: a field is missing, has the wrong type, or the checksum does not fit.
        """
        reader = _Reader(record, where)
        _check_frame(reader, record, where)
        trace = cls(
            run_id=reader.integer("run_id"),
            seed=reader.integer("seed"),
            test_class=reader.text("test_class"),
            from_checkpoint=None if record.get("from_checkpoint") is None else reader.integer("from_checkpoint"),
            steps=[_step_from_dict(step, f"{where}: steps[{i}]") for i, step in enumerate(reader.items("steps"))],
            edges_discovered=reader.integer("edges_discovered"),
            program=reader.texts("program"),
        )
        if record.get("failure") is not None:
            inner = _Reader(record["failure"], f"{where}: failure")
            trace.failure = TraceFailure(
                inner.text("error_type"), inner.text("error_message"), inner.integer("step"), inner.text("bucket")
            )
        return trace

    def to_json(self) -> bytes:
        """The trace as the text of a file."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=True).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes, *, where: str = "trace") -> Trace:
        """The reverse of ``to_json``; ``where`` names the source in errors.

        Raises:
            TraceError: the text is not a valid trace; the message names the field.
        """
        try:
            record = json.loads(data)
            return cls.from_dict(record, where=where)
        except (ValueError, RecursionError) as error:
            raise TraceError(f"{where} is not JSON that can be read: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to ``path``: ``.json``, ``.json.gz`` or ``.json.zst`` by its suffix; atomically.

        Raises:
            TraceError: the file cannot be written.
        """
        target = Path(path)
        data = self.to_json()
        if target.suffix == ".gz":
            data = gzip.compress(data, mtime=0)
        elif target.suffix == ".zst":
            data = _native.compress(data)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, data)
        except OSError as error:
            raise TraceError(
                f"cannot write trace {target}: {error.strerror or error}",
                hint="give a folder that can be written to, as `traces_dir` in [report]",
            ) from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trace:
        """Read a trace.

        Raises:
            TraceError: the file cannot be read or is not a valid trace; the message names the file and the field.
        """
        target = Path(path)
        try:
            with target.open("rb") as file:
                data = file.read(SIZE_MAX + 1)
            if target.suffix == ".gz":
                with gzip.open(target, "rb") as packed:
                    data = packed.read(SIZE_MAX + 1)
            elif target.suffix == ".zst":
                data = _native.decompress(data, SIZE_MAX + 1)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise TraceError(f"cannot read trace {target}: {reason}") from error
        if len(data) > SIZE_MAX:
            raise TraceError(f"trace {target} is larger than {SIZE_MAX} bytes")
        return cls.from_json(data, where=str(target))


def _check_frame(reader: _Reader, record: dict[str, Any], where: str) -> None:
    """Check that this is a trace of ordeal, of a known version, and undamaged."""
    if "format" not in record and "steps" in record:
        raise TraceError(
            f"{where} has no field 'format': another program wrote it, or an old one",
            hint="such a trace has no record of what chance decided, so explore again",
        )
    if reader.text("format") != FORMAT:
        raise TraceError(f"{where} is not a trace of ordeal: its format is {record['format']!r:.100}")
    version = reader.integer("version")
    if version != VERSION:
        raise TraceError(
            f"{where} has version {version}; this ordeal reads version {VERSION}",
            hint="read it with the ordeal that wrote it: the file names its version",
        )
    if record.get("checksum") != _checksum(record):
        raise TraceError(f"{where} is damaged: its checksum does not fit its content")


def write_atomically(target: Path, data: bytes) -> None:
    """Write a file whole or not at all, also when the machine goes down meanwhile."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _checksum(record: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical({k: v for k, v in record.items() if k != "checksum"})).hexdigest()


def _step_record(step: TraceStep) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "name": step.name,
        "choices": {name: [encode_choice(c) for c in choices] for name, choices in step.choices.items()},
    }


def _step_to_dict(step: TraceStep) -> dict[str, Any]:
    params = step.text or {name: repr(value) for name, value in step.params.items()}
    return {
        **_step_record(step),
        "params": params,
        "active_faults": list(step.active_faults),
        "draws": list(step.draws),
    }


def _step_from_dict(record: Any, where: str) -> TraceStep:
    reader = _Reader(record, where)
    choices: dict[str, list[ChoiceValue]] = {}
    for name, encoded in reader.mapping("choices").items():
        if not isinstance(encoded, list):
            raise TraceError(f"{where}: choices of {name!r} are not a list")
        choices[name] = [decode_choice(item, f"{where}: choices of {name!r}") for item in encoded]
    params = reader.mapping("params")
    for name, text in params.items():
        if not isinstance(text, str):
            raise TraceError(f"{where}: parameter {name!r:.100} is not a text")
    return TraceStep(
        kind=reader.text("kind"),
        name=reader.text("name"),
        params=params,
        active_faults=reader.texts("active_faults"),
        choices=choices,
        text=dict(params),
        draws=reader.texts("draws"),
    )


def encode_choice(value: ChoiceValue) -> Any:
    """A choice as a JSON value that keeps its type and every bit."""
    if isinstance(value, bool | int):
        return value if value.bit_length() <= DECIMAL_BITS_MAX else {"integer": hex(value)}
    if isinstance(value, float):
        return {"float": value.hex() if math.isfinite(value) else struct.pack(">d", value).hex()}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if any("\ud800" <= c <= "\udfff" for c in value):
        return {"characters": [ord(c) for c in value]}
    return value


def decode_choice(value: Any, where: str) -> ChoiceValue:
    """The reverse of ``encode_choice``.

    Raises:
        TraceError: the value is not an encoded choice.
    """
    if isinstance(value, bool | int | str):
        return value
    try:
        if isinstance(value, dict) and len(value) == 1:
            (kind, content), *_ = value.items()
            if kind == "float":
                return _decode_float(content)
            if kind == "integer":
                return int(content, 16)
            if kind == "bytes":
                return base64.b64decode(content, validate=True)
            if kind == "characters":
                return "".join(map(chr, content))
    except (ValueError, TypeError, OverflowError, struct.error) as error:
        raise TraceError(f"{where}: {value!r:.100} is not a choice: {error}") from error
    raise TraceError(f"{where}: {value!r:.100} is not a choice")


def _decode_float(content: str) -> float:
    if "0x" in content:
        return float.fromhex(content)
    (value,) = struct.unpack(">d", bytes.fromhex(content))
    return float(value)


class _Reader:
    """Reads typed fields of a JSON object and names what is wrong with them."""

    def __init__(self, record: Any, where: str) -> None:
        if not isinstance(record, dict):
            raise TraceError(f"{where} is not a JSON object but {type(record).__name__}")
        self._record = record
        self._where = where

    def _get(self, name: str, kind: type | tuple[type, ...], expected: str) -> Any:
        if name not in self._record:
            raise TraceError(f"{self._where} has no field {name!r}")
        value = self._record[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise TraceError(f"{self._where}: field {name!r} is not {expected} but {type(value).__name__}")
        return value

    def text(self, name: str) -> str:
        return str(self._get(name, str, "a text"))

    def integer(self, name: str) -> int:
        return int(self._get(name, int, "an integer"))

    def items(self, name: str) -> list[Any]:
        return list(self._get(name, list, "a list"))

    def texts(self, name: str) -> list[str]:
        items = self.items(name)
        if not all(isinstance(item, str) for item in items):
            raise TraceError(f"{self._where}: field {name!r} is not a list of texts")
        return items

    def mapping(self, name: str) -> dict[str, Any]:
        return dict(self._get(name, dict, "an object"))
