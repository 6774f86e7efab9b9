"""Where a coroutine waits: the innermost place in the program, named so that other edits do not rename it."""

from __future__ import annotations

import asyncio
import gc
import sys
import sysconfig
import tokenize
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import CO_OPTIMIZED
from itertools import islice
from pathlib import Path
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType, TracebackType
from typing import Any

from ordeal._base import untrusted
from ordeal._base.interrupts import OWN_FOLDER
from ordeal._base.limits import LINE_CHARS_MAX, VALUE_CHARS_MAX

_STANDARD = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))
_INSTALLED = tuple(f"{sysconfig.get_path(name)}/" for name in ("purelib", "platlib"))
#: Where coroutines, generators and asynchronous generators keep their frames.
FRAMES: dict[type, str] = {CoroutineType: "cr_frame", GeneratorType: "gi_frame", AsyncGeneratorType: "ag_frame"}
_RUNTIME = f"{Path(__file__).parent}/"
#: What makes tasks for its caller, besides asyncio.
_SPAWNER = "/anyio/_backends/_asyncio.py"
_INSTALL_FOLDERS = frozenset(("site-packages", "dist-packages"))
_ASYNCIO = f"{Path(asyncio.__file__).parent}/"


@dataclass(frozen=True, slots=True)
class CodeSite:
    """A place in the source."""

    name: str
    """The function and the text of the line, without number and comment: edits elsewhere do not change it."""
    where: str
    """The file and the line, for people."""


#: What is known of each code object, by its id: the hash of one takes as long as its bytes. Holds it, so that no other
#: object gets its id.
_is_program: dict[int, tuple[bool, CodeType]] = {}
_is_installed: dict[int, tuple[bool, CodeType]] = {}
_sites: dict[tuple[int, int], tuple[CodeSite, CodeType]] = {}


def is_program(code: CodeType) -> bool:
    """Return True if code is neither Python's nor ordeal's own."""
    known = _is_program.get(id(code))
    if known is None:
        path = code.co_filename
        own = path.startswith(("<frozen", OWN_FOLDER)) or (
            path.startswith(_STANDARD) and not path.startswith(_INSTALLED)
        )
        known = _is_program[id(code)] = not own, code
    return known[0]


def is_of_project(path: Any) -> bool:
    """Return True if a file is neither Python's, nor ordeal's, nor that of an installed library."""
    return isinstance(path, str) and not path.startswith(("<frozen", OWN_FOLDER, *_STANDARD, *_INSTALLED))


def is_own(code: CodeType) -> bool:
    """Return True if code belongs to ordeal."""
    return code.co_filename.startswith(OWN_FOLDER)


@cache
def _has_metadata(folder: Path) -> bool:
    return any(folder.glob("*.dist-info"))


def is_installed(code: CodeType) -> bool:
    """Return True if code belongs to a library: it lies where packages are installed, and not where one is written."""
    known = _is_installed.get(id(code))
    if known is None:
        path = Path(code.co_filename)
        installed = not _INSTALL_FOLDERS.isdisjoint(path.parts)
        if not installed and path.is_absolute() and is_program(code):
            # pip install --target makes any folder one of these.
            folder = path.parent
            while (folder / "__init__.py").is_file():
                folder = folder.parent
            installed = _has_metadata(folder)
        known = _is_installed[id(code)] = installed, code
    return known[0]


def is_made_by_library(coroutine: Any) -> bool:
    """Return True if the task that is being made for a coroutine is a library's own: both are a library's."""
    code = getattr(coroutine, "cr_code", None)
    if code is None or not is_installed(code):
        return False
    maker = next(_makers(), None)
    return maker is not None and is_installed(maker)


def is_made_by_target(coroutine: Any, test: CodeType | None) -> bool:
    """Return True if a task is one that the target of a test makes for itself when the test calls it.

    Both are of one module that is not the test's, or of one class that is not the test's.
    """
    code, maker = getattr(coroutine, "cr_code", None), next(_makers(), None)
    if code is None or maker is None or test is None or code.co_filename != maker.co_filename:
        return False
    if maker.co_filename != test.co_filename:
        return True
    owner = maker.co_qualname.rpartition(".")[0]
    is_method = bool(owner) and not owner.endswith("<locals>") and code.co_qualname.startswith(f"{owner}.")
    return is_method and not test.co_qualname.startswith(f"{owner}.")


def running_test() -> CodeType | None:
    """Return the code of the test that calls this: the outermost of the program in the task that runs."""
    return next(reversed(list(_makers())), None)


def _makers() -> Iterator[CodeType]:
    """Yield the code of the program that makes a task, from the innermost call to that of the running task itself.

    What makes tasks for its caller, as ``asyncio`` and a task group of anyio do, counts as the caller.
    """
    is_inside = False
    for code in (frame.f_code for frame in callers()):
        if is_program(code):
            if not code.co_filename.endswith(_SPAWNER):
                is_inside = True
                yield code
        elif is_own(code) and (is_inside or not code.co_filename.startswith(_RUNTIME)):
            return


def refers_to(value: object, target: object) -> bool:
    """Return True if a variable with this value leads to an object: it is that, or a collection that holds it."""
    if type(value) is dict:
        return any(each is target for each in value.values())
    return value is target or (type(value) in (list, tuple, set) and any(each is target for each in value))  # type: ignore[attr-defined]


def is_asyncio(code: CodeType) -> bool:
    """Return True if code belongs to asyncio."""
    return code.co_filename.startswith(_ASYNCIO)


async def _generator() -> AsyncGenerator[None]:
    yield


async def _coroutine() -> None: ...


