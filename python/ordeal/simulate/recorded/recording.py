"""``record``: runs a block against the real thing once, and later answers from the record, or says what differs."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from types import FrameType, TracebackType
from typing import Any, NoReturn

from msgspec import convert, to_builtins
from msgspec.structs import replace

from ordeal._base.formatting import counted, one_line
from ordeal._base.limits import LINE_CHARS_MAX
from ordeal._base.records_used import records
from ordeal._base.trace_file import locked, write_atomically
from ordeal._base.untrusted import error_message, full_name
from ordeal.simulate.errors import RecordDrift, RecordError
from ordeal.simulate.recorded.masking import Masks, fits
from ordeal.simulate.recorded.record_file import (
    CASSETTES,
    HEAD,
    Entry,
    RecordedError,
    Reply,
    http_request,
    read_record,
    with_vcr,
)
from ordeal.simulate.replacement import package_of
from ordeal.simulate.runtime.sites import callers, is_of_project, is_own, is_program

#: Frames of a report: those of the program say more.
__tracebackhide__ = True
KINDS = {"http": "http", "process": "processes", "files": "files"}
_HERE = f"{Path(__file__).parent}/"
_TEMPORARY = re.compile(rf"{re.escape(tempfile.gettempdir())}/(?:pytest-of-[^/\s]+/pytest-\d+|tmp[a-z0-9_]{{8}}\b)")
_STUBS = {"http": Reply(200, "OK", body="..."), "process": Reply(body="..."), "files": Reply(body="...")}

#: A node has another one.
_real_folder = os.getcwd

#: The blocks that are entered, the innermost last.
entered: list[Recording] = []


class Asked:
    """A request to the outside. The record answers it if ``is_served``; otherwise the real thing is to be asked."""

    def __init__(self, recording: Recording, entry: Entry, *, is_served: bool) -> None:
        self.entry = entry
        self.is_served = is_served
        self._recording = recording
        self._began = monotonic()

    def answer(self, name: str = "") -> Reply:
        """Return what was recorded, or raise the error; ``name`` is that of the file, as the program has it."""
        if self.entry.error is not None:
            raise raised_again(self.entry.error, name)
        return self.entry.reply or Reply()

    def reply(self, reply: Reply) -> Reply:
        """Record what the real thing answered, and return it."""
        self.entry.reply = reply
        self.entry.seconds = round(monotonic() - self._began, 3)
        return reply

    def fail(self, error: BaseException) -> None:
        """Record the error that was the answer; without a trace what only ends the program."""
        if not isinstance(error, Exception):
            self._recording.forget(self.entry)
            return
        text, number, name = re.sub(r" at 0x[0-9a-f]+", "", error_message(error)), None, ""
        if isinstance(error, OSError):
            number, name = error.errno, str(error.filename or "")
            text = str(error.strerror) if type(error).__module__ == "builtins" and number is not None else text
        self.entry.error = RecordedError(full_name(type(error)), portable(text), number, portable(name))
        self.reply(Reply())
        self.entry.reply = None


class Recording:
    """What ``record`` returns: a context manager. A machine keeps it, and enters it in each rule."""

    # What files hold, with their sizes: a search enters thousands of blocks.
    _read: dict[Path, tuple[int, list[Entry]]] = {}  # noqa: RUF012

    def __init__(
        self, kinds: tuple[str, ...], path: Path, *, is_ordered: bool, headers: list[str], mask: list[str]
    ) -> None:
        self.kinds = kinds
        self.headers = headers
        self.is_new = False
        """Whether the real thing may be asked."""
        self.repeats = False
        """Whether the last answer is given again where a request is made more often than it was recorded."""
        self._path, self._mask, self._is_ordered = path, mask, is_ordered
        self._masks = Masks(mask)
        self._lock = threading.RLock()
        self._known: list[Entry] = []
        self._made: list[Entry] = []
        self._count = 0
        self._counts: Counter[str] = Counter()
        self._drift: RecordDrift | None = None
        self._stack: ExitStack | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Recording:
        copied = Recording(self.kinds, self._path, is_ordered=self._is_ordered, headers=self.headers, mask=self._mask)
        copied._masks, copied._count, copied._counts = self._masks, self._count, Counter(self._counts)
        return copied

    # -- the block ------------------------------------------------------------------------------------------------

    def __enter__(self) -> Recording:
        if self._stack is not None or (self._is_ordered and self._count):
            hint = "pass `ordered=False` to go on with it, or call `record` for each block"
            raise RecordError("this record was used before", hint=hint)
        self.open()
        with ExitStack() as stack:
            for kind in self.kinds:
                if current(kind) is None:  # an outer block has done it
                    stack.enter_context(with_vcr(KINDS[kind]).patches())
            entered.append(self)
            stack.callback(entered.remove, self)
            self._stack = stack.pop_all()
        return self

    def open(self) -> list[Entry]:
        """Read the file, if there is one, and return what it holds."""
        name = portable(str(self._path))
        records.paths[name] = None
        path = records.unpacked.get(name, self._path)
        is_there = path.exists()
        if not is_there and records.only_serve:
            hint = "run the test once where it may ask the real thing, or name the file that it wrote"
            raise RecordError(f"nothing is recorded in {name}", hint=hint)
        is_kept = is_there and (self._is_ordered or self._path.suffix in CASSETTES)
        self.is_new = not (records.only_serve or is_kept)
        size = path.stat().st_size if is_there else -1
        found = self._read.get(path)
        if found is None or found[0] != size:
            found = self._read[path] = size, read_record(path) if is_there else []
        self._known = found[1]
        return self._known

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        stack, self._stack = self._stack, None
        assert stack is not None
        stack.close()
        made, self._made = self._made, []
        self._write([each for each in made if each.reply is not None or each.error is not None])
        if self._drift is not None and error is not self._drift:  # the program caught it
            raise self._drift from error
        if error is not None and error is not self._drift:
            where = portable(str(self._path))
            error.add_note(f"What it got from outside is in {where}; delete that file to ask the real thing again.")
        if error is None and self._is_ordered and not self.is_new and self._count < len(self._known):
            self._fail(f"request {self._count + 1} is missing: {self._known[self._count].title}")
        left = next((each for each in made if each.reply is None and each.error is None), None)
        if error is None and left is not None:
            hint = "wait for it inside of the block"
            raise RecordError(f"the block ended before this was answered: {left.title}", hint=hint)

    def _write(self, made: list[Entry]) -> None:
        if not made:
            return
        lines = [self.masked(each) for each in made]
        text = "".join(self._masks.line(each.line) for each in lines)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._is_ordered:
                write_atomically(self._path, (HEAD + text).encode())
                return
            with locked(self._path.parent), self._path.open("a") as file:  # other processes add to it too
                file.write(text if self._path.stat().st_size else HEAD + text)
        except OSError as error:
            message = f"cannot write the record {self._path}: {error.strerror or error}"
            raise RecordError(message, hint="pass another `file`") from None

    def masked(self, entry: Entry) -> Entry:
        """Return an answer without its secrets."""
        return convert(self._masks.each(to_builtins(entry)), Entry)

    def learn(self, environment: Mapping[Any, Any]) -> None:
        """Mask the secrets of an environment wherever they appear."""
        self._masks.learn(environment)

    # -- requests -------------------------------------------------------------------------------------------------

    def ask_http(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Asked:
        """Return the answer to a request of HTTP, as ``ask`` does."""
        for name, text in headers.items():  # also a secret in one that does not count
            self._masks.named(name, text)
        return self.ask("http", http_request(self.headers, method, url, headers, body))

    def ask(self, kind: Any, parts: Mapping[str, str]) -> Asked:
        """Return the recorded answer to a request, or one that the real thing is to give.

        Raises:
            RecordDrift: another request was recorded, or none.
        """
        named = {name: self._masks.named(name.removeprefix("header "), text) for name, text in parts.items() if text}
        now = Entry(kind=kind, request={name: portable(text) for name, text in named.items()}, site=calling_line())
        with self._lock:
            due = self._known[self._count : self._count + 1] if self._is_ordered else self._known
            same = [each for each in due if is_same(each, now)]
            place = 0 if self._is_ordered else self._counts[now.title]
            if self.repeats:
                place = min(place, max(len(same) - 1, 0))
            if place >= len(same) and not self.is_new:
                self._differs(now)
            self._count += 1
            self._counts[now.title] += 1
            if place < len(same):
                return Asked(self, same[place], is_served=True)
            self._made.append(now)
            return Asked(self, now, is_served=False)

    def forget(self, entry: Entry) -> None:
        """Leave out a request that was given up before its answer."""
        with self._lock:
            self._made = [each for each in self._made if each is not entry]

    # -- drift ----------------------------------------------------------------------------------------------------

    def _differs(self, now: Entry) -> NoReturn:
        """Raise what says how a request differs from what was recorded."""
        known, place = self._known, self._count if self._is_ordered else len(self._known)
        same = [number for number, each in enumerate(known) if is_same(each, now)]
        similar = [
            each for each in known[place : place + 1] or (() if self._is_ordered else known) if each.kind == now.kind
        ]
        if same and same[-1] >= place:
            problem = "comes out of order"
            details = [f"recorded as number {same[-1] + 1}: {known[same[-1]].title}"]
            details += [f"missing before it, number {place + 1}: {known[place].title}"]
        elif same:
            problem, details = "was not made so often", [f"recorded as number {same[-1] + 1}: {known[same[-1]].title}"]
        elif similar:
            nearest = min(similar, key=lambda each: len(differences(each.request, now.request)))
            problem, details = "differs", [f"recorded: {nearest.title}"]
            for name, was, is_now in differences(nearest.request, now.request):
                texts = [one_line(text, limit=LINE_CHARS_MAX) or "nothing" for text in (is_now, was)]
                details.append(f"{name}: {texts[0]} instead of {texts[1]}")
        else:
            problem, details = "was not recorded", [f"the record has {counted(len(known), 'answer')}"]
            details += [f"recorded: {each.title}" for each in known[place : place + 1]]
        self._fail(f"request {self._count + 1} {problem}: {now.title}", details, now)

    def _fail(self, message: str, details: Iterable[str] = (), now: Entry | None = None) -> NoReturn:
        where = portable(str(self._path))
        hint = f"if that is meant, delete {where} to record it again"
        if now is not None and self._path.suffix not in CASSETTES:
            stub = self.masked(replace(now, reply=_STUBS[now.kind])).line.strip()
            hint += f", or put this line there, with the answer: {stub}"
        self._drift = RecordDrift("; ".join([message, *details, f"record: {where}"]), hint=hint)
        self._drift.details = (*details, f"record: {where}")
        raise self._drift


def is_same(recorded: Entry, now: Entry) -> bool:
    """Return True if a request is a recorded one."""
    return recorded.kind == now.kind and not differences(recorded.request, now.request)


def differences(recorded: Mapping[str, str], now: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return the parts in which a request differs from a recorded one, with both texts.

    Of a cassette, and of what a user has pasted, only the parts that are there count.
    """
    names = recorded if recorded.keys() == {"method", "url"} else {**recorded, **now}
    pairs = [(name, recorded.get(name, ""), now.get(name, "")) for name in names]
    return [each for each in pairs if not fits(each[1], each[2])]


