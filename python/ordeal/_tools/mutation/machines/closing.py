"""Closes a survivor: searches a run that a machine fails in on the mutant alone.

It becomes a pytest function that fails on the mutant and passes on the original, and is run on both before it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import msgspec.structs
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.formatting import one_line
from ordeal._base.limits import VALUE_CHARS_MAX
from ordeal._base.trace_file import Trace, TraceFailure
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.export.generated_tests import generate_tests
from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.replay.replayer import Replayed
from ordeal._engine.trace_view.values import sketch_of
from ordeal._native import monotonic
from ordeal._tools.mutation.machines.evidence import HEADER, Closed
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, Swap
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer

SHRINK_SECONDS = 20.0
#: Short searches with different seeds: a failure that the original has too ends what one can find of its kind.
RUNS_A_SEARCH = 400
#: How often a written test must fail on the mutant, and pass on the original, in turns.
TIMES = 10
_HEAD = re.compile(r'def test_\w+\(\):\n( +)""".*?"""\n', re.DOTALL)


class Closing:
    """One survivor, and the machine that is to notice it."""

    def __init__(self, live: LiveFunctions, source: Source, mutant: Mutant, given: Any) -> None:
        self._live, self._source, self._mutant = live, source, mutant
        self._given = given

    @contextmanager
    def broken(self) -> Iterator[Swap]:
        """Put the mutant into the program during a block."""
        swap = Swap(self._live, self._source, self._mutant)
        try:
            yield swap
        finally:
            swap.undo()

    def searched(self, targets: Sequence[str], attribute: str, seed: int, seconds: float) -> Closed:
        """Explore the broken program until a run fails on the mutant alone.

        Every other search takes new values of ``attribute``, which the mutant changes, for something new, and so climbs
        from what differs to what fails.
        """
        deadline, searches = monotonic() + seconds, 0
        while (left := deadline - monotonic()) > 0:
            with self.broken(), self._watched(attribute) if searches % 2 else nullcontext():
                explorer = Explorer(self._given, target_modules=targets, seed=seed + searches, workers=1)
                result = explorer.run(max_runs=RUNS_A_SEARCH, max_time=left, shrink=False)
            searches += 1
            began = monotonic()
            for trace in (each.trace for each in result.failures):
                if trace is None or not self.differs(trace):
                    continue
                closed = self.killed(trace)
                if closed.how == "killed":
                    return msgspec.structs.replace(closed, searched=searches * RUNS_A_SEARCH)
            deadline += monotonic() - began
        return Closed("open", "no run failed on the mutant alone", searched=searches * RUNS_A_SEARCH)

    @contextmanager
    def _watched(self, attribute: str) -> Iterator[None]:
        """Let new values of the attribute count as new, unless the machine has its own number of a state."""
        given, names = self._given, attribute.split(".*")[0].split(".")
        if not attribute or getattr(given, "state_hash", None) is not ChaosTest.state_hash:
            yield
            return

        def state_hash(machine: RuleBasedStateMachine) -> int:
            value: Any = machine
            for name in names:
                value = getattr(value, name, None)
            return sketch_of(value)

        given.state_hash = state_hash
        try:
            yield
        finally:
            del given.state_hash

    def differs(self, trace: Trace) -> bool:
        """Return True if a trace fails on the mutant, and passes on the original."""
        loaded = load_for_replay(trace, self._given)
        with loaded.running(), self.broken():
            failing = loaded.replayer.run(loaded.tape)
        with loaded.running():
            return bool(failing.bucket) and self._is_done(loaded.replayer.run(failing.tape))

    @staticmethod
    def _is_done(replayed: Replayed) -> bool:
        return not replayed.bucket and not replayed.rejected and not replayed.misaligned

    def killed(self, trace: Trace) -> Closed:
        """Shrink a trace that fails on the mutant alone, and write it as a test."""
        loaded = load_for_replay(trace, self._given)

        def shows_it(replayed: Replayed) -> bool:
            if not replayed.bucket:
                return False
            with swap.undone():
                return self._is_done(loaded.replayer.run(replayed.tape))

        with loaded.running(), self.broken() as swap:
            tape = loaded.replayer.run(loaded.tape).tape
            tape = loaded.replayer.shrink_while(tape, shows_it, SHRINK_SECONDS).tape
            recorder = RunRecorder()
            last = loaded.replayer.run(tape, recorder)
        error = last.outcome.error
        if error is None:
            return Closed("open", "what failed does not fail each time")
        small = replace(
            trace,
            steps=recorder.finished_steps(last.tape, loaded.driver.definition),
            failure=TraceFailure.of(error, len(recorder.steps), last.bucket),
            program=recorder.finished_program(),
        )
        with self.broken():
            test = generate_tests([small])
        why = f"{type(error).__name__}: {error}"
        named, kept = self._named(test), small.to_json().decode()
        return self._verified(Closed("killed", why[:300], named, len(recorder.steps), trace=kept))

    def _named(self, test: str) -> str:
        mutant = self._mutant
        change = f"`{_short(mutant.original)}` -> `{_short(mutant.replacement)}`"
        what = f"{mutant.name}, line {mutant.line} of {mutant.shown}: {change}"
        text = f'def test_kills_{mutant.id}():\n    """{what}"""\n'
        return HEADER + _HEAD.sub(lambda _: text, test.split("\n", 1)[1], count=1)

    def _verified(self, closed: Closed) -> Closed:
        """Run the test on the mutant and on the original, in turns that change places."""
        space: dict[str, Any] = {"__name__": "written"}
        exec(compile(closed.test, "<written>", "exec"), space)
        test: Callable[[], None] = next(each for name, each in space.items() if name.startswith("test_"))
        failed = passed = 0
        for turn in range(TIMES):
            for is_broken in (True, False) if turn % 2 else (False, True):
                if is_broken:
                    with self.broken():
                        failed += not _passes(test)
                else:
                    passed += _passes(test)
        verified = msgspec.structs.replace(closed, failed=failed, passed=passed)
        if (failed, passed) == (TIMES, TIMES):
            return verified
        why = f"the test failed on the mutant {failed} of {TIMES} times, and passed on the original {passed} of {TIMES}"
        return msgspec.structs.replace(verified, how="open", why=why, test="")


def _short(code: str) -> str:
    """Return code as a part of a docstring."""
    text = one_line(" ".join(code.split())).replace("\\", "").replace('"', "'")
    return text if len(text) <= VALUE_CHARS_MAX else f"{text[: VALUE_CHARS_MAX - 3]}..."


def _passes(test: Callable[[], None]) -> bool:
    try:
        test()
    except BaseException:  # noqa: BLE001 - with any error it does not pass
        return False
    return True
