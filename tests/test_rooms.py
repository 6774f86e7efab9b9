"""The order of the house: rooms import downward, folders are small, tests stand where their module stands."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePath
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent

#: How many entries a folder of sources or tests may have. The package itself names all that its users import,
#: and its tests mirror it.
ENTRIES_MAX = 25
PACKAGE_ENTRIES_MAX = 32
#: How many modules have a test file at the same path. Some are tested better through what they belong to.
MIRRORED_SHARE_MIN = 0.7


def load_rooms() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "tools/rooms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


rooms = load_rooms()


@pytest.fixture(scope="module")
def graph() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = rooms.import_graph()
    return found


def tracked() -> list[PurePath]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return [PurePath(name) for name in set(names) if name and (ROOT / name).is_file()]


def test_rooms_import_only_rooms_below_them(graph: dict[str, dict[str, int]]) -> None:
    assert list(rooms.violations(graph)) == []


def test_there_is_no_circle_of_imports(graph: dict[str, dict[str, int]]) -> None:
    assert rooms.circles(graph) == []


def test_every_room_exists() -> None:
    package = ROOT / "python/ordeal"
    there = [(package / room).is_dir() or (package / f"{room}.py").is_file() for room in rooms.ROOMS]
    assert all(there), [room for room, found in zip(rooms.ROOMS, there, strict=True) if not found]


@pytest.mark.parametrize(
    "text",
    [
        "from ordeal.explore import Explorer",
        "from .. import explore",
        "from ..explore import Explorer",
        "if TYPE_CHECKING:\n    from ordeal.explore import Explorer",
        "def later():\n    import ordeal.explore",
        "importlib.import_module('ordeal.explore')",
    ],
)
def test_an_import_that_points_up_is_seen_however_it_is_written(text: str) -> None:
    known = {"ordeal.explore": Path(), "ordeal.faults.io": Path(), "ordeal": Path()}
    found = {name: line for line, name in rooms.imports_of(ast.parse(text), known, "ordeal.faults")}
    assert "ordeal.explore" in found
    assert len(list(rooms.violations({"ordeal.faults.io": {"ordeal.explore": 1}}))) == 1


def test_a_module_without_a_room_is_named() -> None:
    (complaint,) = rooms.violations({"ordeal.attic.box": {}})
    assert complaint.startswith("ordeal.attic.box is in no room")


def test_a_circle_is_found() -> None:
    graph = {"a": {"b": 1}, "b": {"c": 1}, "c": {"a": 1}, "d": {"a": 1}}
    assert rooms.circles(graph) == [["a", "b", "c"]]


def test_folders_can_be_taken_in_at_a_glance() -> None:
    entries = {entry for path in tracked() for entry in [path, *path.parents] if len(entry.parts) > 1}
    counts = Counter(
        entry.parent
        for entry in entries
        if entry.parts[0] in ("python", "cpp", "tests") and entry.name != "__init__.py"
    )
    crowded = {
        str(folder): count
        for folder, count in counts.items()
        if count > (PACKAGE_ENTRIES_MAX if str(folder) in ("python/ordeal", "tests/unit") else ENTRIES_MAX)
    }
    assert crowded == {}


def test_tests_stand_where_their_module_stands() -> None:
    paths = {str(path) for path in tracked()}
    modules = [
        path.relative_to("python/ordeal")
        for path in map(PurePath, sorted(paths))
        if path.is_relative_to("python/ordeal") and path.suffix == ".py" and not path.name.startswith("__")
    ]
    missing = [str(path) for path in modules if str("tests/unit" / path.with_name(f"test_{path.name}")) not in paths]
    share = 1 - len(missing) / len(modules)
    assert share >= MIRRORED_SHARE_MIN, f"{share:.0%} of the modules have a test at their path; without: {missing}"


def test_every_test_of_a_module_is_of_one_that_exists() -> None:
    """A test file may be named after a module and a word more, as in ``test_monitor_lifecycle``."""
    package = ROOT / "python/ordeal"
    for path in tracked():
        if path.is_relative_to("tests/unit") and path.name.startswith("test_"):
            room = package / path.relative_to("tests/unit").parent
            # What is compiled has a stub in the place of a folder.
            assert room.is_dir() or room.with_suffix(".pyi").is_file(), path


@pytest.mark.nightly
def test_the_table_can_be_read_alone() -> None:
    done = subprocess.run([sys.executable, "tools/rooms.py"], check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
