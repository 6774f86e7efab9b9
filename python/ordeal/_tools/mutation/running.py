"""Has mutants judged by the pytest suite of a project, in an interpreter of its own: this process runs none of it."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ordeal._base.trace_file import write_atomically
from ordeal._native import monotonic
from ordeal._tools.mutation.forks import MEMORY_MIB
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.own_process import ORDER, judging
from ordeal._tools.mutation.sandbox import NoVerdictError, sandbox
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import WORDS, Verdict, Word

_DELETES = "delete_statement"
#: How many judges may be lost: each new one runs all tests without a mutant first.
_LOST_MAX = 5
_JUDGE = "ordeal._tools.mutation.pytest_judge"


@dataclass
class Judgement:
    """What became of all mutants, in their order.

    Attributes:
        tests: how many tests passed without a mutant, and may notice one.
        names: all tests that pytest collected.
        reached: the files of which tests run anything, or import.
        flaky: tests that did not pass twice, and saved failures that still fail; they judge nothing.
        seconds: how long all took, and ``cpu_seconds`` of all processes.
        drawn_from: how many mutants there are, where those judged are a sample; else 0.
        suite_seconds: how long all tests take one after another without a mutant.
        switched_off: the plugins that a project asks for and that no mutant is judged with.
        imports_anew: a test that fails in a fork of the imported program, where each mutant is imported because of it.
        baseline_seconds: the part of both before the first mutant.
        left_out: how many more there are of each kind that is not judged: ``equivalent`` ones compile to the code of
            the original, ``duplicate`` ones to that of another mutant, and ``accepted`` ones have a reason.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    tests: int = 0
    names: list[str] = field(default_factory=list)
    flaky: list[str] = field(default_factory=list)
    reached: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    suite_seconds: float = 0.0
    switched_off: list[str] = field(default_factory=list)
    imports_anew: str = ""
    baseline_seconds: float = 0.0
    baseline_cpu_seconds: float = 0.0
    was_interrupted: bool = False
    is_over_budget: bool = False
    left_out: dict[str, int] = field(default_factory=dict)
    drawn_from: int = 0


@dataclass
class BegunJudge:
    """A judge that collects the tests and runs them without a mutant, while its mutants are still being made.

    Attributes:
        messages: what it says.
        mutants: the file in which it waits for them.
        tests: what pytest is given.
        since: when it began, and ``cpu`` what ended processes had taken until then.
        until: when its time is over.
    """

    messages: Iterator[dict[str, Any]]
    mutants: Path
    tests: Sequence[str]
    since: float
    cpu: float
    until: float | None

    def give(self, mutants: Sequence[Mutant]) -> None:
        """Let it judge these.

        Raises:
            NoVerdictError: they cannot be written.
        """
        ordered = mutants if self.until is None else by_line(mutants)
        try:
            write_atomically(self.mutants, json.dumps([dataclasses.asdict(each) for each in ordered]).encode())
        except OSError as error:
            raise NoVerdictError(
                f"the mutants cannot be written to the folder of temporary files: {error.strerror}",
                hint="see that it has room, and that no test empties it",
            ) from None


@contextmanager
def begun_judge(
    sources: Sequence[Source],
    *,
    tests: Sequence[str],
    folder: Path,
    workers: int,
    isolation: str = "batch",
    route: str = "auto",
    budget: float | None = None,
    memory: int = MEMORY_MIB,
    seconds: float | None = None,
    leave_out_failing: bool = False,
    passed: Sequence[str] = (),
) -> Iterator[BegunJudge]:
    """Begin to judge by a pytest suite, with the options of ``judge_with_pytest``. It ends with the block."""
    since, cpu = monotonic(), _children_cpu()
    with sandbox(folder, passed, limit=memory) as here:
        waited_for = here.place / "mutants.json"
        order = {
            "sources": [[here.seen(source.path), source.shown] for source in sources],
            "mutants": str(waited_for),
            "tests": [here.seen(each) if Path(each).is_absolute() else each for each in tests],
            "workers": workers,
            "isolation": isolation,
            "route": "import" if isolation == "spawn" else route,
            "left": str(here.place / "left.json"),
            "memory": memory,
            "seconds": seconds,
            "leave_out_failing": leave_out_failing,
        }
        path = here.place / ORDER
        path.write_text(json.dumps(order), "utf-8")
        until = None if budget is None else since + budget
        with judging(_JUDGE, path, here, until) as messages:
            yield BegunJudge(messages, waited_for, tests, since, cpu, until)