def _step_types() -> frozenset[type]:
    """Return the types of what a coroutine awaits of an asynchronous generator, and of ``__await__``.

    Only the garbage collector can read what they go on with: it is their first referent.
    """
    coroutine = _coroutine()
    steps = (_generator().asend(None), _generator().athrow(GeneratorExit), coroutine.__await__())
    with_default = anext(_generator(), None)
    coroutine.close()
    for step in (*steps[:2], with_default):
        step.close()
    return frozenset(map(type, (*steps, with_default)))


_STEP_TYPES = _step_types()


def frame_of(holder: object) -> FrameType | None:
    """Return the frame that an object is, or that it runs in; None where it has ended, or is something else.

    Only the types of the language are asked: anything else is the program's, and may answer what it likes.
    """
    if type(holder) is FrameType:
        return holder
    name = FRAMES.get(type(holder))
    return None if name is None else getattr(holder, name)


def locals_of(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a frame by their names, in a table that the frame knows nothing of.

    Python 3.12 keeps the table that ``f_locals`` is: what is in it would live as long as the frame, though the program
    drops it, and the table would count as a reference to it. So that one is emptied again.
    """
    kept = frame.f_locals
    found = dict(kept)
    # The references to the table of a frame that the program has never asked for: the frame, its reader, and the call.
    if type(kept) is dict and frame.f_code.co_flags & CO_OPTIMIZED and sys.getrefcount(kept) == 3:
        kept.clear()
    return found


def frames_of(waiting: Any) -> Iterator[FrameType]:
    """Yield the frames of a suspended coroutine from the outermost, through all that it awaits."""
    while True:
        frame = getattr(waiting, "cr_frame", None)
        if frame is not None:
            yield frame
            waiting = waiting.cr_await
        elif (frame := getattr(waiting, "gi_frame", None)) is not None:
            yield frame
            waiting = waiting.gi_yieldfrom
        elif (frame := getattr(waiting, "ag_frame", None)) is not None:
            yield frame
            waiting = waiting.ag_await
        elif type(waiting) in _STEP_TYPES:
            waiting = gc.get_referents(waiting)[0]
        else:
            return


def traceback_to(coroutine: Any) -> TracebackType | None:
    """Return a traceback that ends where a coroutine is suspended; None where nothing of it is in the program."""
    traceback: TracebackType | None = None
    for frame in reversed([frame for frame in frames_of(coroutine) if is_program(frame.f_code)]):
        line: int | None = frame.f_lineno  # typed as a number, but None where code has no line
        traceback = TracebackType(
            traceback, frame, frame.f_lasti, frame.f_code.co_firstlineno if line is None else line
        )
    return traceback


def site_of(coroutine: Any) -> CodeSite:
    """Return the innermost place in the program where a coroutine is suspended."""
    found: FrameType | None = None
    for frame in frames_of(coroutine):
        if found is None or is_program(frame.f_code):
            found = frame
    return UNKNOWN if found is None else site_in(found.f_code, found.f_lasti)


def stack_of(coroutine: Any) -> str:
    """Return the innermost and the outermost place in the program where a coroutine is suspended, for people."""
    frames = [frame for frame in frames_of(coroutine) if is_program(frame.f_code)]
    names = [site_in(frame.f_code, frame.f_lasti).name for frame in reversed(frames)]
    return "` from `".join(dict.fromkeys((names[0], names[-1]))) if names else UNKNOWN.name


def callers() -> Iterator[FrameType]:
    """Yield the frames of the caller and of its callers, from the innermost."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def calling_site() -> CodeSite:
    """Return the innermost place in the program among the callers."""
    frame = next((each for each in callers() if is_program(each.f_code)), None)
    return UNKNOWN if frame is None else site_in(frame.f_code, frame.f_lasti)


def innermost_site(traceback: TracebackType | None, *, of_user: bool = False) -> CodeSite | None:
    """Return the innermost place in the program where an error was raised, or in the user's part of it."""
    place = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_program(code) and not (of_user and is_installed(code)):
            place = site_in(code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return place


def raised_at(error: BaseException) -> str:
    """Return where the user's code raised an error, and in which library: a text to add to the error, maybe empty."""
    inner = innermost_site(error.__traceback__)
    place = innermost_site(error.__traceback__, of_user=True) or inner
    if place is None:
        return ""
    return f", at {place.where}: {place.name}{'' if place is inner or inner is None else f', in {inner.where}'}"


UNKNOWN = CodeSite("unknown", "unknown")


def site_in(code: CodeType, instruction: int) -> CodeSite:
    """Return the place of an instruction."""
    known = _sites.get((id(code), instruction))
    if known is None:
        line, *_ = next(islice(code.co_positions(), max(instruction, 0) // 2, None), (None,))
        number = line or code.co_firstlineno
        text = _without_comment(untrusted.source_line(code.co_filename, number))[:VALUE_CHARS_MAX]
        name = code.co_qualname.rpartition("<locals>.")[2][:LINE_CHARS_MAX]
        site = CodeSite(f"{name}: {text}" if text else name, f"{_short(code.co_filename)}:{number}")
        known = _sites[id(code), instruction] = site, code
    return known[0]


def _without_comment(line: str) -> str:
    """Return a line of code without the comment at its end, which may change when nothing else does."""
    try:
        for token in tokenize.generate_tokens(iter([line]).__next__):
            if token.type == tokenize.COMMENT:
                return line[: token.start[1]].rstrip()
    except (tokenize.TokenError, SyntaxError):
        pass  # the statement goes on in the next line
    return line


@cache
def _short(path: str) -> str:
    for folder in (*_INSTALLED, *_STANDARD):
        path = path.removeprefix(folder)
    for name in _INSTALL_FOLDERS:
        path = path.rpartition(f"/{name}/")[2]
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path
