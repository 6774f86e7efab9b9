"""Paths of the simulated file system, and the errors about them."""

from __future__ import annotations

import os
import posixpath
from functools import lru_cache

AnyPath = str | os.PathLike[str]


def absolute(path: AnyPath) -> str:
    """Return the path from the root, without ``.`` and ``..``."""
    return _absolute(os.fspath(path))


@lru_cache(4096)
def _absolute(path: str) -> str:
    # normpath() keeps two leading slashes.
    return "/" + posixpath.normpath(posixpath.join("/", path)).lstrip("/")


def names_of(where: str) -> list[str]:
    """Return the components of an absolute path."""
    return [name for name in where.split("/") if name]


def os_error(code: int, where: str) -> OSError:
    """Return the error of the operating system for a path."""
    return OSError(code, os.strerror(code), where)
