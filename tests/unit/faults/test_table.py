"""Every fault by its row of the table: its name, what it does while it is on, and that nothing of it stays."""

from __future__ import annotations

import copy
import errno
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ordeal._base.live_threads import has_gil
from ordeal.faults import Fault, MultiPatchFault, PatchFault, catalog, release
from ordeal.faults.concurrency import contended_call, delayed_release, stale_state, thread_boundary
from ordeal.faults.database import commit_failure, deadlock, locked, lost_connection, slow_query
from ordeal.faults.io import (
    corrupt_output,
    corrupt_stdout,
    disk_full,
    error_on_call,
    permission_denied,
    return_empty,
    subprocess_delay,
    subprocess_exit,
    subprocess_signal,
    subprocess_timeout,
    subprocess_truncate_stderr,
    subprocess_truncate_stdout,
    truncate_output,
)
from ordeal.faults.memory import fail_nth
from ordeal.faults.network import (
    auth_failure,
    connection_reset,
    dns_failure,
    http_error,
    intermittent_http_error,
    partial_response,
    rate_limited,
)
from ordeal.faults.numerical import (
    corrupted_floats,
    dtype_drift,
    feature_order_drift,
    inf_injection,
    missing_feature,
    nan_injection,
    partial_batch,
    wrong_shape,
)
from ordeal.faults.timing import intermittent_crash, jitter, slow, timeout

from ..samples.shop import shop_app

T = "shop_app.api.charge"
SQL = "sqlite3.connect"
GREET = [
    sys.executable,
    "-IS",
    "-c",
    "import sys; print('greeting', end=''); print('warning', end='', file=sys.stderr)",
]


class Service:
    state = "fresh"


SERVICE = Service()


def returns(value: Any) -> Callable[[], Any]:
    """A call of the target, whose result is ``value`` without a fault."""
    return lambda: sys.modules["shop_app.api"].charge(value)


def third(value: Any) -> Callable[[], Any]:
    """The last of three such calls."""
    return lambda: [outcome(returns(value)) for _ in range(3)][-1]


