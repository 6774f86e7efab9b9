"""CPython's own tests of asyncio, on the event loop of simulated runs.

usage: python tools/asyncio_conformance.py [--seeds N] [module ...]

Runs the modules of `test.test_asyncio` that this interpreter came with, where each loop that a test asks for is a
simulated one. Prints a line for each module, and each test that failed; ends with 1 if one failed that `DIFFERENCES`
does not name. With `--seeds`, each module also runs under schedules in which packets are late and steps take time.
"""

from __future__ import annotations

import argparse
import asyncio
import fnmatch
import importlib
import io
import signal
import sys
import unittest
import warnings
from asyncio import base_events
from collections import Counter
from typing import Any

from ordeal.simulate.runtime.decisions import drawn_schedule
from ordeal.simulate.runtime.loop import SimulationLoop

#: The modules that test what any event loop has to do. Those about selectors, pipes and processes are not among them.
MODULES = (
    *("test_locks", "test_queues", "test_tasks", "test_taskgroups", "test_timeouts", "test_streams", "test_runners"),
    *("test_futures", "test_futures2", "test_waitfor", "test_staggered", "test_pep492", "test_context"),
    *("test_eager_task_factory", "test_threads", "test_protocols", "test_buffered_proto", "test_transports"),
    "test_sslproto",
)

#: How long a test may wait, in real seconds.
PATIENCE_S = 10
#: Why a test cannot pass, by the pattern of its name.
_SERVER = "talks to a server on sockets of the system, in another thread"
_KEPT = "a run keeps its tasks, so that none is freed while it waits"
DIFFERENCES = {
    **dict.fromkeys(
        (
            *("test_streams.StreamTests.test_open_*", "test_streams.StreamTests.test_async_writer_api*"),
            *(
                "test_streams.StreamTests.test_*resource_warnings",
                "test_streams.StreamTests.test_wait_closed_on_close*",
            ),
            *("test_streams.StreamTests.test_start_*", "test_streams.StreamTests.test_drain_raises"),
            "test_streams.StreamTests.test_eof_feed_when_closing_writer",
        ),
        _SERVER,
    ),
    "test_streams.StreamTests.test_read_all_from_pipe_reader": "reads a pipe of the system",
    "test_tasks.*.test_stop_while_run_in_complete": "expects the time of the loop that asyncio's own tests use",
    "test_tasks.CoroutineGatherTests.test_issue46672": "replaces a method of asyncio's own loop",
    "test_tasks.*.test_log_destroyed_pending_task": _KEPT,
    "test_futures2.*.test_task_exc_handler_correct_context": _KEPT,
    "test_tasks.RunCoroutineThreadsafeTests.*": "needs a second thread, which no run has",
}


class ConformanceLoop(SimulationLoop):
    """A simulated loop with what these tests look at inside of asyncio's own."""

    seed = 0
    _default_executor = None
    _current_handle = None

    def __init__(self) -> None:
        super().__init__(drawn_schedule(self.seed))

    def advance_time(self, seconds: float) -> None:
        """Let time pass, as asyncio's test loop does."""
        self._move(self._now + seconds)

    def _run_once(self) -> None:
        self._turn()

    # It logs what nobody awaits, which is a failure of a run otherwise.
    default_exception_handler = base_events.BaseEventLoop.default_exception_handler  # type: ignore[assignment]


def make_loop(*_: Any) -> Any:
    """Return a new loop."""
    return ConformanceLoop()  # type: ignore[abstract]


class Policy(asyncio.DefaultEventLoopPolicy):
    """Makes simulated loops."""

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """Return a new loop."""
        return make_loop()  # type: ignore[no-any-return]


def _install() -> None:
    utils = importlib.import_module("test.test_asyncio.utils")
    policy = Policy()
    asyncio.set_event_loop_policy(policy)
    real = asyncio.set_event_loop_policy

    def set_policy(given: Any) -> None:
        real(policy if given is None else given)

    asyncio.set_event_loop_policy = asyncio.events.set_event_loop_policy = set_policy
    # Time is simulated anyway: what the tests say of it is not needed.
    utils.TestLoop = make_loop


def _names(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    tests: list[Any] = []
    for each in suite:
        tests.extend(_names(each) if isinstance(each, unittest.TestSuite) else [each])
    return tests


class LimitedResult(unittest.TextTestResult):
    """A result whose tests end with an error where they wait for ever, as for a thread that there is not."""

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest has named it
        """Begin a test, and its patience."""
        signal.alarm(PATIENCE_S)
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest has named it
        """End a test."""
        signal.alarm(0)
        super().stopTest(test)


def _give_up(number: int, frame: Any) -> None:
    del number, frame
    raise TimeoutError(f"waits for more than {PATIENCE_S} s")


def difference(test: str) -> str | None:
    """Return why a test is not expected to pass; None if it is."""
    return next((why for pattern, why in DIFFERENCES.items() if fnmatch.fnmatchcase(test, pattern)), None)


def run_module(name: str, *, is_verbose: bool) -> tuple[Counter[str], list[str]]:
    """Run a module; return how many tests ended how, and what failed without a reason."""
    module = importlib.import_module(f"test.test_asyncio.{name}")
    loaded = unittest.defaultTestLoader.loadTestsFromModule(module)
    suite, left_out = unittest.TestSuite(), Counter[str]()
    for test in _names(loaded):
        why = difference(test.id().removeprefix("test.test_asyncio."))
        if why is None:
            suite.addTest(test)
        else:
            left_out[why] += 1
    result = unittest.TextTestRunner(io.StringIO(), verbosity=0, resultclass=LimitedResult).run(suite)
    failed = {test.id(): text for test, text in [*result.failures, *result.errors]}
    counts = Counter(
        run=result.testsRun, passed=result.testsRun - len(failed) - len(result.skipped), skipped=len(result.skipped)
    )
    counts["different"] = left_out.total()
    lines = []
    for test, text in failed.items():
        lines.append(test.removeprefix("test.test_asyncio."))
        lines.extend([text] if is_verbose else [f"    {text.strip().splitlines()[-1][:150]}"])
    return counts, lines


def main(arguments: list[str] | None = None) -> int:
    """Run the modules; return 1 if a test failed without a reason."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args(arguments)
    _install()
    signal.signal(signal.SIGALRM, _give_up)
    warnings.simplefilter("ignore")
    failures: list[str] = []
    for name in options.modules or MODULES:
        for seed in range(options.seeds):
            ConformanceLoop.seed = seed
            counts, failed = run_module(name, is_verbose=options.verbose)
            shown = ", ".join(f"{number} {what}" for what, number in counts.items() if what != "run" and number)
            print(f"{name:<24} {shown}" + (f" (seed {seed})" if seed else ""), flush=True)
            print("\n".join(failed), end="\n" if failed else "", flush=True)
            failures += failed
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