def current(kind: str) -> Recording | None:
    """Return the innermost block that records a kind."""
    return next((each for each in reversed(entered) if kind in each.kinds), None)


def portable(text: str) -> str:
    """Return a text with paths as on any machine: relative to the current folder, without temporary names."""
    folder = _real_folder().rstrip("/")
    return _TEMPORARY.sub("TMP", text.replace(f"{folder}/", "") if folder else text)


def _program_frame() -> FrameType | None:
    return next((frame for frame in callers() if is_of_project(frame.f_code.co_filename)), None)


def calling_line() -> str:
    """Return the line of the program that asks."""
    frame = _program_frame()
    return "" if frame is None else f"{portable(frame.f_code.co_filename)}:{frame.f_lineno} in {frame.f_code.co_name}"


def calling_package() -> str:
    """Return the package that asks, below the standard library."""
    for frame in callers():
        code = frame.f_code
        if is_program(code) or (is_own(code) and not code.co_filename.startswith(_HERE)):
            return package_of(str(frame.f_globals.get("__name__", "")))
    return ""


def raised_again(error: RecordedError, name: str = "") -> Exception:
    """Return the error that was recorded: of the same class, and with the same text."""
    module, _, label = f"builtins.{error.type}".rpartition(".")
    module = module.removeprefix("builtins.")
    kind: Any = getattr(sys.modules.get(module), label, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise RecordError(
            f"the record has an error of the class {error.type!r:.100}, which is not loaded",
            hint="import its module in the test, or delete the file to record it again",
        )
    if module == "builtins" and issubclass(kind, OSError) and error.number is not None:
        return kind(error.number, error.message, *filter(None, [name or error.name]))
    # Its own constructor may want what only the library has.
    members = {"__module__": module, "__init__": lambda *_: None, "__str__": lambda _: error.message}
    made: Any = type(label, (kind,), members)(error.message)
    if isinstance(made, OSError):
        made.errno, made.strerror = error.number, error.message
    return made  # type: ignore[no-any-return]


def record(
    *kinds: str,
    file: str | os.PathLike[str] | None = None,
    ordered: bool = True,
    headers: Iterable[str] = ("content-type", "range", "if-match", "if-none-match"),
    mask: Iterable[str] = (),
) -> Recording:
    """Record what a block gets from outside, and serve it later without the outside: use it with ``with``.

    The first time, the block asks the real thing, and a file keeps each request with its answer, or its error, and the
    time it took. As long as the file is there, it answers instead. A request that differs raises RecordDrift. With the
    environment variable ``ORDEAL_RECORD=never`` nothing asks the real thing.

    Args:
        kinds: ``"http"``, ``"process"``, ``"files"``, or several.
        file: where the record is; by default in the folder ``records`` next to the test, named after the test. A
            cassette of vcrpy, in YAML, is only read.
        ordered: whether the requests have to be the same, in the same order. ``False`` is for machines and concurrent
            programs: it serves in any order, and adds to the file what it does not have.
        headers: which headers of a request of HTTP count when it is compared.
        mask: regular expressions of names and values that are secrets, besides the usual ones.

    Raises:
        RecordError: an argument cannot be used.
    """
    wrong = next((each for each in kinds if each not in KINDS), None)
    if wrong is not None or not kinds:
        what = "nothing to record" if wrong is None else f"{wrong!r:.100}"
        raise RecordError(f"`record` got {what}", hint='write "http", "process", "files", or several of them')
    hint = 'write `file="a.jsonl"`, `headers=["X-Tenant"]`, `mask=["pin-[0-9]+"]`'
    if isinstance(mask, str) or isinstance(headers, str):  # its letters would be taken
        raise RecordError("an argument of `record` cannot be used: a text in place of a list", hint=hint)
    try:
        masks = [re.compile(each).pattern for each in mask]
        names = sorted({each.lower() for each in headers})
        path = _default_path() if file is None else Path(file).absolute()
        is_there = path.exists()
    except (re.error, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"an argument of `record` cannot be used: {error}", hint=hint) from None
    if path.suffix in CASSETTES and not is_there:
        hint = "name a file that ends in .jsonl, or a cassette that is there"
        raise RecordError(f"{portable(str(path))} would be a cassette, and those are only read", hint=hint)
    for kind in kinds:  # not in a rule, whose time is limited
        with_vcr(KINDS[kind])
    return Recording(tuple(dict.fromkeys(kinds)), path, is_ordered=ordered, headers=names, mask=masks)


def _default_path() -> Path:
    frame = _program_frame()
    if frame is None:
        raise RecordError("`record` does not know which test calls it", hint="pass `file`")
    source, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname.removesuffix(".__init__")
    # What stands in brackets is the case of a test with parameters.
    case = os.environ.get("PYTEST_CURRENT_TEST", "").partition("[")[2].rpartition("]")[0]
    named = re.sub(r"[^\w.=-]+", "-", f"{source.stem}.{name}{'-' if case else ''}{case}")
    return source.absolute().parent / "records" / f"{named[:LINE_CHARS_MAX]}.jsonl"
