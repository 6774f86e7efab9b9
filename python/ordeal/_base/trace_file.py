"""The file behind a trace: its values, its JSON, and a reader that trusts nothing."""

from __future__ import annotations

import base64
import errno
import gzip
import hashlib
import importlib
import io
import json
import math
import os
import platform
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec.structs
from msgspec import Meta

import ordeal._native as _native
from ordeal._base.formatting import counted, one_line
from ordeal._base.json_fields import Record, checked, read_json
from ordeal._base.limits import INPUT_BYTES_MAX, INTEGER_BITS_MAX, MESSAGE_CHARS_MAX
from ordeal._base.memory_limit import MEMORY_MIB_MAX
from ordeal._base.regular_file import read_regular
from ordeal._base.untrusted import error_message, type_name
from ordeal.errors import TraceError

FORMAT = "ordeal-trace"
VERSION = 1
#: Ten times the maximum of a run.
STEPS_MAX = 100_000
WRITERS = ("ordeal", "hypothesis", "python")
_DAMAGED = "name a trace or a seed as `ordeal explore` saved it"

ChoiceValue = bool | int | float | str | bytes


def versions_now() -> dict[str, str]:
    """Return the versions of the software that records a run, by the names in ``WRITERS``."""
    # Imported where it is used: a process that only handles other files starts in half the time without it.
    hypothesis = importlib.import_module("hypothesis")
    versions = (_native.__version__, hypothesis.__version__, platform.python_version())
    return dict(zip(WRITERS, versions, strict=True))


#: The name of the trace in an archive of ``ordeal pack``.
PACKED_NAME = "trace.json"
#: How the one line of a trace begins: its version, 1, and the two bytes of what zlib packs best.
LINE = "AXja"
#: The kind of the step that records the swarm configuration of a run.
SWARM = "rule_swarm"
#: The name of the choices of a schedule, in its one step: no argument of a rule can have it.
SCHEDULE = "(world)"


@dataclass(slots=True)
class TraceStep:
    """One step. ``kind`` is ``rule``, ``initialize``, ``fault_toggle`` or ``rule_swarm``; ``active_faults`` were on.

    ``name`` is the rule's, or ``+fault`` and ``-fault`` for a toggle. ``params`` holds the arguments: the values
    themselves while the trace is in memory, and their text once it was loaded from a file. ``choices`` holds what
    chance decided, by argument name: with it the strategies build the same values again, of any type. ``draws``
    is the text of what the rule drew from ``data()``; ``result`` that of what it put into bundles, and ``hits`` which
    of its calls the faults hit; files do not hold these two.
    """

    kind: str
    name: str
    params: dict[str, Any] = field(default_factory=dict)
    active_faults: list[str] = field(default_factory=list)
    choices: dict[str, list[ChoiceValue]] = field(default_factory=dict)
    text: dict[str, str] = field(default_factory=dict)
    draws: list[str] = field(default_factory=list)
    result: str = ""
    hits: list[str] = field(default_factory=list)


@dataclass(slots=True)
class TraceFailure:
    """How the run failed: ``error_type``, ``error_message`` and the ``bucket`` of the failure.

    ``step`` counts from 1; 0 means before the first step.
    """

    error_type: str
    error_message: str
    step: int
    bucket: str = ""

    @classmethod
    def of(cls, error: BaseException, step: int, bucket: str) -> TraceFailure:
        """Describe ``error`` at ``step``, with the ``bucket`` of the failure. Its message is cut to 500 characters."""
        return cls(type_name(type(error)), error_message(error)[:MESSAGE_CHARS_MAX], step, bucket)


