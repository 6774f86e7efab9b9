"""Decides which failures are the same: by type, innermost place in the code under test, and what broke an invariant."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from traceback import walk_tb
from types import CodeType, TracebackType

from ordeal._base import untrusted
from ordeal._base.imports import machinery_places
from ordeal._base.limits import CACHED_MAX, LINE_CHARS_MAX
from ordeal._base.memory_limit import memory_is_limited
from ordeal._base.regular_file import real_path
from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal.errors import DivergenceError
from ordeal.faults import call_faults, fault

#: The modules that switch faults, and those that make calls fail.
_FAULTS = frozenset((fault.__file__, call_faults.__file__))


class ProcessExitError(Exception):
    """A rule ended the process that ran it, with an exit code, or had another program replace it."""


class ProcessKilledError(Exception):
    """A rule caused a signal that ended the process that ran it."""


#: The types of failures seen from another process, by name.
CRASHES = {kind.__name__: kind for kind in (ProcessExitError, ProcessKilledError)}

#: The end of the bucket of a rule that had to be ended with its process.
HUNG = ", not interruptible"
#: The separator between the place of a failed invariant and the step after which it failed, and the one after the step.
_AFTER, _END = " [after ", "]"


class Bucketer:
    """Names the bucket of an exception. ``target_roots`` are the files and folders of the target modules."""

    def __init__(self, target_roots: Sequence[str]) -> None:
        # Relative names are resolved against this folder, wherever the program goes.
        self.here = real_path(os.curdir)
        self._files = frozenset(real_path(root) for root in target_roots)
        self._folders = tuple(f"{root}/" for root in self._files)
        self._is_target: dict[str, bool] = {}
        # Many runs meet a known failure. Keyed by the id of the code, because hashing code is slow.
        self._at: dict[tuple[type, int, int], tuple[CodeType, str]] = {}

    def bucket(self, error: BaseException, broken_by: str = "") -> str:
        """Return a text that is equal for failures with one cause, without message, line number or address.

        ``broken_by`` is the step after which an invariant failed, if one did.
        """
        if isinstance(error, MemoryError) and memory_is_limited():
            return _bucket_at(error, None)  # the place where memory ends is random, so it has none
        if hang := _bucket_of_hang(error):
            return hang
        turning = turning_lines(error)
        turning = [line for line in turning if self._target(line[0].co_filename)] or turning
        place = turning[-1] if turning else self._place(error.__traceback__)
        if place is None and type(error) is DivergenceError:
            return bucket_after(_bucket_at(error, None), error.operation)
        # Confirming each step that makes an invariant hang would take all the time.
        has_siblings = place is not None and not isinstance(error, RuleTimeoutError)
        return bucket_after(self._bucket_at(error, place), broken_by if has_siblings else "")

    def _bucket_at(self, error: BaseException, place: tuple[CodeType, int] | None) -> str:
        if place is None:
            return _bucket_at(error, None)
        code, line = place
        key = (type(error), id(code), line)
        known = self._at.get(key)
        if known is None:
            if len(self._at) >= CACHED_MAX:
                self._at.clear()  # a program that makes its functions again in each run
            known = self._at[key] = (code, _bucket_at(error, place))
        return known[1]

    def _place(self, tb: TracebackType | None) -> tuple[CodeType, int] | None:
        """Return the innermost frame in a target; else the innermost one outside the machinery and libraries."""
        in_target = in_test = None
        for code, line in _lines_of(tb):
            if self._target(code.co_filename):
                in_target = code, line
            elif not _is_machinery(code.co_filename):
                in_test = code, line
        return in_target or in_test

    def _target(self, path: str) -> bool:
        known = self._is_target.get(path)
        if known is None:
            real = real_path(path, self.here)
            known = self._is_target[path] = real in self._files or real.startswith(self._folders)
        return known


@lru_cache(maxsize=CACHED_MAX)
def _is_machinery(path: str) -> bool:
    """Return True if frames of this file are never the place where a test or its target failed."""
    return path.startswith(("<frozen", *machinery_places()))


def turning_lines(error: BaseException) -> list[tuple[CodeType, int]]:
    """Return the code and lines through which an endless recursion went again and again; nothing for other errors.

    Where the recursion ends depends on how deep it began. The sorted order does not: the last line stands for all.
    """
    if not isinstance(error, RecursionError):
        return []
    times = Counter(user_frames(error))
    least = max(times.values(), default=0) / 2
    turning = [line for line, count in times.items() if count > least and count >= 10]
    return sorted(turning, key=lambda line: (line[0].co_qualname, line[1]), reverse=True)


def user_frames(error: BaseException) -> list[tuple[CodeType, int]]:
    """Return the code and lines of the traceback outside the machinery, the innermost last."""
    return [line for line in _lines_of(error.__traceback__) if not _is_machinery(line[0].co_filename)]


def _lines_of(tb: TracebackType | None) -> Iterator[tuple[CodeType, int]]:
    for frame, line in walk_tb(tb):
        yield frame.f_code, line or 0  # code may have no lines


def is_raised_by_program(error: BaseException) -> bool:
    """Return True if code outside the machinery raised ``error`` itself, and not because a fault is broken."""
    paths = [code.co_filename for code, _ in _lines_of(error.__traceback__)]
    return bool(paths) and _FAULTS.isdisjoint(paths) and not _is_machinery(paths[-1])


def bucket_after(place: str, step: str) -> str:
    """Return the bucket of an invariant that fails at ``place``, itself a bucket, after ``step``, if given."""
    return f"{place}{_AFTER}{step[:LINE_CHARS_MAX]}{_END}" if step else place


def place_of(bucket: str) -> str:
    """Return ``bucket`` without the step that broke an invariant: what it has in common with its siblings."""
    place, after, _ = bucket.rpartition(_AFTER)
    return place if after and bucket.endswith(_END) else bucket


def step_of(bucket: str) -> str:
    """Return the step that broke an invariant; empty if there is none, or it is unknown."""
    return bucket[len(place_of(bucket)) + len(_AFTER) : -len(_END)]


def falls_into(seen: str, bucket: str) -> bool:
    """Return True if a run that failed in ``seen`` belongs to ``bucket``, which may lack the breaking step.

    The bucket of an invariant that another step breaks each time lacks it.
    """
    return seen == bucket or (bool(seen) and place_of(seen) == bucket)


def is_in_bucket(error: BaseException, bucket: str, seen: str = "") -> bool:
    """Return True if some Bucketer names ``bucket`` for ``error``: used when its targets are no longer known.

    ``seen`` is the bucket that another one names for it, with the step that broke an invariant; optional.
    """
    if seen and step_of(bucket) not in ("", step_of(seen)):
        return False
    named = (bucket, place_of(bucket))
    if any(_bucket_at(error, line) in named for line in _lines_of(error.__traceback__)):
        return True
    return (_bucket_of_hang(error) or _bucket_at(error, None)) in named


def _bucket_of_hang(error: BaseException) -> str:
    """Return the bucket of a rule that took its limit; empty for other errors.

    It has no place: where a loop is when it times out differs from run to run.
    """
    rule = error.rule if isinstance(error, RuleTimeoutError) else ""
    return f"{untrusted.full_name(type(error))} at {rule[:LINE_CHARS_MAX]}" if rule else ""


def _bucket_at(error: BaseException, place: tuple[CodeType, int] | None) -> str:
    name = untrusted.full_name(type(error))
    if place is None:
        return name
    code, line = place
    source = untrusted.source_line(code.co_filename, line)
    where = code.co_qualname[:LINE_CHARS_MAX]
    return f"{name} in {where}: {source}" if source else f"{name} in {where}"


def ends_process(error_type: str, bucket: str) -> bool:
    """Return True if runs with this failure end their process, or must be ended with it, and so need their own."""
    return bucket.endswith(HUNG) or error_type in CRASHES


def is_killed(bucket: str) -> bool:
    """Return True if runs in ``bucket`` end their process by SIGKILL."""
    return bucket.startswith(f"{ProcessKilledError.__name__}({signal.SIGKILL.name})")


def traceback_text(error: BaseException) -> str:
    """Return the traceback without the frames of the machinery above the user's code."""
    tb = error.__traceback__
    while tb is not None and _is_machinery(tb.tb_frame.f_code.co_filename):
        tb = tb.tb_next
    return untrusted.traceback_text(error, tb)
