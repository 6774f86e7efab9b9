"""Explores until a session has very many checkpoints, saves and loads it, in a process of its own, and prints times."""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from five_rules.run_ordeal import FiveRulesChaos

from ordeal import Explorer, _native
from ordeal._engine.execution.machine import machine_names, make_driver
from ordeal._engine.storage.state_file import join_part, read_state, write_state

TAPES = 10_000
STEPS_PER_RUN = 50


class Remembered(FiveRulesChaos):
    """The five rules, of which nearly every state counts as new."""

    def state_hash(self) -> int:
        held = repr(sorted(self.shelf.weights.items())).encode()
        return int.from_bytes(hashlib.blake2b(held, digest_size=8).digest())


def timed[T](work: Callable[[], T]) -> tuple[T, float]:
    """What ``work`` returns, and its seconds."""
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def measure(seed: int, folder: Path) -> dict[str, float]:
    """Save and load."""
    path = folder / "state"
    explorer = Explorer(Remembered, seed=seed, max_checkpoints=TAPES, workers=1)
    explorer.run(max_time=120, max_runs=TAPES // 2, steps_per_run=STEPS_PER_RUN, shrink=False, save_state_to=path)
    names = machine_names(make_driver(Remembered))
    parts, read_s = timed(lambda: read_state(path))
    ((header, engine),) = parts
    loaded, decode_s = timed(lambda: _native.decode_state(engine, names))
    session = empty_session(names, seed)
    _, give_s = timed(lambda: loaded.restore_into(session))
    part, encode_s = timed(lambda: join_part(header, _native.encode_state(names, session, [])))
    _, write_s = timed(lambda: write_state(path, [part]))
    entries = loaded.entries()
    return {
        "tapes": len(entries),
        "steps": sum(len(entry.tape) for entry in entries),
        "megabytes": path.stat().st_size / 1e6,
        "encode_s": encode_s,
        "write_s": write_s,
        "read_s": read_s,
        "decode_s": decode_s,
        "give_s": give_s,
    }


def empty_session(names: _native.MachineNames, seed: int) -> _native.Session:
    """A session like the one that was saved, before its first run."""
    rules, initializers, faults, _ = names
    return _native.Session(
        (len(rules), len(initializers), len(faults)),
        _native.CoverageMap(),
        seed=seed,
        max_checkpoints=TAPES,
        checkpoint_prob=None,
        checkpoint_strategy="energy",
        fault_toggle_prob=0.3,
        seed_mutation_prob=None,
        steps_per_run=STEPS_PER_RUN,
        rule_swarm=None,
        swarm="off",
        swarm_policy="adaptive",
        value_reuse_prob=0.1,
        operations=[],
        pair_features=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(parser.parse_args().seed, Path(folder))))


if __name__ == "__main__":
    main()
