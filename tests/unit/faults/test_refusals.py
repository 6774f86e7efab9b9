"""What each factory of faults says to a wrong value of each of its arguments."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import pytest

from ordeal.errors import FaultError
from ordeal.faults import catalog
from ordeal.faults.concurrency import contended_call, delayed_release, stale_state, thread_boundary
from ordeal.faults.database import commit_failure, deadlock, locked, lost_connection, slow_query
from ordeal.faults.io import (
    corrupt_output,
    corrupt_stdout,
    error_on_call,
    return_empty,
    subprocess_delay,
    subprocess_exit,
    subprocess_signal,
    subprocess_timeout,
    subprocess_truncate_stderr,
    subprocess_truncate_stdout,
    truncate_output,
)
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

T = "shop_app.api.charge"


class Service:
    state = "fresh"


SERVICE = Service()

PATH_HINT = 'hint: write the module and the attribute, for example "shop.api.charge" or "shop.api.Client.send"'
NO_PATH = f"the target of a fault must be a dotted path, got 'charge'\n{PATH_HINT}"
SECONDS_HINT = "hint: write a number of seconds that is not negative"
FRACTION_HINT = "hint: write a number between 0 and 1"
COMMAND_HINT = 'hint: write a part of the command that starts the child, such as "git push"'
CLASS_HINT = "hint: give a class of exceptions, such as TimeoutError"
OUTPUT_HINT = "hint: write a text, bytes, or None"
STATUS_HINT = "hint: write a status code of HTTP, from 100 to 599"
WORD: Any = "2"

FAILING: list[Any] = [locked, deadlock, commit_failure]

# What each factory says to a wrong value of each of its arguments.
REFUSALS: dict[str, dict[str, tuple[Callable[[], object], str]]] = {
    "timeout": {
        "target": (lambda: timeout("charge"), NO_PATH),
        "delay": (lambda: timeout(T, WORD), f"timeout() got the delay '2'\n{SECONDS_HINT}"),
        "error": (lambda: timeout(T, error=WORD), f"timeout() got the error '2'\n{CLASS_HINT}"),
    },
    "slow": {
        "target": (lambda: slow("charge"), NO_PATH),
        "delay": (lambda: slow(T, -1), f"slow() got the delay -1\n{SECONDS_HINT}"),
        "mode": (
            lambda: slow(T, mode="now"),
            'slow() has no mode \'now\'\nhint: write mode="simulate" or mode="real"',
        ),
    },
    "intermittent_crash": {
        "target": (lambda: intermittent_crash("charge"), NO_PATH),
        "every_n": (
            lambda: intermittent_crash(T, WORD),
            "intermittent_crash() got every_n='2'\nhint: write 1 to fail at every call, or more",
        ),
        "error": (
            lambda: intermittent_crash(T, error=UnicodeEncodeError),
            (
                "intermittent_crash() cannot make a UnicodeEncodeError of a text: function takes exactly 5 arguments "
                "(1 given)\nhint: give a class of its own that needs one argument, or raise the error in the wrapper "
                "of a PatchFault"
            ),
        ),
    },
    "jitter": {
        "target": (lambda: jitter("charge"), NO_PATH),
        "magnitude": (lambda: jitter(T, WORD), "jitter() got the magnitude '2'\nhint: write a number"),
    },
    "error_on_call": {
        "target": (lambda: error_on_call("charge"), NO_PATH),
        "error": (lambda: error_on_call(T, WORD), f"error_on_call() got the error '2'\n{CLASS_HINT}"),
        "message": (
            lambda: error_on_call(T, message=2),  # type: ignore[arg-type]
            "error_on_call() got the message 2\nhint: write a text",
        ),
    },
    "return_empty": {"target": (lambda: return_empty("charge"), NO_PATH)},
    "corrupt_output": {"target": (lambda: corrupt_output("charge"), NO_PATH)},
    "truncate_output": {
        "target": (lambda: truncate_output("charge"), NO_PATH),
        "fraction": (lambda: truncate_output(T, WORD), f"truncate_output() got the fraction '2'\n{FRACTION_HINT}"),
    },
    "disk_full": {},
    "permission_denied": {},
    "subprocess_timeout": {
        "target": (lambda: subprocess_timeout(None), f"subprocess_timeout() got the target None\n{COMMAND_HINT}"),  # type: ignore[arg-type]
        "timeout_sec": (
            lambda: subprocess_timeout("git", timeout_sec=-1),
            f"subprocess_timeout() got the timeout_sec -1\n{SECONDS_HINT}",
        ),
    },
    "subprocess_exit": {
        "target": (lambda: subprocess_exit(7), f"subprocess_exit() got the target 7\n{COMMAND_HINT}"),  # type: ignore[arg-type]
        "returncode": (
            lambda: subprocess_exit("git", returncode=WORD),
            "subprocess_exit() got returncode='2'\nhint: write a whole number",
        ),
        "stdout": (
            lambda: subprocess_exit("git", stdout=7),  # type: ignore[arg-type]
            f"subprocess_exit() got the stdout 7\n{OUTPUT_HINT}",
        ),
        "stderr": (
            lambda: subprocess_exit("git", stderr=7),  # type: ignore[arg-type]
            f"subprocess_exit() got the stderr 7\n{OUTPUT_HINT}",
        ),
    },
    "subprocess_signal": {
        "target": (lambda: subprocess_signal(7), f"subprocess_signal() got the target 7\n{COMMAND_HINT}"),  # type: ignore[arg-type]
        "signum": (
            lambda: subprocess_signal("git", signum=0),
            "subprocess_signal() got signum=0\nhint: write 1 or more",
        ),
        "stdout": (
            lambda: subprocess_signal("git", stdout=7),  # type: ignore[arg-type]
            f"subprocess_signal() got the stdout 7\n{OUTPUT_HINT}",
        ),
        "stderr": (
            lambda: subprocess_signal("git", stderr=7),  # type: ignore[arg-type]
            f"subprocess_signal() got the stderr 7\n{OUTPUT_HINT}",
        ),
    },
    "subprocess_truncate_stdout": {
        "target": (
            lambda: subprocess_truncate_stdout(7),  # type: ignore[arg-type]
            f"subprocess_truncate_stdout() got the target 7\n{COMMAND_HINT}",
        ),
        "fraction": (
            lambda: subprocess_truncate_stdout("git", 2),
            f"subprocess_truncate_stdout() got the fraction 2\n{FRACTION_HINT}",
        ),
    },
    "subprocess_truncate_stderr": {
        "target": (
            lambda: subprocess_truncate_stderr(7),  # type: ignore[arg-type]
            f"subprocess_truncate_stderr() got the target 7\n{COMMAND_HINT}",
        ),
        "fraction": (
            lambda: subprocess_truncate_stderr("git", -0.5),
            f"subprocess_truncate_stderr() got the fraction -0.5\n{FRACTION_HINT}",
        ),
    },
    "corrupt_stdout": {
        "target": (lambda: corrupt_stdout(7), f"corrupt_stdout() got the target 7\n{COMMAND_HINT}"),  # type: ignore[arg-type]
    },
    "subprocess_delay": {
        "target": (lambda: subprocess_delay(7), f"subprocess_delay() got the target 7\n{COMMAND_HINT}"),  # type: ignore[arg-type]
        "delay": (lambda: subprocess_delay("git", delay=-1), f"subprocess_delay() got the delay -1\n{SECONDS_HINT}"),
    },
    "nan_injection": {"target": (lambda: nan_injection("charge"), NO_PATH)},
    "inf_injection": {"target": (lambda: inf_injection("charge"), NO_PATH)},
    "wrong_shape": {
        "target": (lambda: wrong_shape("charge", (1,), (2,)), NO_PATH),
        "expected": (
            lambda: wrong_shape(T, WORD, (2,)),
            "wrong_shape() got expected='2'\nhint: write a tuple of sizes, such as (2, 3)",
        ),
        "actual": (
            lambda: wrong_shape(T, (2,), (-1,)),
            "wrong_shape() got actual=(-1,)\nhint: write a tuple of sizes, such as (2, 3)",
        ),
    },
    "dtype_drift": {
        "target": (lambda: dtype_drift("charge"), NO_PATH),
        "kind": (
            lambda: dtype_drift(T, ["int"]),  # type: ignore[arg-type]
            "dtype_drift() has no kind ['int']\nhint: write one of str, int, bool, object",
        ),
    },
    "partial_batch": {
        "target": (lambda: partial_batch("charge"), NO_PATH),
        "fraction": (lambda: partial_batch(T, WORD), f"partial_batch() got the fraction '2'\n{FRACTION_HINT}"),
        "min_items": (
            lambda: partial_batch(T, min_items=-1),
            "partial_batch() got min_items=-1\nhint: write 0 or more",
        ),
    },
    "feature_order_drift": {
        "target": (lambda: feature_order_drift("charge"), NO_PATH),
        "shift": (
            lambda: feature_order_drift(T, shift=WORD),
            "feature_order_drift() got shift='2'\nhint: write a whole number",
        ),
    },
    # Any key and any value to fill in may be meant.
    "missing_feature": {"target": (lambda: missing_feature("charge"), NO_PATH)},
    "corrupted_floats": {
        "corrupt_type": (
            lambda: corrupted_floats("zero"),
            "corrupted_floats() has no type 'zero'\nhint: write one of nan, inf, -inf, max, min",
        ),
    },
    "http_error": {
        "target": (lambda: http_error("charge"), NO_PATH),
        "status_code": (lambda: http_error(T, WORD), f"http_error() got status_code='2'\n{STATUS_HINT}"),
        "message": (
            lambda: http_error(T, message=2),  # type: ignore[arg-type]
            "http_error() got the message 2\nhint: write a text",
        ),
    },
    "connection_reset": {"target": (lambda: connection_reset("charge"), NO_PATH)},
    "dns_failure": {"target": (lambda: dns_failure("charge"), NO_PATH)},
    "rate_limited": {
        "target": (lambda: rate_limited("charge"), NO_PATH),
        "retry_after": (lambda: rate_limited(T, WORD), f"rate_limited() got the retry_after '2'\n{SECONDS_HINT}"),
    },
    "auth_failure": {
        "target": (lambda: auth_failure("charge"), NO_PATH),
        "status_code": (lambda: auth_failure(T, 99), f"auth_failure() got status_code=99\n{STATUS_HINT}"),
    },
    "partial_response": {
        "target": (lambda: partial_response("charge"), NO_PATH),
        "fraction": (lambda: partial_response(T, 1.5), f"partial_response() got the fraction 1.5\n{FRACTION_HINT}"),
    },
    "intermittent_http_error": {
        "target": (lambda: intermittent_http_error("charge"), NO_PATH),
        "every_n": (
            lambda: intermittent_http_error(T, 0),
            "intermittent_http_error() got every_n=0\nhint: write 1 to fail at every call, or more",
        ),
        "status_code": (
            lambda: intermittent_http_error(T, status_code=600),
            f"intermittent_http_error() got status_code=600\n{STATUS_HINT}",
        ),
        "message": (
            lambda: intermittent_http_error(T, message=2),  # type: ignore[arg-type]
            "intermittent_http_error() got the message 2\nhint: write a text",
        ),
    },
    "contended_call": {
        "target": (lambda: contended_call("charge"), NO_PATH),
        "contention": (
            lambda: contended_call(T, WORD),
            f"contended_call() got the contention '2'\n{SECONDS_HINT}",
        ),
        "mode": (
            lambda: contended_call(T, mode="now"),
            'contended_call() has no mode \'now\'\nhint: write mode="simulate" or mode="real"',
        ),
    },
    "delayed_release": {
        "target": (lambda: delayed_release("charge"), NO_PATH),
        "delay": (lambda: delayed_release(T, WORD), f"delayed_release() got the delay '2'\n{SECONDS_HINT}"),
        "mode": (
            lambda: delayed_release(T, mode="now"),
            'delayed_release() has no mode \'now\'\nhint: write mode="simulate" or mode="real"',
        ),
    },
    "thread_boundary": {
        "target": (lambda: thread_boundary("charge"), NO_PATH),
        "timeout": (lambda: thread_boundary(T, WORD), f"thread_boundary() got the timeout '2'\n{SECONDS_HINT}"),
    },
    # Any object and any value may be meant.
    "stale_state": {
        "attr": (
            lambda: stale_state(SERVICE, 5, "stale"),  # type: ignore[arg-type]
            "stale_state() got the attribute 5\nhint: write the name of the attribute",
        ),
    },
    **{
        make.__name__: {
            "target": (functools.partial(make, "charge"), NO_PATH),
            "message": (
                functools.partial(make, T, message=2),
                f"{make.__name__}() got the message 2\nhint: write a text",
            ),
            "error": (functools.partial(make, T, error=WORD), f"{make.__name__}() got the error '2'\n{CLASS_HINT}"),
        }
        for make in FAILING
    },
    "lost_connection": {"target": (lambda: lost_connection("charge"), NO_PATH)},
    "slow_query": {
        "target": (lambda: slow_query("charge"), NO_PATH),
        "delay": (lambda: slow_query(T, WORD), f"slow_query() got the delay '2'\n{SECONDS_HINT}"),
        "mode": (
            lambda: slow_query(T, mode="now"),
            'slow_query() has no mode \'now\'\nhint: write mode="simulate" or mode="real"',
        ),
    },
}
ANYTHING_GOES = {"missing_feature": {"key", "fill"}, "stale_state": {"obj", "stale_value"}}


def test_every_argument_of_every_fault_has_a_refusal() -> None:
    for factory in catalog():
        name = factory["name"]
        arguments = set(inspect.signature(getattr(sys.modules[factory["module"]], name)).parameters)
        assert set(REFUSALS[name]) == arguments - ANYTHING_GOES.get(name, set())


@pytest.mark.parametrize(
    ("make", "text"),
    [
        pytest.param(make, text, id=f"{factory}-{argument}")
        for factory, refusals in REFUSALS.items()
        for argument, (make, text) in refusals.items()
    ],
)
def test_a_wrong_argument_is_refused(make: Callable[[], object], text: str) -> None:
    with pytest.raises(FaultError) as refused:
        make()
    assert str(refused.value) == text
