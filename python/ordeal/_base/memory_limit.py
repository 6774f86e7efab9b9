"""Limits the memory of this process while code under test runs in it."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ordeal._base.limits import MEBIBYTE

#: More than any machine has, in MiB.
MEMORY_MIB_MAX = 2**24
#: A process may always take this much more than it has, in bytes: otherwise nothing could run in it.
RESERVE = 64 * MEBIBYTE


@contextmanager
def limited_memory(mebibytes: int) -> Iterator[None]:
    """Have Python raise MemoryError above this limit while the block runs; 0 means no limit.

    A lower limit already in place stays; a limit below what the process uses is raised to that.
    """
    if not mebibytes:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = max(mebibytes * MEBIBYTE, data_bytes() + RESERVE)
    if soft != resource.RLIM_INFINITY and soft <= wanted:
        yield
        return
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        # The code under test may have lowered the hard limit.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def limit_memory(size: int) -> None:
    """Have Python raise MemoryError for the rest of this process once it has allocated ``size`` bytes.

    What counts is data, as everywhere in ordeal: address space that is only set aside (RLIMIT_AS) says nothing about
    the memory that a program uses. A lower hard limit stays.
    """
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    wanted = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, wanted))


def memory_is_limited() -> bool:
    """Return True if a memory limit may have caused a MemoryError."""
    return resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY


def bytes_left() -> int | None:
    """Return how much more memory a limit lets this process take; None if it has no limit or that is unknown."""
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    has = data_bytes()
    return max(limit - has, 0) if has else None


def resident_bytes() -> int:
    """Return the resident memory of this process; 0 where the system does not say."""
    # A Path takes as long again.
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", "rb") as figures:  # noqa: PTH123
        return int(figures.read().split()[1]) * resource.getpagesize()
    return 0


def data_bytes() -> int:
    """Return how much of the limited kind of memory this process uses; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/status").read_text("utf-8").splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
