"""Damaged trace files: each is refused with a TraceError, or gives the trace that it was; nothing crashes or hangs.

``ORDEAL_MUTATED_FILES`` sets how many files are tried; ``make fuzz-traces`` tries 100,000 under the sanitizers.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, rule

from ordeal.chaos import ChaosTest
from ordeal.errors import OrdealError, TraceError
from ordeal.explore import Explorer
from ordeal.faults import Fault
from ordeal.trace import Trace, TraceFailure, rerun

from ...samples.machines import switches
from ...samples.mutations import mutated, mutated_record, packed, resealed, sealed

FILES = int(os.environ.get("ORDEAL_MUTATED_FILES", "700"))
SUFFIXES = [".json", ".json.gz", ".json.zst"]
#: Of processor time, for one file. Sanitizers make everything several times slower.
SECONDS_MAX = 1.0
HANGS_AFTER_S = 120.0
#: Not sys.stderr, which pytest replaces.
STDERR = 2


class Market(ChaosTest):
    """Draws choices of every kind, and fails when five things were sold."""

    faults: list[Fault] = switches("one(a)", "two(b)")  # type: ignore[misc]
    goods: Bundle[str] = Bundle("goods")

    def __init__(self) -> None:
        super().__init__()
        self.sold = 0

    @rule(target=goods, name=st.text(max_size=4), weight=st.floats(), seal=st.binary(max_size=4))
    def stock(self, name: str, weight: float, seal: bytes) -> str:
        return name

    @rule(good=goods, by=st.integers(), urgent=st.booleans(), notes=st.lists(st.integers(0, 9), max_size=3))
    def sell(self, good: str, by: int, urgent: bool, notes: list[int]) -> None:
        self.sold += 1
        assert self.sold < 5

    @rule(data=st.data())
    def ask(self, data: Any) -> None:
        data.draw(st.sampled_from("abc") | st.integers(0, 2**100))


def recorded(seed: int) -> Trace:
    """A failing trace with choices of every kind."""
    (failure,) = Explorer(Market, seed=seed).run(max_runs=100, shrink=False).failures
    assert failure.trace is not None
    return failure.trace


@pytest.fixture(scope="module")
def original() -> Trace:
    """A trace in which every field holds something."""
    trace = recorded(3)
    trace.targets = {"shop": "0" * 64}
    return trace


@pytest.fixture(scope="module")
def other() -> Trace:
    """Another trace, to splice with."""
    trace = recorded(4)
    trace.failure = TraceFailure("KeyError", "é\ud800", 1, "b")
    return trace


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    yield
    faulthandler.cancel_dump_traceback_later()


def load(path: Path, data: bytes) -> Trace | None:
    """The trace of a file with this content; None when it is refused as it should be."""
    faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True, file=STDERR)
    path.write_bytes(data)
    start = time.process_time()
    trace, refusal = _load(path)
    assert time.process_time() - start < SECONDS_MAX
    assert trace is not None or path.name in refusal
    assert len(refusal) < 2_000
    return trace


def _load(path: Path) -> tuple[Trace | None, str]:
    try:
        return Trace.load(path), ""
    except TraceError as error:
        return None, error.message


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_damaged_file_is_refused_or_gives_the_same_trace(
    suffix: str, original: Trace, other: Trace, tmp_path: Path
) -> None:
    path = tmp_path / f"trace{suffix}"
    whole, spliced = packed(original.to_json(), suffix), packed(other.to_json(), suffix)
    expected = {original.to_json(), other.to_json()}
    rng = random.Random(f"bytes{suffix}")
    refused = 0
    for _ in range(FILES // 5):
        loaded = load(path, mutated(rng, whole, spliced))
        refused += loaded is None
        assert loaded is None or loaded.to_json() in expected
    assert refused > FILES // 10


def check_loaded(loaded: Trace, outcomes: Counter[str]) -> None:
    """A trace that was accepted is whole: it comes back from a file again, and replays or says why it does not."""
    loaded.content_hash()
    assert Trace.from_json(loaded.to_json()).to_json() == loaded.to_json()
    start = time.process_time()
    try:
        outcomes[rerun(loaded, Market).status.value] += 1
    except OrdealError as error:
        outcomes[type(error).__name__] += 1
    assert time.process_time() - start < SECONDS_MAX


def test_a_damaged_text_whose_checksum_fits_is_refused_or_replays(
    original: Trace, other: Trace, tmp_path: Path
) -> None:
    rng = random.Random("text")
    outcomes: Counter[str] = Counter()
    for number in range(FILES // 5):
        suffix = SUFFIXES[number % len(SUFFIXES)]
        damaged = resealed(mutated(rng, original.to_json(), other.to_json()))
        loaded = load(tmp_path / f"trace{suffix}", packed(damaged, suffix))
        outcomes["refused"] += loaded is None
        if loaded is not None:
            check_loaded(loaded, outcomes)
    assert {"refused", "reproduced"} <= outcomes.keys()


def test_damaged_fields_are_refused_or_replay(original: Trace, tmp_path: Path) -> None:
    rng = random.Random("trees")
    outcomes: Counter[str] = Counter()
    record = json.loads(original.to_json())
    for _ in range(FILES - 4 * (FILES // 5)):
        loaded = load(tmp_path / "trace.json", sealed(mutated_record(rng, record)))
        outcomes["refused"] += loaded is None
        if loaded is not None:
            check_loaded(loaded, outcomes)
    assert {"refused", "reproduced", "OutdatedTraceError"} <= outcomes.keys()
