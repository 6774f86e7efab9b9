"""A project with a file of each kind that ordeal reads, and commands that read one of them after it was damaged."""

from __future__ import annotations

import hashlib
import os
import random
import select
import shutil
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.unit.samples.mutations import mutated, packed, resealed

import ordeal._native as _native
from ordeal._engine.storage import state_file
from ordeal.cli import main

MACHINE = '''"""A market."""

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, rule

from ordeal import ChaosTest, sometimes


class Market(ChaosTest):
    """Draws choices of every kind, and fails when five things were sold."""

    goods = Bundle("goods")

    def __init__(self):
        super().__init__()
        self.sold = 0

    @rule(target=goods, name=st.text(max_size=4), weight=st.floats(), seal=st.binary(max_size=4))
    def stock(self, name, weight, seal):
        return name

    @rule(good=goods, by=st.integers(), notes=st.lists(st.integers(0, 9), max_size=3))
    def sell(self, good, by, notes):
        self.sold += 1
        sometimes(self.sold > 2, "three are sold")
        assert self.sold < 5, "sold out"
'''
SETTINGS = """[explorer]
seed = {seed}
max_runs = 40
steps_per_run = 30
workers = 1
rule_timeout = 2.5
checkpoint_strategy = "energy"
fault_toggle_prob = 0.25
target_modules = ["market_{seed}"]

[report]
format = "text"
traces = true

[[tests]]
class = "market_{seed}:Market"
steps_per_run = 20
"""
QUICK = ("--no-shrink", "--no-confirm-fresh", "--no-seeds")
HERE = ("--in-process", "--max-time", "2", *QUICK)
#: How long anything may take before it is ended. What it takes of the processor is what is judged.
STUCK_SECONDS = 120.0
TEXT_BYTES_MAX = 200_000


@dataclass(frozen=True)
class Kind:
    """Files of one kind: where one lies in the project, and the command that reads it."""

    name: str
    path: str
    command: Sequence[str]
    #: Damages the content and has its checksums fit.
    reseal: Callable[[random.Random, bytes, bytes], bytes] = mutated
    #: How many of the files are of this kind, in relation to others.
    share: int = 3


@dataclass(frozen=True)
class Ending:
    """How a command ended: its code (128 and more for a signal), its output, seconds of processor time, peak memory.

    ``mebibytes`` leaves out what it had from the start, as it is a fork of the process that tests it.
    """

    code: int
    said: str
    seconds: float
    mebibytes: float


def _resealed_trace(suffix: str) -> Callable[[random.Random, bytes, bytes], bytes]:
    def damage(rng: random.Random, whole: bytes, other: bytes) -> bytes:
        return packed(resealed(mutated(rng, _text(whole), _text(other))), suffix)

    return damage


def _text(data: bytes) -> bytes:
    return _native.decompress(data, 2**24) if data.startswith(b"\x28\xb5\x2f\xfd") else data


def _resealed_state(rng: random.Random, whole: bytes, other: bytes) -> bytes:
    head = len(state_file.MAGIC) + struct.calcsize("<IQ32s")
    content, others = (_native.decompress(data[head:], 2**28) for data in (whole, other))
    frame = _native.compress(mutated(rng, content, others))
    start = struct.pack("<IQ32s", state_file.VERSION, len(frame), hashlib.sha256(frame).digest())
    return state_file.MAGIC + start + frame


KINDS = [
    Kind("trace", "trace.json", ("replay", "trace.json"), _resealed_trace(".json")),
    Kind("packed trace", "trace.json.zst", ("replay", "trace.json.zst"), _resealed_trace(".zst")),
    Kind("seed", ".ordeal/seeds/**/*.json", ("seeds",), _resealed_trace(".json")),
    Kind("state", "state", ("explore", "--resume", "state", "--max-runs", "45", *HERE), _resealed_state),
    Kind("settings", "ordeal.toml", ("explore", "--max-runs", "5", *HERE)),
    Kind("properties", ".ordeal/properties.json", ("catalog",)),
    Kind(
        "store",
        "store/*/shards/*",
        ("explore", "--store", "dir://store", "-w", "1", "--max-runs", "5", *QUICK),
        share=1,
    ),
]


def project(folder: Path, seed: int) -> Path:
    """Make a project with a file of each kind, by the commands that write them."""
    folder.mkdir()
    (folder / f"market_{seed}.py").write_text(MACHINE)
    (folder / "ordeal.toml").write_text(SETTINGS.format(seed=seed))
    explore = ("explore", "--store", "dir://store", "--save-state", "state", "--no-confirm-fresh")
    assert run(folder, explore, folder / "said").code == 1
    (path,) = (folder / ".ordeal/seeds").rglob("*.json*")
    shutil.copy(path, folder / "trace.json")
    (folder / "trace.json.zst").write_bytes(_native.compress(path.read_bytes()))
    return folder


def file_of(kind: Kind, folder: Path) -> Path:
    """The file of this kind in a project: where there are several, the first."""
    return min(each for each in folder.glob(kind.path) if each.is_file())


def run(folder: Path, arguments: Sequence[str], said: Path) -> Ending:
    """Run a command in a fork of this process, which has imported all that it needs."""
    before = _resident_mebibytes()
    process = os.fork()
    if not process:
        _be_command(folder, arguments, said)
    handle = os.pidfd_open(process)
    try:
        if not select.select([handle], [], [], STUCK_SECONDS)[0]:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
        _, status, used = os.wait4(process, 0)
    finally:
        os.close(handle)
    code = os.waitstatus_to_exitcode(status)
    text = said.read_bytes()[:TEXT_BYTES_MAX].decode(errors="replace")
    return Ending(
        code if code >= 0 else 128 - code, text, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024 - before
    )


def _resident_mebibytes() -> float:
    """How much memory this process has, all of which its forks have from the start."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _be_command(folder: Path, arguments: Sequence[str], said: Path) -> None:
    code = 70
    try:
        os.setsid()
        output = os.open(said, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.stdout, sys.stderr = (os.fdopen(stream, "w", closefd=False) for stream in (1, 2))
        with chdir(folder):
            code = main(arguments)
    except BaseException:  # noqa: BLE001  # what gets out of it is what is looked for
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def broken(ending: Ending, seconds_max: float, mebibytes_max: float) -> str:
    """What should not be, in words; nothing where all is well."""
    if ending.code not in (0, 1, 2):
        return f"ended with {ending.code}"
    if "Traceback (most recent call last)" in ending.said or f"{os.sep}ordeal{os.sep}_engine" in ending.said:
        return "printed a traceback"
    if ending.seconds > seconds_max:
        return f"took {ending.seconds:.1f} s"
    return f"took {ending.mebibytes:.0f} MiB" if ending.mebibytes > mebibytes_max else ""
