"""The projects whose seeds a pytest run replays: their folders, the names of their seeds, and their own modules."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from ordeal._base.formatting import one_line
from ordeal._engine.seed_corpus.paths import CORPUS_DIR, seed_name

#: What the node ids of seeds have instead of a file, directly below the project's folder.
ROOT = "ordeal-seed"
# Packages that never belong to a project.
_NEVER_OWN = frozenset({"", "__main__", "hypothesis", "ordeal", "pytest", *sys.stdlib_module_names})


@dataclass(frozen=True, eq=False)
class Project:
    """A folder with seeds: ``ordeal``, run there, replays those in the folder ``seeds``.

    The node ids of its seeds begin with ``node_id``. ``start`` is the folder relative to where pytest was started,
    empty when it is the same.
    """

    folder: Path
    seeds: Path
    node_id: str
    start: str
    _modules: dict[str, ModuleType] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, config: pytest.Config, folder: Path, seeds: Path) -> Project:
        """Return the project in ``folder`` with its names in a pytest run."""
        below, here = os.path.relpath(folder, config.rootpath), config.invocation_params.dir
        node_id = ROOT if below == os.curdir else f"{below.replace(os.sep, '/')}/{ROOT}"
        return cls(folder, seeds, node_id, "" if folder == here else os.path.relpath(folder, here))

    @property
    def is_rootdir(self) -> bool:
        """Whether it is the rootdir of pytest."""
        return self.node_id == ROOT

    @property
    def own_seeds(self) -> str:
        """The folder of the seeds, empty when it is the default."""
        seeds = self.relative(self.seeds)
        return "" if seeds == CORPUS_DIR else seeds

    def relative(self, path: Path) -> str:
        """Return ``path`` relative to the project's folder if it is inside."""
        return relative_path(path, self.folder)

    def names(self, path: Path, node_ids: Sequence[str]) -> bool:
        """Return whether one of ``node_ids`` means the seed at ``path`` of this project, or a group that has it."""
        own = f"{self.node_id}::{class_name(path)}::{test_name(path)}::"
        return any(own.startswith(f"{node_id}::") for node_id in node_ids)


def class_name(path: Path) -> str:
    """Return the name of the group that a seed is in."""
    return one_line(path.parent.name)


def test_name(path: Path) -> str:
    """Return the name of a seed as a test."""
    # A compressed seed keeps its suffix, as a plain one may have the same name.
    return one_line(seed_name(path) if path.suffix == ".json" else path.name)


def relative_path(path: Path, folder: Path) -> str:
    """Return ``path`` relative to ``folder`` if it is inside."""
    # Not relative_to(), which is noticeably slow with a thousand seeds.
    return str(path).removeprefix(f"{folder}{os.sep}").replace(os.sep, "/")


@contextmanager
def own_package(project: Project, name: str) -> Iterator[None]:
    """During the block, let package ``name`` be the project's own, if it has one of that name.

    Many projects call it ``tests``, and another project's may be imported already. That one is restored afterwards; the
    project's own modules are kept for the next time.
    """
    if not _is_taken(project, name):
        yield
        return
    others = _take_out(name)
    sys.modules.update(project._modules)
    try:
        yield
    finally:
        project._modules.update(_take_out(name))
        sys.modules.update(others)


def _is_taken(project: Project, name: str) -> bool:
    """Return whether ``name`` was imported from elsewhere although the project's folder has it too."""
    module = sys.modules.get(name)
    if module is None or name in _NEVER_OWN:
        return False
    package, file = project.folder / name, project.folder / f"{name}.py"
    places = {getattr(module, "__file__", None), *getattr(module, "__path__", ())}
    own = {str(package), str(package / "__init__.py"), str(file)}
    return places.isdisjoint(own) and (package.is_dir() or file.is_file())


def _take_out(name: str) -> dict[str, ModuleType]:
    """Remove a package and its modules from the imported modules, and return them."""
    own = [key for key in sys.modules if key == name or key.startswith(f"{name}.")]
    return {key: sys.modules.pop(key) for key in own}
