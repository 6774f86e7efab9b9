"""The projects whose seeds a pytest run replays: where each lies, how its seeds are named, and its own modules."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from ordeal._engine.formatting import one_line
from ordeal._engine.seed_corpus.paths import CORPUS_DIR, seed_name

#: What the node ids of seeds have in the place of a file, right below the project's folder.
ROOT = "ordeal-seed"
# No project has one of its own.
_NEVER_OWN = frozenset({"", "__main__", "hypothesis", "ordeal", "pytest", *sys.stdlib_module_names})


@dataclass(frozen=True, eq=False)
class Project:
    """A folder with seeds: ``ordeal`` run there replays those in the folder ``seeds``.

    All node ids of its seeds begin with ``node_id``. ``start`` is the folder as seen from where pytest was started,
    empty when that is the same.
    """

    folder: Path
    seeds: Path
    node_id: str
    start: str
    _modules: dict[str, ModuleType] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, config: pytest.Config, folder: Path, seeds: Path) -> Project:
        """The project in ``folder`` as a pytest run names it."""
        below, here = os.path.relpath(folder, config.rootpath), config.invocation_params.dir
        node_id = ROOT if below == os.curdir else f"{below.replace(os.sep, '/')}/{ROOT}"
        return cls(folder, seeds, node_id, "" if folder == here else os.path.relpath(folder, here))

    @property
    def is_rootdir(self) -> bool:
        """Whether it is what pytest takes for the project."""
        return self.node_id == ROOT

    @property
    def own_seeds(self) -> str:
        """The folder of the seeds, empty when that is the usual one."""
        seeds = self.relative(self.seeds)
        return "" if seeds == CORPUS_DIR else seeds

    def relative(self, path: Path) -> str:
        """Return ``path`` from the project's folder where it lies below that."""
        return relative_path(path, self.folder)

    def names(self, path: Path, node_ids: Sequence[str]) -> bool:
        """Whether one of ``node_ids`` means the seed at ``path`` of this project, or a group that it is in."""
        own = f"{self.node_id}::{class_name(path)}::{test_name(path)}::"
        return any(own.startswith(f"{node_id}::") for node_id in node_ids)


def class_name(path: Path) -> str:
    """Return the name of the group that a seed is in."""
    return one_line(path.parent.name)


def test_name(path: Path) -> str:
    """Return the name of a seed as a test."""
    # A packed seed keeps its suffix, as there may be a plain one of the same name.
    return one_line(seed_name(path) if path.suffix == ".json" else path.name)


def relative_path(path: Path, folder: Path) -> str:
    """Return ``path`` from ``folder`` where it lies below that."""
    # Not relative_to(), whose time is felt with a thousand seeds.
    return str(path).removeprefix(f"{folder}{os.sep}").replace(os.sep, "/")


@contextmanager
def own_package(project: Project, name: str) -> Iterator[None]:
    """Inside the block, have the modules of package ``name`` be those of the project, if it has one of that name.

    Many a project calls it ``tests``, and those of another are imported already. Afterwards they are back; the
    project's own are kept for the next time.
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
    """Whether ``name`` was imported from elsewhere, and would be found in the project's folder as well."""
    module = sys.modules.get(name)
    if module is None or name in _NEVER_OWN:
        return False
    package, file = project.folder / name, project.folder / f"{name}.py"
    places = {getattr(module, "__file__", None), *getattr(module, "__path__", ())}
    own = {str(package), str(package / "__init__.py"), str(file)}
    return places.isdisjoint(own) and (package.is_dir() or file.is_file())


def _take_out(name: str) -> dict[str, ModuleType]:
    """Remove a package and what is in it from the imported modules, and return them."""
    own = [key for key in sys.modules if key == name or key.startswith(f"{name}.")]
    return {key: sys.modules.pop(key) for key in own}
