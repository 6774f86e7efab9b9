"""Paths of the simulated file system, and the errors about them."""

from __future__ import annotations

import os
import posixpath

AnyPath = str | os.PathLike[str]


def absolute(path: AnyPath) -> str:
    """The path from the root, without ``.`` and ``..``."""
    # normpath() leaves two slashes at the start as they are.
    return "/" + posixpath.normpath(posixpath.join("/", os.fspath(path))).lstrip("/")


def names_of(where: str) -> list[str]:
    """The components of an absolute path."""
    return [name for name in where.split("/") if name]


def os_error(code: int, where: str) -> OSError:
    """The error that the operating system gives for a path."""
    return OSError(code, os.strerror(code), where)
