"""Observes what fails in a step without reaching the code that runs the step.

An assertion that the program catches, an exception that ends a thread or a callback of an event loop, a finaliser that
raises: none of these comes back to the caller of a rule. A watch collects them, and the code that runs steps asks for
them at the end of each step and of each run. So whoever runs steps comes to the same verdict.
"""

from __future__ import annotations

import re
import sys
import threading
import warnings
from _thread import _count as thread_count
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import Any, Literal

from ordeal._base.limits import LISTED_MAX
from ordeal._base.live_threads import program_threads, threads_text
from ordeal._base.untrusted import bounded_call, error_message, readable, type_name

#: See ``ordeal.chaos``.
__tracebackhide__ = True

OutsideMode = Literal["fail", "warn", "ignore"]

#: How notes about what a search only warns of begin.
NOTE = "Outside of the steps: "
_MARK = "[ordeal] "
_UNAWAITED = "coroutine '.*' was never awaited"


class OutsideWatch:
    """Collects what fails outside of the frames of a step. A process has one: ``outside``.

    Attributes:
        failed: what failed since the last ``clear``, the first failure alone. The step loop reads its length.
        warned: what is worth a warning, each text once.
        mode: ``warn`` turns failures into warnings, ``ignore`` looks at violated assertions alone.
    """

    def __init__(self) -> None:
        self.failed: list[BaseException] = []
        self.warned: dict[str, None] = {}
        self.mode: OutsideMode = "fail"
        self._how = ""
        self._violation: AssertionError | None = None  # the latest; a finaliser that raises it needs no warning
        self._undo: ExitStack | None = None
        self._patched_asyncio = False
        self._threads: set[threading.Thread] = set()
        self._waits_for_threads = True

    # -- what is observed ---------------------------------------------------------------------------------------------

    def violated(self, error: AssertionError) -> None:
        """Note that an assertion which always holds did not; ``error`` is about to be raised."""
        if self._undo is not None:
            self._violation = error
            self._fail(error, "the program caught the violation, or did not raise it in the step")

    def failed_in(self, error: BaseException, where: str) -> None:
        """Note an ``error`` that the program did not handle ``where`` it was raised."""
        if self.mode == "fail":
            self._fail(error, f"not raised in the step: it {where}")
        else:
            self.warn(f"{error_line(error)} {where}")

    def _fail(self, error: BaseException, how: str) -> None:
        if not self.failed:
            self.failed.append(readable(error))
            self._how = how

    def warn(self, text: str) -> None:
        """Note a text that is worth a warning."""
        if len(self.warned) < LISTED_MAX:
            self.warned[text] = None

    # -- the verdict --------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Begin a run, or end one that has failed already."""
        self.failed.clear()
        self._violation = None

    def raise_failed(self) -> None:
        """Raise the first failure since the last ``clear``, as if the step had raised it."""
        if not self.failed:
            return
        error, how = self.failed[0], self._how
        self.clear()
        add_outside_note(error, how)
        raise error

    def end_run(self) -> None:
        """Wait a moment for the threads that the run started, and raise what failed."""
        if self._waits_for_threads and thread_count() > len(self._threads):
            # A thread that is about to end takes below a millisecond; one that outlives a run is not waited for again.
            until = monotonic() + 0.05
            started = set(threading.enumerate()) - self._threads - {threading.current_thread()}
            for thread in started:
                thread.join(max(0.0, until - monotonic()))
            left = {thread.name for thread in started if thread.is_alive()}
            self._waits_for_threads = not left
            if names := [name for name in program_threads() if name in left]:
                it = "it" if len(names) == 1 else "them"
                self.warn(f"{threads_text(names)} outlived the run that started {it}; join {it} in teardown()")
        self.raise_failed()

    # -- the hooks ----------------------------------------------------------------------------------------------------

    @contextmanager
    def watching(self, mode: OutsideMode) -> Iterator[None]:
        """Observe the process during the block. Inside another watch, only the mode changes."""
        before, began = self.mode, self.begin(mode)
        try:
            yield
        finally:
            self.mode = before
            if began:
                self.end()

    def begin(self, mode: OutsideMode) -> bool:
        """Observe the process until ``end``; return False if it is observed already."""
        self.mode = mode
        if self._undo is None:
            self._undo = ExitStack()
            self.warned.clear()
            self._waits_for_threads = True
            self._threads = set(threading.enumerate()) - {threading.main_thread()}
            if mode != "ignore":
                self._hook()
            return True
        return False

    def end(self) -> None:
        """Restore the hooks that were found, and forget what failed."""
        undo, self._undo = self._undo, None
        self._patched_asyncio = False
        if undo is not None:
            undo.close()
        self.clear()
        self._threads = set()

    @property
    def is_on(self) -> bool:
        """Whether the process is observed."""
        return self._undo is not None

    def hook_asyncio(self) -> None:
        """Observe event loops too, once the program has imported asyncio."""
        loops: Any = sys.modules.get("asyncio.base_events")
        if self._patched_asyncio or loops is None or self._undo is None or self.mode == "ignore":
            return
        self._patched_asyncio = True

        def default_exception_handler(_loop: object, context: dict[str, Any]) -> None:
            error, message = context.get("exception"), str(context.get("message", ""))
            if isinstance(error, BaseException):
                self.failed_in(error, "ended a callback or a task of an event loop that nothing awaits")
            else:
                self.warn(message)

        self._replace(loops.BaseEventLoop, "default_exception_handler", default_exception_handler)

    def _hook(self) -> None:
        thread_hook, unraisable_hook = threading.excepthook, sys.unraisablehook

        def excepthook(args: threading.ExceptHookArgs) -> None:
            if args.exc_value is None or args.exc_type is SystemExit:
                return
            self.failed_in(args.exc_value, "ended a thread")
            if thread_hook is not threading.__excepthook__ and not _is_of_pytest(thread_hook):
                thread_hook(args)

        def unraisablehook(args: Any) -> None:
            error: BaseException | None = args.exc_value
            module = type.__dict__["__module__"].__get__(type(error))
            is_own = str(module).partition(".")[0] == "ordeal"  # raised to end what takes too long
            if error is not None and error is not self._violation and not is_own:
                called = bounded_call(
                    lambda: str(getattr(args.object, "__qualname__", "") or type_name(type(args.object))),
                    lambda _raised: "a finaliser",
                )
                self.warn(f"{error_line(error)} in {called}, where Python cannot raise it")
            if unraisable_hook is not sys.__unraisablehook__ and not _is_of_pytest(unraisable_hook):
                unraisable_hook(args)

        self._replace(threading, "excepthook", excepthook)
        self._replace(sys, "unraisablehook", unraisablehook)
        self.hook_asyncio()
        assert self._undo is not None
        self._undo.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("always", category=ResourceWarning)
        warnings.filterwarnings("always", _UNAWAITED, RuntimeWarning)
        show = warnings.showwarning

        def showwarning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            text = str(message)
            if issubclass(category, ResourceWarning) or (category is RuntimeWarning and "never awaited" in text):
                self.warn(_without_address(text))
            else:
                show(message, category, *where, **more)

        warnings.showwarning = showwarning

    def _replace(self, owner: Any, name: str, function: Callable[..., object]) -> None:
        assert self._undo is not None
        found = getattr(owner, name)
        setattr(owner, name, function)

        def restore() -> None:
            if getattr(owner, name) is function:  # otherwise the program has set its own
                setattr(owner, name, found)

        self._undo.callback(restore)


