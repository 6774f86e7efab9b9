"""Limits the memory of this process while code under test runs in it."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MEBIBYTE = 2**20
#: So much more than it has a process may take in any case: else nothing at all could run in it. In bytes.
RESERVE = 64 * MEBIBYTE


@contextmanager
def limited_memory(mebibytes: int) -> Iterator[None]:
    """Have Python raise MemoryError beyond so much memory while the block runs; with 0 there is no limit.

    A limit that is there already and is lower stays, and one that is less than the process has is raised to that.
    """
    if not mebibytes:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = max(mebibytes * MEBIBYTE, _data_bytes() + RESERVE)
    if soft != resource.RLIM_INFINITY and soft <= wanted:
        yield
        return
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        # The code under test may have taken away the right to raise it again.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def memory_is_limited() -> bool:
    """Whether a MemoryError may be one of a limit."""
    return resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY


def resident_bytes() -> int:
    """How much memory of the machine this process takes; 0 where nobody says."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text("utf-8").split()[1]) * resource.getpagesize()
    return 0


def _data_bytes() -> int:
    """How much of what the limit counts this process has; 0 where nobody says."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/status").read_text("utf-8").splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
