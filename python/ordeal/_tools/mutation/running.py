"""Has mutants judged by the pytest suite of a project, in a separate interpreter: this process runs none of it."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec

from ordeal._native import monotonic
from ordeal._tools.mutation.forks import MEMORY_MIB
from ordeal._tools.mutation.machines.evidence import JudgingMachine, MachineFinding
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.own_process import judging
from ordeal._tools.mutation.sandbox import NoVerdictError, sandbox
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import WORDS, Verdict, Word

_JUDGE = "ordeal._tools.mutation.pytest_judge"
_LOST = "the process that judges ended; the next run goes on from here"


@dataclass
class Judgement:
    """The verdicts on all mutants, in their order.

    Attributes:
        tests: how many tests passed without a mutant, and may notice one.
        names: all tests that pytest collected.
        flaky: tests that did not pass twice, and saved failures that still fail; they judge nothing.
        seconds: how long all took, and ``cpu_seconds`` of all processes.
        drawn_from: how many mutants there are, where those judged are a sample; else 0.
        suite_seconds: how long all tests take one after another without a mutant.
        switched_off: the plugins that a project asks for and that no mutant is judged with.
        left_out: how many more there are of each kind that is not judged: ``equivalent`` ones compile to the code of
            the original, ``duplicate`` ones to that of another mutant, and ``accepted`` ones have a reason.
        machines: those that judged, where machines did, with ``findings`` by the ids of mutants.
        judging_seconds: the time from when their traces were drawn until the last verdict.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    tests: int = 0
    names: list[str] = field(default_factory=list)
    flaky: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    suite_seconds: float = 0.0
    switched_off: list[str] = field(default_factory=list)
    was_interrupted: bool = False
    left_out: dict[str, int] = field(default_factory=dict)
    drawn_from: int = 0
    machines: list[JudgingMachine] = field(default_factory=list)
    findings: dict[str, MachineFinding] = field(default_factory=dict)
    judging_seconds: float = 0.0


class TestOrder(msgspec.Struct):
    """The order for a judge by pytest: the paths and names of files, the mutants, and the arguments of pytest.

    Mutants that must be judged at import go through the file ``left``.
    """

    sources: list[tuple[str, str]]
    mutants: list[Mutant]
    tests: list[str]
    workers: int
    left: str
    memory: int
    leave_out_failing: bool


def judge_with_pytest(
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    *,
    tests: Sequence[str],
    folder: Path,
    workers: int,
    budget: float | None = None,
    memory: int = MEMORY_MIB,
    leave_out_failing: bool = False,
    passed: Sequence[str] = (),
    begun: Callable[[Judgement], None] = lambda _: None,
    progress: Callable[[Verdict], None] = lambda _: None,
    beginning: Callable[[str], None] = lambda _: None,
) -> Judgement:
    """Judge mutants by a pytest suite. ``tests`` are arguments of pytest; ``progress`` is called with each verdict.

    ``begun`` is called before the first of them with what the tests are without a mutant, and ``beginning``, once a
    second until then, with how far they are.

    A mutant may take ``memory`` MiB more than the original has when its tests are collected. With ``leave_out_failing``
    tests that fail on the original judge nothing; otherwise no verdict is possible.

    After ``budget`` seconds those that have no verdict are left: one mutant of each line is judged before all others.

    Raises:
        NoVerdictError: the tests fail without a mutant, or cannot say anything.
    """
    since, cpu = monotonic(), _children_cpu()
    until = None if budget is None else since + budget
    judgement, found = Judgement(), dict[str, Verdict]()
    by_id = {mutant.id: mutant for mutant in mutants}
    try:
        with sandbox(folder, passed, limit=memory) as here:
            order = TestOrder(
                [(here.seen(source.path), source.shown) for source in sources],
                [*mutants] if budget is None else by_line(mutants),
                [here.seen(each) if Path(each).is_absolute() else each for each in tests],
                workers,
                str(here.place / "left.json"),
                memory,
                leave_out_failing,
            )
            with judging(_JUDGE, msgspec.json.encode(order), here, until) as messages:
                for message in messages:
                    if "beginning" in message:
                        beginning(str(message["beginning"]))
                    verdict = _take(message, judgement, by_id)
                    if "baseline" in message:
                        begun(judgement)
                    if verdict is not None:
                        found[verdict.mutant.id] = verdict
                        progress(verdict)
    except KeyboardInterrupt:
        judgement.was_interrupted = True
    is_over_budget = len(found) < len(mutants) and until is not None and monotonic() >= until
    note = "" if judgement.was_interrupted else "over budget" if is_over_budget else _LOST
    judgement.verdicts = [found.get(mutant.id, Verdict(mutant, "not run", note=note)) for mutant in mutants]
    judgement.seconds, judgement.cpu_seconds = monotonic() - since, _children_cpu() - cpu
    if not judgement.tests and is_over_budget:
        raise NoVerdictError("the budget ended before the first mutant", hint="give a longer `--budget`")
    if not judgement.tests and not judgement.was_interrupted:
        shown = shlex.join(["python", "-m", "pytest", *tests])
        raise NoVerdictError("the judging process ended without an answer", hint=f"`{shown}` shows why")
    return judgement


#: A deleted statement says more than a changed operator, and that more than a changed constant.
_RANKS = {"delete_statement": 0, "boundary": 2, "constant": 2, "string": 2}


def by_line(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the mutants ordered so that one of each line comes first, then the second ones."""
    seen: Counter[tuple[str, int]] = Counter()
    ranks = {}
    for mutant in sorted(mutants, key=lambda each: _RANKS.get(each.operator, 1)):
        ranks[mutant.id] = seen[mutant.shown, mutant.line], _RANKS.get(mutant.operator, 1)
        seen[mutant.shown, mutant.line] += 1
    return sorted(mutants, key=lambda mutant: ranks[mutant.id])


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _take(message: dict[str, Any], judgement: Judgement, by_id: dict[str, Mutant]) -> Verdict | None:
    if "baseline" in message:
        judgement.tests, judgement.flaky = int(message["baseline"]), [str(each) for each in message["flaky"]]
        judgement.names = [str(each) for each in message["names"]]
        judgement.suite_seconds = float(message["seconds"])
        judgement.switched_off = [str(each) for each in message["switched off"]]
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
