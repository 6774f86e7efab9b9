"""Runs first in each interpreter that a judged test starts: serves the mutant, and reports which lines run.

In no interpreter may this fail or print: it uses the standard library alone, and where Python has
no ``sys.monitoring``, no lines are known. Judges import this module for the same two tasks in their own process.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

#: Names of the environment: a file to append lines to, the files to watch in it, and the file that holds a mutant.
LINES, WATCHED, MUTANT = "ORDEAL_MUTATE_LINES", "ORDEAL_MUTATE_WATCHED", "ORDEAL_MUTATE_MUTANT"
#: Where judges work in a copy of a project: the project and its copy, one a line.
TREE = "ORDEAL_MUTATE_TREE"
#: The order of ``_base.monitoring_tools``, which an interpreter without ordeal cannot import.
TOOLS = (5, 3, 4, 2)

_real: dict[str, str] = {}


def real_path(path: str) -> str:
    """Return the file that a path names, with links resolved."""
    found = _real.get(path)
    if found is None:
        found = _real[path] = os.path.realpath(path)
    return found


def moved(path: str, root: str, tree: str) -> str:
    """Return where a path of a project is in a copy of it; any other as it is."""
    return tree + path[len(root) :] if (path + os.sep).startswith(root + os.sep) else path


def move_imports(root: str, tree: str) -> None:
    """Have imports find in a copy what they would find in a project: by the path, or as installed for editing."""
    sys.path[:] = [moved(path, root, tree) for path in sys.path]
    for finder in sys.meta_path:
        places = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", None)
        if isinstance(places, dict):
            places.update({name: moved(path, root, tree) for name, path in places.items()})
    sys.path_importer_cache.clear()


def serve(path: str, text: bytes) -> None:
    """Let imports of a file meet another text."""
    loader = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if real_path(self.path) == path:
            return compile(text, self.path, "exec", dont_inherit=True)
        return original(self, fullname)

    loader.get_code = get_code  # type: ignore[method-assign]


def keep_from_rewriting(path: str) -> None:
    """Keep a pytest that is imported later from reading and rewriting a file: it does so by the type of the loader."""
    finder = importlib.machinery.PathFinder
    original = finder.find_spec

    class Loader:
        """The loader of the file, of another type."""

        def __init__(self, loader: Any) -> None:
            self._loader = loader

        def __getattr__(self, name: str) -> Any:
            return getattr(self._loader, name)

    # A class, as before: pytest stores it in a class, where a function would become a method.
    def find_spec(_cls: type, fullname: str, path_of: Any = None, target: Any = None) -> Any:
        found = original(fullname, path_of, target)
        if found is not None and found.loader is not None and real_path(str(found.origin)) == path:
            found.loader = Loader(found.loader)  # type: ignore[assignment]
        return found

    finder.find_spec = classmethod(find_spec)  # type: ignore[assignment, method-assign]


def watch(tool: int, paths: set[str], found: Callable[[str, int], None], *, every: bool = False) -> Callable[[], None]:
    """Call ``found``, by a tool that is taken, with the file and the number of each line of these files that runs.

    Each line counts once until a restart, or ``every`` time: that costs less if few lines run between two restarts.

    Return the function that restarts it. Only the code of these files pays for it: another function costs one event,
    when it first runs, and none of the code that ran since the last restart is looked at again but theirs.
    """
    events = sys.monitoring.events
    disable = sys.monitoring.DISABLE
    ran: dict[int, CodeType] = {}  # by identity: equal code has separate events

    def on_start(code: CodeType, _offset: int) -> Any:
        if real_path(code.co_filename) in paths:
            sys.monitoring.set_local_events(tool, code, events.LINE)
            found(real_path(code.co_filename), code.co_firstlineno)
        return disable

    def on_line(code: CodeType, line: int) -> Any:
        path = real_path(code.co_filename)
        if id(code) not in ran:
            # After a restart the start has no event any more.
            ran[id(code)] = code
            found(path, code.co_firstlineno)
        found(path, line)
        return None if every else disable

    def restart() -> None:
        for code in ran.values():
            sys.monitoring.set_local_events(tool, code, 0)
            sys.monitoring.set_local_events(tool, code, events.LINE)
        ran.clear()

    sys.monitoring.register_callback(tool, events.PY_START, on_start)
    sys.monitoring.register_callback(tool, events.LINE, on_line)
    sys.monitoring.set_events(tool, events.PY_START)
    return restart


def appending(path: str) -> Callable[[str, int], None]:
    """Return a function that writes lines to a file at once: a process may end at any time, and several may write."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def found(name: str, line: int) -> None:
        os.write(file, f"{os.getpid()} {line} {name}\n".encode(errors="surrogateescape"))

    return found


def _begin() -> None:
    try:
        if places := os.environ.get(TREE):
            move_imports(*places.split("\n"))
        if path := os.environ.get(MUTANT):
            with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes as long to import as all else here
                name, _, text = file.read().partition(b"\n")
            serve(os.fsdecode(name), text)
            keep_from_rewriting(os.fsdecode(name))
        if (path := os.environ.get(LINES)) and hasattr(sys, "monitoring"):
            tool = next(each for each in TOOLS if sys.monitoring.get_tool(each) is None)
            sys.monitoring.use_tool_id(tool, "ordeal mutate")
            watch(tool, set(os.environ[WATCHED].split("\n")), appending(path))
    except Exception:  # noqa: BLE001 - the interpreter is a test's, which must not see us
        pass


def _go_on() -> None:
    """Run the ``sitecustomize`` that the interpreter would have run without us."""
    here = os.path.realpath(__file__).rpartition(os.sep)[0]
    sys.path[:] = [each for each in sys.path if os.path.realpath(each) != here]
    ours = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ModuleNotFoundError:
        sys.modules["sitecustomize"] = ours


if __name__ == "sitecustomize":
    _begin()
    _go_on()