def child() -> tuple[int, str, str]:
    done = subprocess.run(GREET, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def write() -> int:
    return Path("order.txt").write_text("kettle")


def state() -> str:
    return SERVICE.state


def query() -> Any:
    with closing(sqlite3.connect(":memory:")) as db:
        return db.execute("SELECT 7").fetchone()[0]


def commit() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE sold (item TEXT)")
        db.execute("INSERT INTO sold VALUES ('kettle')")
        db.commit()


def outcome(call: Callable[[], Any]) -> Any:
    """What comes of a call, so that it can be compared: arrays as lists, errors by kind and text."""
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what comes of the call
        return f"{type(error).__name__}: {error}"
    return repr(result.tolist() if hasattr(result, "tolist") else result)


def error(text: str) -> Callable[[Any], bool]:
    return lambda found: bool(found == text)


def gives(value: Any) -> Callable[[Any], bool]:
    return lambda found: bool(found == repr(value))


def chance(found: Any) -> bool:
    return "greeting" not in found and len(found) > 8


FINE = (0, "greeting", "warning")
CORRUPT = corrupted_floats()


@dataclass(frozen=True)
class Row:
    make: Callable[[], Fault]
    name: str
    call: Callable[[], Any]
    on: Callable[[Any], bool]
    target: str = T


ROWS = [
    Row(
        lambda: timeout(T),
        f"timeout({T}, 30.0s)",
        returns(7),
        error(f"TimeoutError: Simulated timeout after 30.0s in {T}"),
    ),
    Row(lambda: slow(T), f"slow({T}, 1.0s, simulate)", returns(7), gives(7)),
    Row(
        lambda: intermittent_crash(T),
        f"intermittent_crash({T}, every 3)",
        third(7),
        lambda found: found.startswith(f"'RuntimeError: Simulated crash in {T} (call #"),
    ),
    Row(lambda: jitter(T), f"jitter({T}, 0.01)", returns(100), lambda found: found in ("101.0", "99.0")),
    Row(lambda: error_on_call(T), f"error_on_call({T})", returns(7), error("OSError: Simulated I/O error")),
    Row(lambda: return_empty(T), f"return_empty({T})", returns(7), gives(None)),
    Row(lambda: corrupt_output(T), f"corrupt_output({T})", returns("greeting"), chance),
    Row(lambda: truncate_output(T), f"truncate_output({T}, 0.5)", returns([1, 2, 3, 4]), gives([1, 2])),
    Row(
        disk_full,
        "disk_full",
        write,
        error("OSError: [Errno 28] No space left on device: 'order.txt'"),
        "io.open",
    ),
    Row(
        permission_denied,
        "permission_denied",
        write,
        error("PermissionError: [Errno 13] Permission denied: 'order.txt'"),
        "io.open",
    ),
    Row(
        lambda: subprocess_timeout("greeting"),
        "subprocess_timeout('greeting')",
        child,
        lambda found: found.startswith("TimeoutExpired:") and found.endswith("timed out after 0.001 seconds"),
        "subprocess.run",
    ),
    Row(
        lambda: subprocess_exit("greeting"),
        "subprocess_exit('greeting', returncode=1)",
        child,
        gives((1, "", "")),
        "subprocess.Popen",
    ),
    Row(
        lambda: subprocess_signal("greeting"),
        "subprocess_signal('greeting', signum=15)",
        child,
        gives((-15, "", "")),
        "subprocess.Popen",
    ),
    Row(
        lambda: subprocess_truncate_stdout("greeting"),
        "subprocess_truncate_stdout('greeting', 0.5)",
        child,
        gives((0, "gree", "warning")),
        "subprocess.Popen",
    ),
    Row(
        lambda: subprocess_truncate_stderr("greeting"),
        "subprocess_truncate_stderr('greeting', 0.5)",
        child,
        gives((0, "greeting", "war")),
        "subprocess.Popen",
    ),
    Row(lambda: corrupt_stdout("greeting"), "corrupt_stdout('greeting')", child, chance, "subprocess.Popen"),
    Row(
        lambda: subprocess_delay("greeting", delay=0.0),
        "subprocess_delay('greeting')",
        child,
        gives(FINE),
        "subprocess.run",
    ),
    Row(lambda: nan_injection(T), f"nan_injection({T})", returns([1, {"a": 2.0}]), error("[nan, {'a': nan}]")),
    Row(lambda: inf_injection(T), f"inf_injection({T})", returns((1, "x")), error("(inf, 'x')")),
    Row(
        lambda: wrong_shape(T, (2, 3), (3, 2)), f"wrong_shape({T}, (2, 3)->(3, 2))", returns(7), gives([[0.0, 0.0]] * 3)
    ),
    Row(lambda: dtype_drift(T), f"dtype_drift({T}, str)", returns([1, 2.5]), gives(["1", "2.5"])),
    Row(
        lambda: partial_batch(T),
        f"partial_batch({T}, fraction=0.5, min_items=1)",
        returns([1, 2, 3, 4]),
        gives([1, 2]),
    ),
    Row(lambda: feature_order_drift(T), f"feature_order_drift({T}, shift=1)", returns([[1, 2, 3]]), gives([[2, 3, 1]])),
    Row(lambda: missing_feature(T, "b"), f"missing_feature({T}, key='b')", returns({"a": 1, "b": 2}), gives({"a": 1})),
    Row(lambda: CORRUPT, "corrupted_floats(nan)", CORRUPT.value, error("nan")),
    Row(
        lambda: http_error(T),
        f"http_error({T}, 500)",
        returns(7),
        error("HTTPFaultError: 500 Internal Server Error"),
    ),
    Row(
        lambda: connection_reset(T),
        f"connection_reset({T})",
        returns(7),
        error(f"ConnectionResetError: [Errno {errno.ECONNRESET}] Connection reset by peer: {T}"),
    ),
    Row(
        lambda: dns_failure(T),
        f"dns_failure({T})",
        returns(7),
        error(f"gaierror: [Errno -2] Name or service not known: {T}"),
    ),
    Row(
        lambda: rate_limited(T),
        f"rate_limited({T}, retry_after=30.0s)",
        returns(7),
        error("HTTPFaultError: 429 Too Many Requests"),
    ),
    Row(lambda: auth_failure(T), f"auth_failure({T}, 401)", returns(7), error("HTTPFaultError: 401 Unauthorized")),
    Row(lambda: partial_response(T), f"partial_response({T}, 0.5)", returns("kettle"), gives("ket")),
    Row(
        lambda: intermittent_http_error(T),
        f"intermittent_http_error({T}, every 3, 503)",
        third(7),
        gives("HTTPFaultError: 503 Service Unavailable"),
    ),
    Row(lambda: contended_call(T), f"contended_call({T}, 0.05s, simulate)", returns(7), gives(7)),
    Row(lambda: delayed_release(T), f"delayed_release({T}, 0.5s, simulate)", returns(7), gives(7)),
    Row(lambda: thread_boundary(T), f"thread_boundary({T})", returns(7), gives(7)),
    Row(lambda: locked(SQL), f"locked({SQL})", query, error("OperationalError: database is locked"), SQL),
    Row(lambda: deadlock(SQL), f"deadlock({SQL})", query, error("OperationalError: deadlock detected"), SQL),
    Row(lambda: commit_failure(SQL), f"commit_failure({SQL})", commit, error("OperationalError: disk I/O error"), SQL),
    Row(
        lambda: lost_connection(SQL),
        f"lost_connection({SQL})",
        query,
        error("ProgrammingError: Cannot operate on a closed database."),
        SQL,
    ),
    Row(lambda: slow_query(SQL), f"slow_query({SQL}, 1.0s, simulate)", query, gives(7), SQL),
    Row(lambda: stale_state(SERVICE, "state", "stale"), "stale_state(Service.state)", state, gives("stale"), ""),
]
if has_gil():
    ROWS.append(
        Row(
            lambda: fail_nth("shop_app.api.receipt", 1),
            "fail_nth(shop_app.api.receipt, 1)",
            lambda: sys.modules["shop_app.api"].receipt(7),
            error("MemoryError: "),
            "shop_app.api.receipt",
        )
    )

each_row = pytest.mark.parametrize("row", ROWS, ids=[row.name.partition("(")[0] for row in ROWS])


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    with shop_app() as modules:
        yield modules


def another(row: Row) -> Fault:
    """A fault on the same target that changes nothing."""
    if row.call is state:
        return stale_state(SERVICE, "state", "another")
    return PatchFault(row.target, lambda original: original, name="another")


def test_there_is_a_row_for_every_fault() -> None:
    missing = set() if has_gil() else {"fail_nth"}
    assert {row.name.partition("(")[0] for row in ROWS} | missing == {entry["name"] for entry in catalog()}


@each_row
def test_the_name(row: Row) -> None:
    assert row.make().name == row.name


@each_row
def test_the_effect_is_there_while_it_is_on(row: Row) -> None:
    without, fault = outcome(row.call), row.make()
    for _ in range(2):
        with fault:
            assert row.on(outcome(row.call))
            assert fault.observation_hits or row.call is state
        assert outcome(row.call) == without
        fault.reset()
        assert (fault.active, fault.observation_hits, fault.is_unwound) == (False, 0, True)


@each_row
@pytest.mark.parametrize("is_first_on", [True, False])
@pytest.mark.parametrize("is_first_off", [True, False])
def test_it_nests_with_another_fault_in_any_order(row: Row, is_first_on: bool, is_first_off: bool) -> None:
    without, fault, other = outcome(row.call), row.make(), another(row)
    with ExitStack() as stack:
        # Whatever fails here, the program that runs the tests must not keep a full disk.
        stack.callback(release, [fault, other])
        for each in (fault, other) if is_first_on else (other, fault):
            each.activate()
        if is_first_off:
            fault.deactivate()
            assert row.call is state or outcome(row.call) == without
            other.deactivate()
        else:
            other.deactivate()
            assert row.on(outcome(row.call))
            fault.deactivate()
        assert outcome(row.call) == without


@each_row
def test_a_leak_is_named(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = row.make()
    if fault is CORRUPT:
        assert fault.is_unwound, "it patches nothing that could be left"
        return
    with fault, monkeypatch.context() as patched:
        patched.setattr(fault, "_do_deactivate", lambda: None)
        found = outcome(lambda: release([fault]))
        patched.undo()
        fault._do_deactivate()
    assert found.startswith(f"FaultError: fault {row.name!r} is still in effect after reset()\nhint: ")
    release([fault])


@each_row
def test_it_can_be_sent_to_another_process(row: Row) -> None:
    fault = row.make()
    if isinstance(fault, MultiPatchFault):
        fault.limited(probability=0.5, calls=(2, None))
    with fault:
        pass
    there = pickle.loads(pickle.dumps(fault))
    assert (type(there), there.name, there.active) == (type(fault), fault.name, False)
    assert copy.deepcopy(fault) is fault


@each_row
def test_limits_let_calls_pass(row: Row) -> None:
    without, fault = outcome(row.call), row.make()
    if not isinstance(fault, MultiPatchFault):
        assert not hasattr(fault, "limited")
        return
    with fault.limited(calls=(4, 6)):
        assert fault.name == f"{row.name}[calls 4..6]"
        while fault.observation_hits < 3:
            assert outcome(row.call) == without
        assert row.on(outcome(row.call))
        while fault.observation_hits < 6:
            outcome(row.call)
        assert outcome(row.call) == without


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: timeout(T, 2), f"timeout({T}, 2s)"),
        (lambda: slow(T, 0.5, "real"), f"slow({T}, 0.5s, real)"),
        (lambda: subprocess_exit("git", returncode=3), "subprocess_exit('git', returncode=3)"),
        (lambda: wrong_shape(T, [4], []), f"wrong_shape({T}, (4,)->())"),
        (lambda: missing_feature(T), f"missing_feature({T}, key=None)"),
        (lambda: corrupted_floats("-inf"), "corrupted_floats(-inf)"),
        (lambda: rate_limited(T, 1), f"rate_limited({T}, retry_after=1s)"),
        (lambda: stale_state(SimpleNamespace(a=1), "a", 0), "stale_state(SimpleNamespace.a)"),
    ],
)
def test_the_name_tells_the_arguments(make: Callable[[], Fault], name: str) -> None:
    assert make().name == name
