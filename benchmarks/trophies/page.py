"""The page of the trophies, written from what the modules of the machines say and from what was measured."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MACHINES = Path(__file__).parent / "machines"

HEAD = """# Trophies

Bugs that ordeal found in libraries as they are released. Each is a difference between what the library does and what
its documentation means, and each was checked by hand. They show what ordeal finds, and say nothing else about these
libraries.

`python benchmarks/trophy_page.py` installs each release into a folder of its own, runs the reproductions, and writes
this page; `--measure` searches for each bug again. The machines are in `benchmarks/trophies/machines`, most of them
[oracles](guides/oracles.md) or [model pairs](guides/model-pairs.md).

Steps are those of the program that was reported, after shrinking. Seconds are processor time until the Explorer first
met the bug, with the random seeds 1, 2 and 3, on a busy machine with two cores; "-" means that a search
of {limit:.0f} s did not find it, or that none was made. "Known" is what public reports showed; there may be more.
"""


SEARCHED = """
## Searched, nothing found

These machines found nothing, and count as well. `python benchmarks/trophy_page.py --search` runs them for {limit:.0f} s
each. Steps are operations with a comparison after each.
"""


@dataclass(frozen=True, slots=True)
class Search:
    """Machines of a module that found nothing, as its source says it."""

    module: str
    requirements: tuple[str, ...]
    what: str
    machines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A trophy as its source says it: nothing is imported, so that no library need be there."""

    module: str
    name: str
    requirements: tuple[str, ...]
    wrong: str
    meant: str
    known: str
    repro: str
    ends: str
    machine: str = ""
    shows: str = ""
    modules: str = ""

    @property
    def library(self) -> str:
        """The library and its release."""
        return self.requirements[0].replace("==", " ")


def entries() -> list[Entry]:
    """All trophies, by module and in their order there."""
    return [entry for path in _modules() for entry in _entries_of(path)]


def searches() -> list[Search]:
    """The modules with machines that found nothing: those that they list under CLEAN."""
    return [search for path in _modules() for search in _searches_of(path)]


def _modules() -> list[Path]:
    return [path for path in sorted(MACHINES.glob("*.py")) if path.stem != "__init__"]


def _searches_of(path: Path) -> Iterator[Search]:
    tree = ast.parse(path.read_text("utf-8"))
    values = _values(tree)
    if "CLEAN" in values:
        yield Search(
            module=path.stem,
            requirements=_requirements(values),
            what=(ast.get_docstring(tree) or "").partition(": ")[2].rstrip("."),
            machines=tuple(node.id for node in values["CLEAN"].elts),
        )


def _values(tree: ast.Module) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            _assign(values, node)
    return values


def _requirements(values: dict[str, Any]) -> tuple[str, ...]:
    return tuple(ast.literal_eval(values["REQUIREMENTS"]).split())


def _entries_of(path: Path) -> Iterator[Entry]:
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    imports = [_text(source, node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    values = _values(tree)
    fields = ("name", "wrong", "meant", "machine", "shows", "repro", "ends", "known")
    for call in values["TROPHIES"].elts if "TROPHIES" in values else ():
        given = dict(zip(fields, call.args, strict=False)) | {word.arg: word.value for word in call.keywords}
        text = {name: ast.literal_eval(node) for name, node in given.items() if isinstance(node, ast.Constant)}
        repro = functions[given["repro"].id]
        yield Entry(
            module=path.stem,
            name=text["name"],
            requirements=_requirements(values),
            wrong=text["wrong"],
            meant=text["meant"],
            known=text.get("known", "no report found"),
            repro=_plain(source, repro, imports),
            ends=text.get("ends", ""),
            machine=given["machine"].id,
            shows=text["shows"],
            modules=" ".join(ast.literal_eval(values["MODULES"])),
        )


def _assign(values: dict[str, Any], node: ast.Assign) -> None:
    (target,) = node.targets
    if isinstance(target, ast.Name):
        values[target.id] = node.value
    elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        values |= {name.id: value for name, value in zip(target.elts, node.value.elts, strict=True)}  # type: ignore[attr-defined]


def _text(source: str, node: ast.AST) -> str:
    return inspect.cleandoc(ast.get_source_segment(source, node) or "")


def _plain(source: str, repro: ast.FunctionDef, imports: list[str]) -> str:
    """The body of a reproduction, after the imports that it uses."""
    lines = source.splitlines()[repro.lineno : repro.end_lineno]
    used = {node.id for node in ast.walk(repro) if isinstance(node, ast.Name)}
    kept = [kept for line in imports if (kept := _only(line, used))]
    return "\n".join([*kept, *([""] if kept else []), textwrap.dedent("\n".join(lines))])


def _only(line: str, used: set[str]) -> str:
    """An import without the names that are not used; empty if none is."""
    (node,) = ast.parse(line).body
    assert isinstance(node, ast.Import | ast.ImportFrom)
    node.names = [name for name in node.names if (name.asname or name.name.partition(".")[0]) in used]
    return ast.unparse(node) if node.names else ""


def page(measured: dict[str, Any], searched: dict[str, Any]) -> str:
    """The text of the page, with what searches for the trophies took and what searches without result did."""
    found = entries()
    rows = [_row(entry, measured["runs"].get(entry.name, [])) for entry in found]
    table = ["| library | bug | steps | seconds | known |", "| --- | --- | --- | --- | --- |", *rows]
    parts = [HEAD.format(limit=measured["seconds"]), "\n".join(table)]
    return "\n".join([*parts, _searched(searched), *map(_section, found)])


def _searched(searched: dict[str, Any]) -> str:
    rows = [_searched_row(search, searched["machines"].get(search.module, {})) for search in searches()]
    table = ["| library | what | steps |", "| --- | --- | --- |", *rows]
    return "\n".join([SEARCHED.format(limit=searched["seconds"]), *table])


def _searched_row(search: Search, steps: dict[str, int]) -> str:
    library = search.requirements[0].replace("==", " ")
    counts = ", ".join(f"{steps[machine]:,}" if machine in steps else "-" for machine in search.machines)
    return f"| {library} | {search.what} | {counts} |"


def _row(entry: Entry, runs: list[dict[str, Any]]) -> str:
    steps = sorted({run["steps"] for run in runs if run["steps"] is not None})
    span = "-" if not steps else str(steps[0]) if len(steps) == 1 else f"{steps[0]} to {steps[-1]}"
    seconds = ", ".join("-" if run["seconds"] is None else f"{run['seconds']:.1f}" for run in runs) or "-"
    library = entry.library
    return f"| {library} | [{entry.wrong}](#{entry.name}) | {span} | {seconds} | {entry.known} |"


def _section(entry: Entry) -> str:
    ending = f"\nIt ends with {entry.ends}.\n" if entry.ends else ""
    # Not a Python block: the tests of the documentation have no such library.
    return (
        f"\n## {entry.name}\n\n{entry.library}: {entry.wrong}. What is meant: {entry.meant}\n{ending}"
        f"\n```text\n{entry.repro}\n```"
    )
