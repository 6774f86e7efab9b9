"""Files that the program reads, and what it asks of folders. What it writes is written, and its name recorded."""

from __future__ import annotations

import builtins
import functools
import io
import os
import stat
from collections.abc import Callable
from typing import Any

from ordeal._base.limits import INPUT_BYTES_MAX
from ordeal._base.regular_file import read_whole
from ordeal.simulate.file_functions import GLOBBER, Entries, FolderEntry
from ordeal.simulate.nodes.node import is_real
from ordeal.simulate.recorded.record_file import Reply, to_bytes, to_text
from ordeal.simulate.recorded.recording import Recording, calling_package, current
from ordeal.simulate.replacement import MACHINERY, BoundPlaces

__tracebackhide__ = True
#: What these libraries read is theirs, such as the passwords of other hosts.
_OF_OTHERS = MACHINERY | {"aiohttp", "certifi", "httpcore", "httpx", "requests", "urllib3", "vcr"}
_REAL_OPEN: Any = io.open
_REAL: dict[str, Any] = {name: getattr(os, name) for name in ("stat", "listdir", "scandir")}


def _recording_for(path: Any) -> Recording | None:
    """Return the record to which a path belongs; None for a descriptor, for Python's files, for a pipe or a device."""
    recording = current("files")
    if recording is None or not isinstance(path, (str, os.PathLike)) or calling_package() in _OF_OTHERS:
        return None
    if is_real(os.path.abspath(path)):  # noqa: PTH100 - also for bytes
        return None
    try:
        mode = _REAL["stat"](path).st_mode if recording.is_new else stat.S_IFREG
    except (OSError, ValueError):
        return recording
    return recording if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else None


class _Content(io.BytesIO):
    """A recorded file that is open for reading."""

    name: Any = ""
    mode = "rb"


def _open(file: Any, mode: str = "r", buffering: int = -1, *args: Any, **kwargs: Any) -> Any:
    recording = _recording_for(file)
    if recording is None:
        return _REAL_OPEN(file, mode, buffering, *args, **kwargs)
    asked = recording.ask("files", {"call": "open", "name": os.fspath(file), "mode": mode})
    reads = set("rbt").issuperset(mode)
    if asked.is_served:
        content = to_bytes(asked.answer(os.fspath(file)).body)
    else:
        try:
            content = read_whole(file, INPUT_BYTES_MAX) if reads else b""
            if not reads:
                _REAL_OPEN(file, mode, buffering, *args, **kwargs).close()
        except BaseException as error:
            asked.fail(error)
            raise
        asked.reply(Reply(body=to_text(content)))
    if not reads:
        return _REAL_OPEN(file, mode.replace("x", "w"), buffering, *args, **kwargs)
    opened = _Content(content)
    opened.name = file
    if "b" in mode:
        return opened
    layers = dict(zip(("encoding", "errors", "newline"), args, strict=False)) | kwargs
    return io.TextIOWrapper(opened, layers.get("encoding"), layers.get("errors"), layers.get("newline"))


def _recorded(name: str, ask: Callable[[str], Reply], answer: Callable[[Reply, str], Any]) -> Callable[..., Any]:
    """Return what stands for a function of ``os``."""

    @functools.wraps(_REAL[name])
    def function(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
        recording = _recording_for(path)
        if recording is None:
            return _REAL[name](path, *args, **kwargs)
        text = os.fspath(path)
        asked = recording.ask("files", {"call": name, "name": text})
        if asked.is_served:
            return answer(asked.answer(text), text)
        try:
            return answer(asked.reply(ask(text)), text)
        except BaseException as error:
            asked.fail(error)
            raise

    return function


def _stat(path: str) -> Reply:
    status = _REAL["stat"](path)
    return Reply(numbers=[*map(int, status[:10]), status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns])


def _status(reply: Reply, _: str) -> os.stat_result:
    times = dict(zip(("st_atime_ns", "st_mtime_ns", "st_ctime_ns"), reply.numbers[10:], strict=True))
    return os.stat_result(tuple(reply.numbers[:10]), times)


def _listed(path: str) -> Reply:
    with _REAL["scandir"](path) as entries:
        return Reply(names=sorted(f"{each.name}/" if each.is_dir() else each.name for each in entries))


def _names(reply: Reply, _: str) -> list[str]:
    return [name.removesuffix("/") for name in reply.names]


def _entries(reply: Reply, path: str) -> Entries:
    modes = [stat.S_IFDIR | 0o755 if name.endswith("/") else stat.S_IFREG | 0o644 for name in reply.names]
    pairs = zip(_names(reply, path), modes, strict=True)
    return Entries(
        [FolderEntry(name, os.path.join(path, name), os.stat_result((mode, *[0] * 9))) for name, mode in pairs]  # noqa: PTH118
    )


_scandir = _recorded("scandir", _listed, _entries)
_CAPTURED = {(GLOBBER, "scandir"): staticmethod(_scandir)} if getattr(GLOBBER, "scandir", None) is os.scandir else {}
_PLACES = BoundPlaces(
    {
        (builtins, "open"): _open,
        (io, "open"): _open,
        (os, "stat"): _recorded("stat", _stat, _status),
        (os, "listdir"): _recorded("listdir", _listed, _names),
        (os, "scandir"): _scandir,
        **_CAPTURED,
    }
)
patches = _PLACES.in_place
