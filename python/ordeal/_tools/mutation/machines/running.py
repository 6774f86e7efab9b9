"""Start the process in which machines judge mutants, collect its verdicts, and keep those of the last run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from ordeal._native import monotonic
from ordeal._tools.mutation.machines.evidence import Closed, JudgingMachine, MachineFinding, MachineOptions, Order
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.own_process import judging
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.sandbox import NoVerdictError, sandbox
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict

_JUDGE = "ordeal._tools.mutation.machines.judge_process"
_KILLER = "ordeal._tools.mutation.machines.kill_process"


def judge_with_machines(
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    options: MachineOptions,
    *,
    folder: Path,
    progress: Callable[[Verdict], None] = lambda _: None,
) -> Judgement:
    """Judge mutants by machines. ``progress`` receives each verdict.

    Raises:
        NoVerdictError: no machine can be explored, or none runs the program.
    """
    began, judgement = monotonic(), Judgement()
    by_id = {mutant.id: mutant for mutant in mutants}
    judging_since = began
    try:
        with _asked(_JUDGE, sources, mutants, options, folder) as messages:
            for message in messages:
                if "machine" in message:
                    judging_since = monotonic()
                elif "judged" in message:
                    judgement.judging_seconds = monotonic() - judging_since
                    judgement.cpu_seconds = message["cpu"]
                for verdict in _take(message, judgement, by_id):
                    progress(verdict)
    except KeyboardInterrupt:
        judgement.was_interrupted = True
    # In the order of the mutants, no matter which process was first.
    findings = {mutant.id: judgement.findings[mutant.id] for mutant in mutants if mutant.id in judgement.findings}
    judgement.findings = findings
    judgement.verdicts = [
        verdict_of(mutant, findings[mutant.id]) if mutant.id in findings else Verdict(mutant, "not run")
        for mutant in mutants
    ]
    judgement.seconds = monotonic() - began
    if not findings and not judgement.was_interrupted:
        raise _unanswered()
    return judgement


def close_with_machines(
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    options: MachineOptions,
    *,
    folder: Path,
    budget: float,
) -> Iterator[tuple[Mutant, Closed]]:
    """Search runs in which machines notice mutants, at most ``budget`` seconds in all.

    Yield each when it is closed, or is left open.

    Raises:
        NoVerdictError: no machine can be explored, or none runs the program.
    """
    by_id = {mutant.id: mutant for mutant in mutants}
    with _asked(_KILLER, sources, mutants, options, folder, budget) as messages:
        for message in messages:
            if "closed" in message and message.get("id") in by_id:
                yield by_id.pop(message["id"]), msgspec.convert(message["closed"], Closed)
    if by_id:
        raise _unanswered()


def verdict_of(mutant: Mutant, finding: MachineFinding) -> Verdict:
    """Return a finding as the verdict that reports of all judges show."""
    kill = finding.kills[0] if finding.kills else None
    return Verdict(
        mutant,
        finding.word,
        kill.by if kill is not None else "",
        finding.replays,
        "machine",
        finding.note or finding.why_it_survived,
        asserted=kill is not None and kill.kind == "assertion",
    )


@contextmanager
def _asked(
    module: str,
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    options: MachineOptions,
    folder: Path,
    budget: float = 0.0,
) -> Iterator[Iterator[dict[str, Any]]]:
    """Give an order to a separate process, and yield its answers, until it refuses."""
    with sandbox(folder, options.passed, limit=options.memory) as here:
        order = Order([(here.seen(each.path), each.shown) for each in sources], [*mutants], options, budget)
        with judging(module, msgspec.json.encode(order), here) as messages:
            yield messages


def _unanswered() -> NoVerdictError:
    return NoVerdictError("the judging process ended without an answer", hint="`ordeal explore` shows why")


def _take(message: dict[str, Any], judgement: Judgement, by_id: dict[str, Mutant]) -> Iterator[Verdict]:
    with suppress(msgspec.ValidationError):
        if "machine" in message:
            judgement.machines.append(msgspec.convert(message["machine"], JudgingMachine))
        for finding in msgspec.convert(message.get("findings", []), list[MachineFinding]):
            if finding.id in by_id:
                judgement.findings[finding.id] = finding
                yield verdict_of(by_id[finding.id], finding)
