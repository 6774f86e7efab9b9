"""Finds the example projects of the repository and imports their machines the way their users would."""

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def imported(machine: Path, *, path: list[Path], modules: set[str]) -> Iterator[ModuleType]:
    """Import the file of a machine, with `path` in front of `sys.path`.

    The top-level `modules` that this brings in replace others of the same name for as long as the block runs.
    """
    before, others = list(sys.path), _take(modules)
    sys.path[:0] = [str(folder) for folder in path]
    try:
        spec = importlib.util.spec_from_file_location(machine.stem, machine)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[machine.stem] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path[:] = before
        _take(modules | {machine.stem})
        sys.modules.update(others)


def changed(source: Path, changes: Iterable[tuple[str, str]], folder: Path) -> None:
    """Copy a file of an example into a folder, each old text replaced by its new one."""
    text = source.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / source.name).write_text(text, "utf-8")


def _take(modules: set[str]) -> dict[str, ModuleType]:
    """Take top-level modules with all below them out of `sys.modules`, and return them."""
    names = [name for name in sys.modules if name.partition(".")[0] in modules]
    return {name: sys.modules.pop(name) for name in names}


@pytest.fixture(scope="module")
def shop_chaos() -> Iterator[ModuleType]:
    """The machine of the shop, with the shop's package and its repairs on the path."""
    project = EXAMPLES / "shop"
    with imported(project / "tests" / "test_shop_chaos.py", path=[project], modules={"shop", "repairs"}) as module:
        yield module