@dataclass(slots=True)
class Trace:
    """A run from a fresh machine: all its choices, and what people want to read.

    ``run_id`` is the number of the run in its exploration, ``test_class`` the path of its class, ``failure`` how it
    failed, ``edges_discovered`` how many edges it was the first to reach, and ``program`` its text as Python.

    ``seed`` is the integer that the exploration was started with. ``from_checkpoint`` is the number of the checkpoint
    that the run branched from, or None; the trace includes the steps before it in any case. ``targets`` holds the
    SHA-256 of the source of each module that the exploration traced, ``versions`` those of the software that recorded
    the run. ``rule_timeout`` is the exploration's limit for rules in seconds, None for that of the class.
    ``max_memory`` is its limit for processes in MiB, 0 for none. ``machine`` is a digest of the source of the class,
    empty where that could not be read. ``records`` names the files with what the run got from outside, or added there;
    ``archive`` is the file of ``ordeal pack`` that the trace was loaded from and that holds them, empty for none. It is
    not saved.
    """

    run_id: int
    seed: int
    test_class: str
    from_checkpoint: int | None = None
    steps: list[TraceStep] = field(default_factory=list)
    failure: TraceFailure | None = None
    edges_discovered: int = 0
    program: list[str] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions_now)
    rule_timeout: float | None = None
    max_memory: int = 0
    machine: str = ""
    records: list[str] = field(default_factory=list)
    archive: str = field(default="", compare=False)

    def __repr__(self) -> str:
        ends = "" if self.failure is None else f", fails with {self.failure.error_type}"
        return f"<Trace {one_line(self.test_class)}: {counted(len(self.taken_steps()), 'step')}{one_line(ends)}>"

    @property
    def is_schedule(self) -> bool:
        """Whether the trace is that of a simulated test, and not of a machine."""
        return len(self.steps) == 1 and SCHEDULE in self.steps[0].choices

    def taken_steps(self) -> list[TraceStep]:
        """The steps that the machine takes: all but the swarm configuration, which is recorded among them."""
        return [step for step in self.steps if step.kind != SWARM]

    def content_hash(self) -> str:
        """Return twelve hex digits over what happens: class, steps, choices and bucket; not run ids, seeds or times."""
        content = {
            "test_class": self.test_class,
            "steps": [_step_content(step) for step in self.taken_steps()],
            "bucket": self.failure.bucket if self.failure else None,
        }
        return hashlib.sha256(_canonical(content)).hexdigest()[:12]

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as plain JSON values."""
        record: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            **{name: self.versions[name] for name in WRITERS},
            "run_id": self.run_id,
            "seed": self.seed,
            "test_class": self.test_class,
            "from_checkpoint": self.from_checkpoint,
            "steps": [
                {
                    **_step_content(step),
                    # Arguments are texts. A swarm configuration has none: it has lists of names and weights.
                    "params": dict(step.params)
                    if step.kind == SWARM
                    else step.text or {name: repr(value) for name, value in step.params.items()},
                    "active_faults": list(step.active_faults),
                    "draws": list(step.draws),
                }
                for step in self.steps
            ],
            "failure": None if self.failure is None else asdict(self.failure),
            "edges_discovered": self.edges_discovered,
            "rule_timeout": self.rule_timeout,
            "targets": dict(self.targets),
            "program": list(self.program),
        }
        if self.max_memory:
            record["max_memory"] = self.max_memory
        if self.machine:
            record["machine"] = self.machine
        if self.records:
            record["records"] = list(self.records)
        record["checksum"] = _checksum(record)
        return record

    @classmethod
    def from_dict(cls, record: Any, *, where: str = "trace") -> Trace:
        """Build a trace from ``record``, which ``to_dict`` returned; ``where`` names it in errors.

        Raises:
            TraceError: a field is missing, unknown, or has the wrong type, or the checksum does not fit.
        """
        head = checked(record, _Head, where)
        if head.format != FORMAT:
            raise TraceError(f"{where} is not a trace of ordeal: its format is {head.format!r:.100}")
        if head.version != VERSION:
            raise TraceError(
                f"{where} has version {head.version}; this ordeal reads version {VERSION}",
                hint="read it with the ordeal that wrote it: the file names its version",
            )
        if head.checksum != _checksum(record):
            raise TraceError(f"{where} is damaged: its checksum does not fit its content")
        content = checked(record, _OwnTrace, where)
        failure = content.failure
        return cls(
            run_id=content.run_id,
            seed=content.seed,
            test_class=content.test_class,
            from_checkpoint=content.from_checkpoint,
            steps=[_step(step, f"{where}: steps[{i}]") for i, step in enumerate(content.steps)],
            failure=None if failure is None else TraceFailure(**msgspec.structs.asdict(failure)),
            edges_discovered=content.edges_discovered,
            targets=content.targets,
            program=content.program,
            versions={name: getattr(content, name) for name in WRITERS},
            rule_timeout=content.rule_timeout,
            max_memory=content.max_memory,
            machine=content.machine,
            records=content.records,
        )

    def to_json(self) -> bytes:
        """Return the trace as the text of a file."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=True).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes, *, where: str = "trace") -> Trace:
        """Parse ``data``, which ``to_json`` returned; ``where`` names the source in errors.

        Raises:
            TraceError: the text is not a valid trace; the message names the field.
        """
        try:
            return cls.from_dict(read_json(data, where), where=where)
        except RecursionError as error:
            raise TraceError(f"{where} nests lists or objects too deeply") from error

    def to_line(self) -> str:
        """Return what a replay needs of the trace as one word of ASCII, to be sent in a message. ``load`` takes it.

        Left out are texts for people, and the digests by which a later replay notes changes of the machine or its
        targets.
        """
        taken = self.taken_steps()
        usual: list[tuple[str, Any]] = [("kind", "rule"), ("choices", {})]
        record = {
            "run_id": self.run_id,
            "seed": self.seed,
            "test_class": self.test_class,
            "steps": [dict(each for each in _step_content(step).items() if each not in usual) for step in taken],
            "failure": None if self.failure is None else asdict(self.failure),
            "rule_timeout": self.rule_timeout,
            "max_memory": self.max_memory,
        }
        packed = b"\x01" + zlib.compress(_canonical({k: v for k, v in record.items() if v}), 9)
        return base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")

    @classmethod
    def _of_line(cls, line: str) -> Trace:
        where = "the line of a trace"
        try:
            packed = base64.b64decode(line + "=" * (-len(line) % 4), altchars=b"-_", validate=True)
            record = read_json(_inflate(packed[1:], zlib.MAX_WBITS, "the text"), where)
        except (ValueError, zlib.error, RecursionError) as error:
            raise TraceError(
                f"{where} is damaged: {error}", hint="copy it whole: it is one word without spaces"
            ) from None
        content = checked(record, _LineTrace, where)
        return cls(
            run_id=content.run_id,
            seed=content.seed,
            test_class=content.test_class,
            steps=[_step(step, f"{where}: steps[{i}]") for i, step in enumerate(content.steps)],
            failure=None if content.failure is None else TraceFailure(**msgspec.structs.asdict(content.failure)),
            rule_timeout=content.rule_timeout,
            max_memory=content.max_memory,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to ``path`` atomically; the suffix selects ``.json``, ``.json.gz`` or ``.json.zst``.

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
        """Read the trace file at ``path``: JSON, packed or not. What ``to_line`` returned stands for a file as well.

        Raises:
            TraceError: the file cannot be read or is not a valid trace; the message names the file and the field.
        """
        target = Path(path)
        if target.name.startswith(LINE) and not os.path.isfile(target):  # noqa: PTH113 - for any length
            return cls._of_line(target.name)
        try:
            data = read_regular(target, INPUT_BYTES_MAX)
            # At most a little more than is accepted is unpacked.
            if target.suffix == ".gz":
                # Added to zlib's window size, this means a gzip file with header and checksum.
                data = _inflate(data, zlib.MAX_WBITS | 16, "the gzip file")
            elif target.suffix == ".zip":
                data = of_archive(data, PACKED_NAME)
            elif target.suffix == ".zst":
                data = _native.decompress(data, INPUT_BYTES_MAX + 1)
        except OSError as error:
            raise TraceError(
                f"cannot read trace {target}: {error.strerror or error}",
                hint="name a file of the traces that `ordeal explore` has saved",
            ) from error
        except (ValueError, LookupError, zlib.error) as error:
            raise TraceError(f"cannot read trace {target}: {error}", hint=_DAMAGED) from error
        try:
            trace = cls.from_json(data, where=str(target))
        except TraceError as error:
            error.hint = error.hint or _DAMAGED
            raise
        trace.archive = str(target) if target.suffix == ".zip" else ""
        return trace

    def to_request(self) -> dict[str, str]:
        """Return what another process of this machine reads with ``of_request``."""
        return {"trace": self.to_json().decode(), "archive": self.archive}

    @classmethod
    def of_request(cls, request: Mapping[str, str]) -> Trace:
        """Read the trace in a request of the process that started this one."""
        trace = cls.from_json(request["trace"].encode())
        trace.archive = request["archive"]
        return trace


def of_archive(packed: bytes, name: str) -> bytes:
    """Return a file in an archive of ``ordeal pack``, or a little more of it than is accepted. No file is written.

    Raises:
        LookupError: it is not there.
        ValueError: it cannot be read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open(name) as file:
            return file.read(INPUT_BYTES_MAX + 1)
    except KeyError:
        raise LookupError(f"the archive has no {name}") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise ValueError(f"the archive cannot be read: {error}") from None


def _inflate(packed: bytes, wbits: int, name: str) -> bytes:
    """Unpack what zlib has packed, at most a little more than is accepted. ``name`` says in errors what it is."""
    unpacker = zlib.decompressobj(wbits=wbits)
    data = unpacker.decompress(packed, INPUT_BYTES_MAX + 1)
    if not unpacker.eof and len(data) <= INPUT_BYTES_MAX:
        raise ValueError(f"{name} is cut off")
    if unpacker.unused_data:
        raise ValueError(f"{len(unpacker.unused_data)} bytes follow the end of {name}")
    return data


def write_atomically(target: Path, data: bytes) -> None:
    """Write a file completely or not at all, even if the machine goes down meanwhile.

    A device such as ``/dev/stdout``, and a pipe that somebody reads, are written to: a file must not take their place.

    Raises:
        OSError: it cannot be written, or is a folder.
    """
    through = _opened_device(target)
    if through is not None:
        with os.fdopen(through, "wb", buffering=0) as device:
            left = memoryview(data)
            while left:
                left = left[device.write(left) :]
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # The mode that programs usually request for a new file; that of a temporary file is stricter.
        mask = os.umask(0o077)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


if sys.platform == "win32":

    @contextmanager
    def locked(_folder: Path) -> Iterator[None]:
        """Lock nothing: of two processes that write at the same time, the later one wins."""
        yield

else:
    import fcntl

    @contextmanager
    def locked(folder: Path) -> Iterator[None]:
        """Hold the lock of a folder, which ends with the process at the latest."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _opened_device(target: Path) -> int | None:
    """Return a descriptor of what is written to as it is; None for a file, and for a pipe that nobody reads."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a disk", str(target))
    # Standard output may be a file, but its name in /dev is not.
    if stat.S_ISREG(mode) and target.absolute().parent != Path("/dev"):
        return None
    try:
        # Opening a pipe without reader would wait for one.
        descriptor = os.open(target, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise
    os.set_blocking(descriptor, True)
    return descriptor


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _checksum(record: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical({k: v for k, v in record.items() if k != "checksum"})).hexdigest()


def _step_content(step: TraceStep) -> dict[str, Any]:
    """Return what happens in a step, as far as its choices show it."""
    choices = {name: [encode_choice(choice) for choice in choices] for name, choices in step.choices.items()}
    return {"kind": step.kind, "name": step.name, "choices": choices}


class _Head(Record, kw_only=True):
    """The fields that say how to read the rest, and whether it is undamaged."""

    format: str
    version: int | None = None
    checksum: str = ""


class _OwnStep(Record, forbid_unknown_fields=True):
    kind: Literal["rule", "initialize", "fault_toggle", "rule_swarm"]
    name: str
    choices: dict[str, list[Any]]
    params: dict[str, str | list[str] | dict[str, int]]
    active_faults: list[str]
    draws: list[str]

    def __post_init__(self) -> None:
        for name, value in self.params.items():
            if self.kind != SWARM and not isinstance(value, str):
                raise ValueError(f"{name!r:.100} of `params` is not text")


class _OwnFailure(Record, forbid_unknown_fields=True):
    error_type: str
    error_message: str
    step: int
    bucket: str


_Seconds = Annotated[float, Meta(ge=-1e9, le=1e9)]  # some thirty years
_Mebibytes = Annotated[int, Meta(ge=0, le=MEMORY_MIB_MAX)]


class _OwnTrace(Record, kw_only=True, forbid_unknown_fields=True):
    run_id: int
    seed: int
    test_class: str
    format: str
    version: int
    checksum: str
    ordeal: str
    hypothesis: str
    python: str
    steps: Annotated[list[_OwnStep], Meta(max_length=STEPS_MAX)]
    edges_discovered: int
    targets: dict[str, str]
    program: list[str]
    failure: _OwnFailure | None = None
    from_checkpoint: int | None = None
    rule_timeout: _Seconds | None = None
    max_memory: _Mebibytes = 0
    machine: Annotated[str, Meta(max_length=64)] = ""
    records: list[str] = []  # noqa: RUF012 - msgspec copies it


class _LineStep(_OwnStep, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["rule", "initialize", "fault_toggle"] = "rule"
    choices: dict[str, list[Any]] = {}  # noqa: RUF012 - msgspec copies it
    params: dict[str, str | list[str] | dict[str, int]] = {}  # noqa: RUF012
    active_faults: list[str] = []  # noqa: RUF012
    draws: list[str] = []  # noqa: RUF012


class _LineTrace(Record, kw_only=True, forbid_unknown_fields=True):
    run_id: int = 0
    seed: int = 0
    test_class: str
    steps: Annotated[list[_LineStep], Meta(max_length=STEPS_MAX)] = []  # noqa: RUF012
    failure: _OwnFailure | None = None
    rule_timeout: _Seconds | None = None
    max_memory: _Mebibytes = 0


def _step(record: _OwnStep, where: str) -> TraceStep:
    choices = {
        name: [decode_choice(each, f"{where}: choices of {name!r:.100}") for each in encoded]
        for name, encoded in record.choices.items()
    }
    return TraceStep(
        kind=record.kind,
        name=record.name,
        params=dict(record.params),
        active_faults=record.active_faults,
        choices=choices,
        text={name: value for name, value in record.params.items() if isinstance(value, str)},
        draws=record.draws,
    )


def encode_choice(value: ChoiceValue) -> Any:
    """Encode a choice as a JSON value that keeps its type and every bit."""
    if isinstance(value, bool | int):
        return value if value.bit_length() <= INTEGER_BITS_MAX else {"integer": hex(value)}
    if isinstance(value, float):
        return {"float": value.hex() if math.isfinite(value) else struct.pack(">d", value).hex()}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if any("\ud800" <= c <= "\udfff" for c in value):
        return {"characters": [ord(c) for c in value]}
    return value


def decode_choice(value: Any, where: str) -> ChoiceValue:
    """Decode ``value``, which ``encode_choice`` returned; ``where`` names it in errors.

    Raises:
        TraceError: the value is not an encoded choice.
    """
    if isinstance(value, bool | int | str):
        return value
    try:
        if isinstance(value, dict) and len(value) == 1:
            (kind, content), *_ = value.items()
            if kind == "float" and "0x" in content:
                return float.fromhex(content)
            if kind == "float":
                return float(struct.unpack(">d", bytes.fromhex(content))[0])
            if kind == "integer":
                return int(content, 16)
            if kind == "bytes":
                return base64.b64decode(content, validate=True)
            if kind == "characters":
                return "".join(map(chr, content))
    except (ValueError, TypeError, OverflowError, struct.error) as error:
        raise TraceError(f"{where}: {value!r:.100} is not a choice: {error}") from error
    raise TraceError(f"{where}: {value!r:.100} is not a choice")


def step_text(step: TraceStep) -> str:
    """Return a step on one line, with its arguments, what it gave to bundles and what it drew."""
    if step.kind == "fault_toggle":
        verb = "activate" if step.name.startswith("+") else "deactivate"
        return one_line(f"{verb} fault: {step.name[1:]}")
    arguments = ", ".join(f"{name}={value}" for name, value in step.text.items())
    remarks = [f"draws: {', '.join(step.draws)}"] if step.draws else []
    remark = f"  # {'; '.join([*remarks, *step.hits])}" if remarks or step.hits else ""
    result = f" -> {step.result}" if step.result else ""
    return one_line(f"{step.name}({arguments}){result}{remark}", limit=4 * MESSAGE_CHARS_MAX)