def _is_of_pytest(hook: object) -> bool:
    """Return True if ``hook`` belongs to pytest, which warns of what is reported here."""
    return str(getattr(getattr(hook, "func", hook), "__module__", "")).startswith("_pytest.")


def add_outside_note(error: BaseException, text: str) -> None:
    """Note on ``error``, once, what ``outside_notes`` returns."""
    note = f"{_MARK}{text}"

    def add() -> None:
        if note not in getattr(error, "__notes__", ()):
            BaseException.add_note(error, note)

    bounded_call(add, lambda _raised: None)


def outside_notes(error: BaseException) -> tuple[str, ...]:
    """Return how ``error`` failed a step in which it was not raised, and what failed after it."""
    return bounded_call(
        lambda: tuple(each[len(_MARK) :] for each in error.__notes__ if type(each) is str and each.startswith(_MARK)),
        lambda _raised: (),
    )


def error_line(error: BaseException) -> str:
    """Return the type and the first line of the message of ``error``, the same for all objects of a kind."""
    message = error_message(error)
    return f"{type_name(type(error))}{message and ': '}{_without_address(message)}"


def _without_address(text: str) -> str:
    """Return one line of ``text`` that is the same for all objects of a kind."""
    first = text.partition("\n")[0].partition(" at 0x")[0].partition(" fd=")[0][:200]
    return re.sub(r"^subprocess \d+ ", "a subprocess ", first)


outside = OutsideWatch()
"""Observes this process."""
