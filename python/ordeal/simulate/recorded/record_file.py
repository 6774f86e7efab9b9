"""The file of a record: a line of JSON for each answer, which is checked like all that comes from outside."""

from __future__ import annotations

import base64
import importlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, to_builtins

from ordeal._base.formatting import one_line
from ordeal._base.json_fields import Record, checked, read_json
from ordeal._base.limits import INPUT_BYTES_MAX, SOURCE_BYTES_MAX
from ordeal._base.regular_file import read_whole
from ordeal.errors import TraceError
from ordeal.simulate.errors import RecordError

FORMAT, VERSION = "ordeal-record", 1
HEAD = json.dumps({"format": FORMAT, "version": VERSION}) + "\n"
CASSETTES = (".yaml", ".yml")
_AGAIN = "delete the file to record it again"
_BASE64 = "base64:"
_NEEDS_EXTRA = 'pip install "ordeal[record]"'


class Reply(Record, forbid_unknown_fields=True, omit_defaults=True):
    """An answer: ``status`` is that of HTTP or an exit code, ``body`` also the content of a file or what was printed.

    ``names`` are those in a folder, and ``numbers`` the status of a file.
    """

    status: int = 0
    reason: str = ""
    headers: dict[str, list[str]] = {}  # noqa: RUF012 - msgspec copies it
    body: str = ""
    stderr: str = ""
    names: list[str] = []  # noqa: RUF012
    numbers: list[int] = []  # noqa: RUF012


class RecordedError(Record, forbid_unknown_fields=True, omit_defaults=True):
    """An error that was the answer: its class, its text, and the number and the file of an error of the system."""

    type: str
    message: str = ""
    number: int | None = None
    name: str = ""


class Entry(Record, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A request as texts by the names of its parts, the line that made it, and what answered after how many seconds."""

    kind: Literal["http", "process", "files"]
    request: dict[str, str]
    reply: Reply | None = None
    error: RecordedError | None = None
    seconds: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    site: str = ""

    @property
    def title(self) -> str:
        """The parts of the request by which a reader knows it, and where it was made."""
        names = ("method", "url", "arguments", "call", "name", "mode")
        title = one_line(" ".join(self.request[name] for name in names if name in self.request))
        return f"{title}, at {self.site}" if self.site else title

    @property
    def line(self) -> str:
        """The line of a file that holds it."""
        return json.dumps(to_builtins(self)) + "\n"


class _Head(Record):
    format: str
    version: int


def read_record(path: Path) -> list[Entry]:
    """Return the answers of a file, or of a cassette of vcrpy.

    Raises:
        RecordError: it cannot be read, is damaged, or is of another version.
    """
    is_cassette = path.suffix in CASSETTES
    try:
        # What YAML makes of a byte takes a hundred.
        data = read_whole(path, SOURCE_BYTES_MAX if is_cassette else INPUT_BYTES_MAX)
        if not is_cassette:
            # One document, so that its limits hold for the whole file, and errors name the line.
            where, document = str(path), b"[" + b",\n".join(data.removesuffix(b"\n").split(b"\n")) + b"]"
            head, *entries = read_json(document, where) or [None]
            frame = checked(head, _Head, f"{where}: line 1")
            if (frame.format, frame.version) != (FORMAT, VERSION):
                hint = f"{_AGAIN}, or read it with the ordeal that wrote it"
                what = f"{frame.format!r:.50} of version {frame.version}"
                raise TraceError(f"{where} is {what}; this ordeal reads {FORMAT!r} of version {VERSION}", hint=hint)
            return [checked(entry, Entry, f"{where}: line {number}") for number, entry in enumerate(entries, 2)]
        read: list[Entry] = with_vcr("cassette").read_cassette(data, str(path))
        return read
    except OSError as error:
        message = f"cannot read the record {path}: {error.strerror or error}"
        raise RecordError(message, hint="name a file that `record` has written, or a cassette of vcrpy") from None
    except TraceError as error:
        raise RecordError(f"the record {error.message}", hint=error.hint or _AGAIN) from None
    except RecursionError:
        raise RecordError(f"the record {path} nests lists or objects too deeply", hint=_AGAIN) from None


def with_vcr(module: str) -> Any:
    """Import a module of this room that needs vcrpy.

    Raises:
        RecordError: it is not installed.
    """
    try:
        return importlib.import_module(f"ordeal.simulate.recorded.{module}")
    except ModuleNotFoundError as error:
        if error.name not in ("vcr", "yaml"):
            raise
        raise RecordError("HTTP and cassettes need vcrpy, which is not installed", hint=_NEEDS_EXTRA) from None


# -- what HTTP consists of ------------------------------------------------------------------------------------------


def http_request(
    counting: Iterable[str], method: str, url: str, headers: Mapping[str, str], body: bytes
) -> dict[str, str]:
    """Return the parts of a request that are recorded and compared, with those of its headers that count."""
    text = to_text(body)
    parts = {f"header {name}": headers[name] for name in counting if name in headers}
    boundary = re.search(r"boundary=\"?([^\";]+)", headers.get("content-type", ""))
    if boundary is not None:  # it is drawn for each request
        text = text.replace(boundary[1], "BOUNDARY")
        parts = {name: value.replace(boundary[1], "BOUNDARY") for name, value in parts.items()}
    return {"method": method, "url": url, **parts, "body": text}


def http_reply(status: int, reason: str, headers: Mapping[str, list[str]], body: bytes) -> Reply:
    """Return the answer of a server, unpacked, as nothing can be masked in what is packed.

    Raises:
        RecordError: it is packed in a way that only other libraries know.
    """
    # Clients give them in any order.
    kept = {name: headers[name] for name in sorted(headers) if name.lower() != "transfer-encoding"}
    way = ", ".join(kept.pop(next((name for name in kept if name.lower() == "content-encoding"), ""), []))
    if way in ("gzip", "deflate"):
        with suppress(zlib.error):  # the client may have unpacked it before
            body = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress(body, INPUT_BYTES_MAX)
    elif way and to_text(body).startswith(_BASE64):
        raise RecordError(
            f"the server answers in the encoding {way!r:.50}, in which no secret can be masked",
            hint='send the header "Accept-Encoding: gzip"',
        )
    return Reply(status=status, reason=reason, headers=kept, body=to_text(body))


def to_text(data: bytes) -> str:
    """Return bytes as a text: as it reads, or in base64."""
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8")
        if not text.startswith(_BASE64):
            return text
    return _BASE64 + base64.b64encode(data).decode("ascii")


def to_bytes(text: str) -> bytes:
    """Return the bytes that ``to_text`` was given; raises RecordError if they are damaged."""
    try:
        return base64.b64decode(text.removeprefix(_BASE64)) if text.startswith(_BASE64) else text.encode()
    except ValueError as error:
        raise RecordError(f"the record has damaged base64: {error}", hint=_AGAIN) from None
