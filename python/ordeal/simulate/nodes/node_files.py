"""The files of nodes: what code of a node opens is on the disk of that node, except Python's own files and sources."""

from __future__ import annotations

import sys
import sysconfig
from contextlib import AbstractContextManager
from functools import cache

from ordeal.simulate import descriptors
from ordeal.simulate.file_functions import mounted
from ordeal.simulate.nodes.life import LIFE

_REAL_FOLDERS = tuple(
    {f"{folder}/" for folder in (*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, "/dev", "/proc")}
)
_REAL_ENDINGS = (".py", ".pyc", ".so", ".pyd")


@cache
def is_real(where: str) -> bool:
    """Return whether a path is that of Python, a library or a source, which every node has."""
    return where.endswith(_REAL_ENDINGS) or where.startswith(_REAL_FOLDERS)


class NodeDisks:
    """Answers with the disk of the node whose code runs."""

    root = "/"

    @property
    def files(self) -> descriptors.Files | None:
        """The disk of the present node; None in the test itself."""
        life = LIFE.get()
        return None if life is None else life.disk

    def answers(self, path: str, where: str) -> bool:
        """Return whether a path is on the disk of a node."""
        del path
        return not is_real(where)


def node_files() -> AbstractContextManager[object]:
    """Return a block in which code of nodes sees the disks of their nodes."""
    return mounted(NodeDisks())
