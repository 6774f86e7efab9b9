"""The rooms of the package, from the ground up, and which module imports which: read from the source, nothing is run.

usage: python tools/rooms.py prints what breaks the order, and every circle of imports

A room may import itself and the rooms before it in the table, whichever way: at run time, for types alone, or by name.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: A room is a file or a folder below python/ordeal; where one lies inside another, the longest name counts.
ROOMS = (
    # the ground
    *("errors", "_base", "_engine", "_engine/isolation"),
    # what an author of tests imports, as far as it needs no run
    *("config", "seed", "strategies", "invariants", "quickcheck"),
    "_hypothesis",
    "buggify",
    *("_engine/coverage", "_engine/storage", "_engine/properties"),
    *("assertions", "faults", "simulate", "swarm", "chaos", "stateful", "model", "result"),
    # the engine
    *(
        "_engine/execution",
        "store",
        "_engine/replay",
        "_engine/seed_corpus",
        "exhaustive",
        "_engine/export",
        "_engine/plain",
        "_engine/trace_view",
        "_engine/runs",
    ),
    *("_engine/triage", "_engine/search", "_engine/parallel"),
    # the doors of the engine
    *("scaling", "explore", "trace", "reporting"),
    # what runs machines of users in processes of its own: to write a first one, and to say why one finds nothing
    *(
        "_tools",
        "_tools/compare",
        "_tools/profile",
        "_tools/scaffold",
        "_tools/doctor",
        "_tools/mutation",
        "_tools/risk",
    ),
    # the faces
    *("_report", "_pytest", "cli", "", "../_ordeal_pytest"),
)

Graph = dict[str, set[str]]


def room_of(module: str) -> int | None:
    """The number of the room that holds ``module``, a path such as ``_engine/search/state``; None where none does."""
    if module in ("", "__main__"):
        return ROOMS.index("")
    names = [room for room in ROOMS if room and (module == room or module.startswith(f"{room}/"))]
    return ROOMS.index(max(names, key=len)) if names else None


def module_paths(package: Path) -> dict[str, Path]:
    """The files of the package by dotted name, and the plugin beside it."""
    found = {}
    for path in [*sorted(package.rglob("*.py")), package.parent / "_ordeal_pytest.py"]:
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(tree: ast.AST, known: dict[str, Path], package: str) -> Iterator[tuple[int, str]]:
    """The modules among ``known`` that a source imports, as (line, dotted name); ``package`` is what holds it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = ".".join(parts[: len(parts) + 1 - node.level]) if node.level else ""
            home = ".".join(filter(None, [base, node.module or ""]))
            names = [f"{home}.{alias.name}" for alias in node.names if f"{home}.{alias.name}" != "ordeal._native"]
            names = [name if name in known else home for name in names]
        elif isinstance(node, ast.Call) and _last_name(node.func) == "import_module":
            names = [ast.literal_eval(each) for each in node.args[:1] if isinstance(each, ast.Constant)]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name in known)


def _last_name(function: ast.expr) -> str:
    """The name of a function that is called, without what stands before the dot; empty if it has none."""
    return str(getattr(function, "attr", getattr(function, "id", "")))


def import_graph(package: Path = ROOT / "python/ordeal") -> dict[str, dict[str, int]]:
    """For each module, by dotted name, what it imports and in which line first."""
    known = module_paths(package)
    graph: dict[str, dict[str, int]] = {}
    for name, path in known.items():
        own = name if path.name == "__init__.py" else name.rpartition(".")[0]
        graph[name] = {}
        for line, target in imports_of(ast.parse(path.read_text("utf-8")), known, own):
            if target != name:
                graph[name].setdefault(target, line)
    return graph


def path_in_package(name: str) -> str:
    """A dotted name as ``room_of`` takes it."""
    return (
        "../_ordeal_pytest" if name == "_ordeal_pytest" else name.removeprefix("ordeal").lstrip(".").replace(".", "/")
    )


def violations(graph: dict[str, dict[str, int]]) -> Iterator[str]:
    """A line for each module without a room, and for each import of a room that is not below."""
    for name, targets in graph.items():
        own = room_of(path_in_package(name))
        if own is None:
            yield f"{name} is in no room: add its folder to ROOMS in tools/rooms.py, where it may be imported from"
            continue
        for target, line in targets.items():
            other = room_of(path_in_package(target))
            if other is not None and other > own:
                yield (
                    f"{name}, line {line}: imports {target}, a room above its own: pass the value in, or move what "
                    "both need down"
                )


def circles(graph: dict[str, dict[str, int]]) -> list[list[str]]:
    """The circles of imports, each as the sorted names of its modules (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in graph[name]:
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            at = stack.index(name)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for name in graph:
        if name not in index:
            visit(name)
    return [circle for circle in found if len(circle) > 1]


def main() -> int:
    """Print what is wrong, and end with 1 where anything is."""
    graph = import_graph()
    lines = [*violations(graph), *(f"circle: {', '.join(circle)}" for circle in circles(graph))]
    print("\n".join(lines) if lines else f"{len(graph)} modules in {len(ROOMS)} rooms, no import points up, no circle")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
