"""Imports the test files of a project like pytest does, even if their folders are not packages."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path

from ordeal._base.machine_files import folders_below


def reach_test_file(name: str) -> None:
    """Let an import of the module ``name`` find it, and let the module find its neighbours.

    pytest imports a test file by its path from the first folder that is not a package, and has that folder on
    ``sys.path``. So files there may import each other and may have the name of an installed module, and a class of
    theirs, explored within pytest, has a path that begins in that folder.
    """
    if name in sys.modules:
        return
    relative = Path(*name.split(".")).with_suffix(".py")
    root = next((Path(root) for root in sys.path if (Path(root) / relative).is_file()), None)
    if root is not None:
        base = (root / relative).absolute().parent
        while (base / "__init__.py").is_file() and base != base.parent:
            base = base.parent
        if base != root.absolute():
            _search(base)
            # An installed package may hide a folder of the project, such as `tests`: let it search that folder too.
            top = name.partition(".")[0]
            folder = root.absolute() / top
            if not (folder / "__init__.py").is_file():
                # An error here also occurs in the import itself, which reports it.
                with suppress(Exception):
                    package = importlib.import_module(top)
                    if str(folder) not in package.__path__:
                        package.__path__ = [*package.__path__, str(folder)]
    elif importlib.util.find_spec(name.partition(".")[0]) is None:
        bases: list[Path] = []
        with suppress(OSError):
            below = folders_below(Path.cwd())
            bases += [at for at in below if (at / relative).is_file() and not (at / "__init__.py").exists()]
        # If there are several, the right one is unknown.
        if len(bases) == 1:
            _search(bases[0])


def _search(folder: Path) -> None:
    """Search ``folder`` too: after the standard library, and before installed packages."""
    if str(folder) not in sys.path:
        installed = (
            place for place, root in enumerate(sys.path) if Path(root).name in ("site-packages", "dist-packages")
        )
        sys.path.insert(next(installed, len(sys.path)), str(folder))
        importlib.invalidate_caches()
