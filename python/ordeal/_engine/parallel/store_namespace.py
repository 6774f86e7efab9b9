"""The namespace of an exploration: members share only with those that run the same code in the same way."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import ordeal._native as _native
from ordeal._engine.coverage.digests import digest_targets
from ordeal._engine.coverage.targets import Target

#: Packages identified by their versions.
_LIBRARIES = ("builtins", "hypothesis", "ordeal")


def namespace_of(test_class: type, targets: Iterable[Target], *, instrumentation: str) -> str:
    """Return a text that is the same wherever the same code is explored, and differs if anything in it differs.

    It contains the name of the class, the versions of ordeal and Python, the mode of the instrumentation, and a digest
    of the source: of the targets, and of each file that defines the class or its bases.
    """
    python = ".".join(map(str, sys.version_info[:2]))
    name = f"{test_class.__module__}:{test_class.__qualname__}"
    return f"{name} ordeal {_native.__version__} Python {python} {instrumentation} {_digest(test_class, targets)}"


def _digest(test_class: type, targets: Iterable[Target]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    lines = [*sorted(digest_targets(targets).items()), *_test_sources(test_class)]
    for name, source in lines:
        # Names contain no zeros, and digests have a fixed length.
        digest.update(f"{name}\0{source}\0".encode())
    return digest.hexdigest()


def _test_sources(test_class: type) -> Iterator[tuple[str, str]]:
    """Yield each class of the test class's hierarchy, and the digest of its file."""
    for cls in test_class.__mro__:
        if cls.__module__.partition(".")[0] not in _LIBRARIES:
            yield f"{cls.__module__}:{cls.__qualname__}", _digest_of_file(cls)


def _digest_of_file(cls: type) -> str:
    """Empty for a class without a file, such as an interactively defined one."""
    try:
        path = inspect.getsourcefile(cls)
        return "" if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except (OSError, TypeError):
        return ""
