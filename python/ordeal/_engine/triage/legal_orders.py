"""Says whether what a machine in any order failed with can happen under asyncio, which keeps the order of callbacks."""

from __future__ import annotations

import importlib

import msgspec

from ordeal._engine.execution.bucket import falls_into
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.findings import Finding
from ordeal._native import monotonic


class OrderJudgement(msgspec.Struct, frozen=True):
    """Whether one of ``tried`` runs that asyncio allows fails in the same way."""

    tried: int
    is_legal: bool

    def text(self, bucket: str) -> str:
        """Return the note for the user on the failure in ``bucket``."""
        if self.is_legal:
            why = "asyncio allows it, as a run next to it that keeps the order of callbacks fails too"
        else:
            why = f"order-dependent, as none of {self.tried} runs next to it that asyncio allows fails like this"
        return f"{bucket}: {why}."


def judge_order(replayer: Replayer, finding: Finding, deadline: float) -> OrderJudgement | None:
    """Try the steps of a finding with other decisions of the simulation, none of which lets a callback overtake others.

    It ends at the ``deadline`` by monotonic(), after one run at the earliest. None if the steps do not fail in this
    process.
    """
    # Imported late: most machines have no simulation.
    orders = importlib.import_module("ordeal.simulate.runtime.legal_orders")
    with orders.noted() as made:
        replayed = replayer.run(finding.tape)
    if not falls_into(replayed.bucket, finding.bucket):
        return None
    if not orders.needs_overtaking(made):
        return OrderJudgement(1, is_legal=True)
    for number in range(orders.NEIGHBOURS):
        with orders.neighbour(number, made):
            replayed = replayer.run(finding.tape)
        if falls_into(replayed.bucket, finding.bucket):
            return OrderJudgement(number + 1, is_legal=True)
        if monotonic() > deadline:
            return OrderJudgement(number + 1, is_legal=False)
    return OrderJudgement(orders.NEIGHBOURS, is_legal=False)
