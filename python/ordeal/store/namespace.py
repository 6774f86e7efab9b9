"""The namespace of an exploration: members share only with those that run the same code in the same way."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ordeal import _native
from ordeal._engine.coverage.digests import digest_targets
from ordeal._engine.coverage.targets import Target

#: Their versions stand for these.
_LIBRARIES = ("builtins", "hypothesis", "ordeal")


def namespace_of(test_class: type, targets: Iterable[Target], *, instrumentation: str) -> str:
    """A text that is the same wherever the same code is explored, and another one where anything of it differs.

    It holds the name of the class, the versions of ordeal and Python, the mode of the instrumentation, and a digest of
    the source: of the targets, and of each file that the class and its bases are from.
    """
    python = ".".join(map(str, sys.version_info[:2]))
    name = f"{test_class.__module__}:{test_class.__qualname__}"
    return f"{name} ordeal {_native.__version__} Python {python} {instrumentation} {_digest(test_class, targets)}"


def _digest(test_class: type, targets: Iterable[Target]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    lines = [*sorted(digest_targets(targets).items()), *_test_sources(test_class)]
    for name, source in lines:
        # Names hold no zeros, and digests are of one length.
        digest.update(f"{name}\0{source}\0".encode())
    return digest.hexdigest()


def _test_sources(test_class: type) -> Iterator[tuple[str, str]]:
    """Each class that the test class is made of, and the digest of the file it is from."""
    for cls in test_class.__mro__:
        if cls.__module__.partition(".")[0] not in _LIBRARIES:
            yield f"{cls.__module__}:{cls.__qualname__}", _digest_of_file(cls)


def _digest_of_file(cls: type) -> str:
    """Empty for a class of no file, as one that was typed in."""
    try:
        path = inspect.getsourcefile(cls)
        return "" if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except (OSError, TypeError):
        return ""