def judge_with_pytest(
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    *,
    early: BegunJudge | None = None,
    begun: Callable[[Judgement], None] = lambda _: None,
    progress: Callable[[Verdict], None] = lambda _: None,
    beginning: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> Judgement:
    """Judge mutants by a pytest suite. ``tests`` are arguments of pytest; ``progress`` is told each verdict.

    ``begun`` is told, before the first of them, what the tests are without a mutant, and ``beginning``, once a second
    until then, how far they are. A judge that has begun ``early``
    has its options already.

    The ``route`` is how a mutant comes into the program: ``swap`` in memory alone, ``import`` by importing it, each
    mutant in a process of its own, and ``auto`` as the place of the mutant needs. ``isolation`` says how many share a
    process; ``spawn`` is none, by importing.

    A mutant may take ``memory`` MiB more than the original has when its tests are collected.

    Each mutant gets ``seconds``, or as long as its tests on the original let expect. With ``leave_out_failing`` tests
    that fail on the original judge nothing; otherwise there is no verdict.

    After ``budget`` seconds those that have no verdict are left: one mutant of each line is judged before all others.

    Raises:
        NoVerdictError: the tests fail without a mutant, or cannot say anything.
    """
    with ExitStack() as stack:
        judge = early or stack.enter_context(begun_judge(sources, **options))
        run = _Run(mutants, begun, progress, beginning)
        try:
            is_lost = run.judge(judge, mutants)
            while is_lost and run.may_ask_again():
                # One mutant after another, in a fork for each: so it is known which one the judge did not outlive.
                alone = {**options, "isolation": "fork", "workers": 1}
                with begun_judge(sources, **alone) as again:
                    is_lost = run.judge(again, run.left())
        except KeyboardInterrupt:
            run.judgement.was_interrupted = True
        return run.ended(judge)


class _Run:
    """What one judge says, or several where one was lost."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        begun: Callable[[Judgement], None],
        progress: Callable[[Verdict], None],
        beginning: Callable[[str], None],
    ) -> None:
        self.judgement = Judgement()
        self._mutants, self._begun, self._progress, self._beginning = mutants, begun, progress, beginning
        self._found: dict[str, Verdict] = {}
        self._lost = 0

    def left(self) -> list[Mutant]:
        """Return those that have no verdict."""
        return [mutant for mutant in self._mutants if mutant.id not in self._found]

    def may_ask_again(self) -> bool:
        """Return whether a lost judge is replaced: if the tests pass, and it has not happened too often."""
        return bool(self.judgement.tests and self.left()) and self._lost < _LOST_MAX

    def judge(self, judge: BegunJudge, mutants: Sequence[Mutant]) -> bool:
        """Give a judge mutants, and take what it says of them. Return whether it was lost."""
        by_id, asked, is_lost = {mutant.id: mutant for mutant in mutants}, "", True
        judge.give(mutants)
        for message in judge.messages:
            verdict = _take(message, self.judgement, by_id)
            asked = str(message.get("asked", asked))
            if "beginning" in message:
                self._beginning(str(message["beginning"]))
            if "baseline" in message and not self._lost:
                self.judgement.baseline_seconds = monotonic() - judge.since
                self._begun(self.judgement)
            if verdict is not None:
                self._found[verdict.mutant.id] = verdict
                self._progress(verdict)
            is_lost = is_lost and "done" not in message
        if not is_lost or (judge.until is not None and monotonic() >= judge.until):
            return False
        self._lost += 1
        if self._lost > 1 and asked in by_id and asked not in self._found:
            self._found[asked] = Verdict(by_id[asked], "not run", note="the process that judges it is lost each time")
            self._progress(self._found[asked])
        return True

    def ended(self, judge: BegunJudge) -> Judgement:
        """Return what was said, with the mutants that have no verdict."""
        return _completed(self.judgement, self._mutants, self._found, judge)


def _completed(
    judgement: Judgement, mutants: Sequence[Mutant], found: dict[str, Verdict], judge: BegunJudge
) -> Judgement:
    judgement.is_over_budget = len(found) < len(mutants) and judge.until is not None and monotonic() >= judge.until
    note = "over budget" if judgement.is_over_budget and not judgement.was_interrupted else ""
    judgement.verdicts = [found.get(mutant.id, Verdict(mutant, "not run", note=note)) for mutant in mutants]
    judgement.seconds, judgement.cpu_seconds = monotonic() - judge.since, _children_cpu() - judge.cpu
    if not judgement.tests and note:
        raise NoVerdictError("the budget is over before the first mutant", hint="give a longer `--budget`")
    if not judgement.tests and not judgement.was_interrupted:
        shown = shlex.join(["python", "-m", "pytest", *judge.tests])
        raise NoVerdictError("the process that judges ended without an answer", hint=f"`{shown}` shows why")
    return judgement


def by_line(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the mutants such that one of each line comes first, then the second ones.

    A statement that is gone says more than an operator that is another one, and that more than another constant.
    """
    seen: Counter[tuple[str, int]] = Counter()
    ranks = {}
    for mutant in sorted(mutants, key=_worth):
        ranks[mutant.id] = seen[mutant.shown, mutant.line], _worth(mutant)
        seen[mutant.shown, mutant.line] += 1
    return sorted(mutants, key=lambda mutant: ranks[mutant.id])


def _worth(mutant: Mutant) -> int:
    """Return how early a mutant of a line is tried."""
    return {_DELETES: 0, "boundary": 2, "constant": 2, "string": 2}.get(mutant.operator, 1)


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _take(message: dict[str, Any], judgement: Judgement, by_id: dict[str, Mutant]) -> Verdict | None:
    if "refused" in message:
        why, *more = map(str, message["refused"])
        raise NoVerdictError(why, hint=more[0].strip().splitlines()[-1] if more and more[0].strip() else None)
    if "baseline" in message:
        judgement.tests, judgement.flaky = int(message["baseline"]), [str(each) for each in message["flaky"]]
        judgement.reached = [str(each) for each in message["reached"]]
        judgement.names = [str(each) for each in message["names"]]
        judgement.baseline_cpu_seconds = float(message["cpu"])
        judgement.suite_seconds = float(message["seconds"])
        judgement.switched_off = [str(each) for each in message["switched off"]]
        judgement.imports_anew = str(message["imports"])
    if message.get("verdict") in WORDS and message.get("id") in by_id:
        return Verdict(
            by_id[message["id"]],
            cast("Word", message["verdict"]),
            str(message.get("killer", "")),
            int(message.get("tests", 0)),
            str(message.get("route", "")),
            str(message.get("note", "")),
            str(message.get("nearest", "")),
            tuple(judgement.names[each] for each in message.get("covering", ())),
            bool(message.get("asserted")),
        )
    return None
