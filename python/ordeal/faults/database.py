"""Faults of databases: locks, deadlocks, lost connections, failing commits and slow queries, with the driver's errors.

The ``target`` of each is ``"sqlite3.connect"`` or ``"sqlalchemy.create_engine"``. Connections are often made once, so
``sqlite3.connect`` is wrapped for the whole run, and its connections call the faults in each statement. With
``"sqlalchemy.create_engine"`` the faults act inside SQLAlchemy, on all existing engines, with any driver.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ordeal.faults.arguments import check_error, check_text, real_seconds
from ordeal.faults.attributes import Wrap
from ordeal.faults.database_connections import CREATE_ENGINE, DriverCall, around_connect, around_dialect
from ordeal.faults.fault import MultiPatchFault, made_again

__all__ = ["commit_failure", "deadlock", "locked", "lost_connection", "slow_query"]

Act = Callable[[DriverCall], object]
ErrorClass = type[Exception] | None


@made_again
def locked(target: str, message: str | None = None, error: ErrorClass = None) -> MultiPatchFault:
    """Make statements and commits raise the driver's OperationalError: another program has the lock.

    The transaction goes on. The default ``message`` is "database is locked"; ``error`` is another class of exceptions.
    Raises FaultError when the target is not a dotted path, or when they are neither.
    """
    fail = _failure("locked", message or "database is locked", message, error, (5, "SQLITE_BUSY"))
    return _DatabaseFault("locked", target, fail)


@made_again
def deadlock(target: str, message: str | None = None, error: ErrorClass = None) -> MultiPatchFault:
    """Roll the transaction back in a statement, which raises the driver's OperationalError, as in a deadlock.

    The default ``message`` is "deadlock detected"; ``error`` is another class of exceptions. Raises FaultError when the
    target is not a dotted path, or when they are neither.
    """
    fail = _failure("deadlock", message or "deadlock detected", message, error, (6, "SQLITE_LOCKED"))

    def give_way(call: DriverCall) -> None:
        call.connection.rollback()
        fail(call)

    return _DatabaseFault("deadlock", target, give_way, on_commits=False)


@made_again
def commit_failure(target: str, message: str | None = None, error: ErrorClass = None) -> MultiPatchFault:
    """Make commits of a transaction raise the driver's OperationalError; the transaction stays open.

    The default ``message`` is "disk I/O error"; ``error`` is another class of exceptions. Raises FaultError when the
    target is not a dotted path, or when they are neither.
    """
    fail = _failure("commit_failure", message or "disk I/O error", message, error, (10, "SQLITE_IOERR"))
    return _DatabaseFault("commit_failure", target, fail, on_statements=False)


@made_again
def lost_connection(target: str) -> MultiPatchFault:
    """Close a connection under a statement or commit, which fails with the driver's own error, like all later ones.

    What was not committed is gone. A new connection can be made, and is lost as well as long as the fault is on. Raises
    FaultError when the target is not a dotted path.
    """

    def lose(call: DriverCall) -> None:
        call.connection.close()
        # Most drivers raise here because it is closed. The call ends then, and no other fault acts on a closed
        # connection.
        call.connection.cursor()

    return _DatabaseFault("lost_connection", target, lose)


@made_again
def slow_query(target: str, delay: float = 1.0, mode: str = "simulate") -> MultiPatchFault:
    """Slow statements down by ``delay`` seconds.

    ``mode="simulate"`` only counts them; ``mode="real"`` sleeps before each. Raises FaultError for another mode or a
    negative delay, or when the target is not a dotted path.
    """
    pause_s = real_seconds("slow_query", "delay", delay, mode)
    act = (lambda _call: time.sleep(pause_s)) if mode == "real" else None
    return _DatabaseFault("slow_query", target, act, f", {delay}s, {mode}", on_commits=False)


def _failure(factory: str, text: str, message: object, error: ErrorClass, sqlite_code: tuple[int, str]) -> Act:
    """Return a function that raises the fault's error; for sqlite3 with the code that the library itself would set."""
    if message is not None:
        check_text(factory, "message", message)
    if error is not None:
        check_error(factory, error)

    def fail(call: DriverCall) -> None:
        raised = (error or call.error_class)(text)
        if (error or call.error_class).__module__ == "sqlite3":
            raised.sqlite_errorcode, raised.sqlite_errorname = sqlite_code  # type: ignore[attr-defined]
        raise raised

    return fail


class _DatabaseFault(MultiPatchFault):
    """Acts on the calls of connections. The function that makes them is wrapped for the duration of a run."""

    def __init__(
        self,
        kind: str,
        target: str,
        act: Act | None,
        arguments: str = "",
        *,
        on_statements: bool = True,
        on_commits: bool = True,
    ) -> None:
        """``act`` applies the fault to a call; None changes nothing.

        Raises FaultError when the target is not a dotted path.
        """
        is_engine = target == CREATE_ENGINE
        around: Wrap = lambda original: around_connect(self.name, original, self.before_call)  # noqa: E731
        patches = around_dialect(self.before_call) if is_engine else [(target, around)]
        super().__init__(f"{kind}({target}{arguments})", patches)
        self._act = act
        self._on_statements = on_statements
        self._on_commits = on_commits
        self._needs_run = not is_engine
        self._in_run = False

    def before_call(self, call: DriverCall) -> None:
        """Act before a call of a connection; an exception here replaces the call."""
        if not self.active or not (self._on_commits if call.is_commit else self._on_statements):
            return
        if self._meet() and self._act is not None:
            self.observe_change(call.text)
            self._act(call)

    def enter_run(self) -> None:
        """Wrap the function that makes connections, so that those made while the fault is off can be hit later."""
        with self._lock:
            if self._needs_run and not self._in_run and not self.active:
                self._in_run = super()._do_activate()

    def leave_run(self) -> None:
        """Unwrap it."""
        with self._lock:
            if self._in_run:
                self._in_run = False
                self._undo_all()

    def reset(self) -> None:
        """Return to the state of a new fault."""
        try:
            super().reset()
        finally:
            self.leave_run()

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_in_run": False}

    def _do_activate(self) -> bool:
        return self._in_run or super()._do_activate()

    def _do_deactivate(self) -> None:
        if not self._in_run:
            super()._do_deactivate()
