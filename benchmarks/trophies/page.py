"""The page of the trophies, written from what the modules of the machines say and from what was measured."""

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MACHINES = Path(__file__).parent / "machines"

HEAD = """# Trophies

Bugs that ordeal found in released libraries: what a library does differs from what its documentation means. Each was
checked by hand. They show what ordeal finds, and nothing else about these libraries.

```console
$ python benchmarks/trophy_page.py --only rich_markup             # does the release still have the bug?
$ python benchmarks/trophy_page.py --only rich_markup --measure   # find it again
```

The first installs the release into a separate folder and runs a reproduction in plain Python. Each name leads to its
source, next to the machine that found it. Most are [models and oracles](guides/oracles.md). Steps are those of the
shrunk program. Each of the random seeds 1, 2 and 3 found the bug in {limit:.0f} s on a busy computer with two cores,
except where the steps say otherwise. "Known" is a public report; there may be more.
"""


SEARCHED = """
## Searched, nothing found

`python benchmarks/trophy_page.py --search` runs the machines that found nothing, for {limit:.0f} s each: {steps:,}
operations with a comparison after each, on {libraries}.
"""


@dataclass(frozen=True, slots=True)
class Search:
    """Machines of a module that found nothing, as its source says it."""

    module: str
    requirements: tuple[str, ...]
    machines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A trophy as its source says it: nothing is imported, so that no library need be there."""

    module: str
    name: str
    requirements: tuple[str, ...]
    wrong: str
    known: str
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
    values = _values(ast.parse(path.read_text("utf-8")))
    if "CLEAN" in values:
        yield Search(
            module=path.stem,
            requirements=_requirements(values),
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
    values = _values(ast.parse(path.read_text("utf-8")))
    fields = ("name", "wrong", "meant", "machine", "shows", "repro", "ends", "known")
    for call in values["TROPHIES"].elts if "TROPHIES" in values else ():
        given = dict(zip(fields, call.args, strict=False)) | {word.arg: word.value for word in call.keywords}
        text = {name: ast.literal_eval(node) for name, node in given.items() if isinstance(node, ast.Constant)}
        yield Entry(
            module=path.stem,
            name=text["name"],
            requirements=_requirements(values),
            wrong=text["wrong"],
            known=text.get("known", "no report found"),
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


def page(measured: dict[str, Any], searched: dict[str, Any]) -> str:
    """The text of the page, with what searches for the trophies took and what searches without result did."""
    found = entries()
    rows = [_row(entry, measured["runs"].get(entry.name, [])) for entry in found]
    table = ["| name | library | bug | steps | known |", "|---|---|---|---|---|", *rows]
    parts = [HEAD.format(limit=measured["seconds"]), "\n".join(table)]
    return "\n".join([*parts, _searched(searched)]) + "\n"


def _searched(searched: dict[str, Any]) -> str:
    found = [search.requirements[0].replace("==", " ") for search in searches()]
    steps = sum(sum(counts.values()) for counts in searched["machines"].values())
    text = SEARCHED.format(limit=searched["seconds"], steps=steps, libraries=", ".join(found))
    return "\n".join(textwrap.fill(line, 120) if line[:1] != "#" else line for line in text.splitlines())


def _row(entry: Entry, runs: list[dict[str, Any]]) -> str:
    steps = sorted({run["steps"] for run in runs if run["steps"] is not None})
    span = "-" if not steps else str(steps[0]) if len(steps) == 1 else f"{steps[0]} to {steps[-1]}"
    found = sum(run["seconds"] is not None for run in runs)
    known = "" if entry.known == "no report found" else entry.known
    name = f"[{entry.name}](../benchmarks/trophies/machines/{entry.module}.py)"
    if found < len(runs):
        span += f", {found} of {len(runs)} seeds"
    cells = (name, entry.library, entry.wrong, span, known)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")
