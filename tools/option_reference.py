"""The tables of options in the reference, written from the table of options.

usage: python tools/option_reference.py writes them again; with --check it names those that are stale, changing nothing

The page of the command line says what the help of each flag says. On the page of the settings the meaning of a key
stays as it is; that of a new key comes from the docstring of its table, or from the help of its flag.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordeal.cli.commands import commands
from ordeal.config.checks import as_toml
from ordeal.config.flags import flags_of
from ordeal.config.options import SECTIONS, Fleet, Tuning
from ordeal.config.table import Option, keys_of
from ordeal.explore import Explorer

REFERENCE = Path(__file__).parent.parent / "docs/reference"


@dataclass(frozen=True)
class Row:
    """A row: the ``name`` by which it is found, its cells but the last, and the last one where the page has none."""

    name: str
    cells: tuple[str, ...]
    meaning: str


@dataclass(frozen=True)
class Table:
    """Where a table stands, its columns, its rows, and whether the page may say in its own words what a row means."""

    page: str
    heading: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    keeps_meanings: bool


def tables() -> Iterator[Table]:
    """All tables that are written from the table of options."""
    for section, declared in SECTIONS.items():
        heading = "## `[[tests]]`" if section == "tests" else f"## `[{section}]`"
        rows = tuple(_key_row(key, option) for key, option in keys_of(declared).items())
        yield Table("configuration.md", heading, ("key", "type", "default", "meaning"), rows, keeps_meanings=True)
    for command in commands():
        flags = [option for _, option in flags_of(str(command.name)).values()]
        if flags:
            rows = tuple(map(_flag_row, flags))
            yield Table("cli.md", f"## `ordeal {command.name}`", ("option", "meaning"), rows, keeps_meanings=False)


def _key_row(key: str, option: Option) -> Row:
    if option.default is None:
        default = option.words
    else:
        value = option.default
        default = f"`{as_toml(int(value) if isinstance(value, float) and value.is_integer() else value)}`"
    return Row(key, (f"`{key}`", option.check.page, default), _told_of(option))


def _flag_row(option: Option) -> Row:
    name = ", ".join(f"`{each}`" for each in option.flag.split(", "))
    return Row(option.long_flag, (name,), option.help_text())


def _told_of(option: Option) -> str:
    told: dict[str, str] = {}
    for documented in (Explorer, Explorer.run, Tuning, Fleet):
        told |= _arguments_of_docstring(documented)
    return told.get(option.name, f"{option.help}.")


def _arguments_of_docstring(function: Any) -> dict[str, str]:
    arguments = (inspect.getdoc(function) or "").partition("Args:\n")[2].partition("\n\n")[0]
    found = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", arguments, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text[:1].upper() + text[1:]) for name, text in found}


def written(page: str, table: Table) -> str:
    """Return the text of a page with this table as it has to be."""
    before, _, rest = page.partition(f"{table.heading}\n")
    body, following = re.split(rf"(?=^\| {table.columns[0]} \|)", rest, maxsplit=1, flags=re.MULTILINE)
    old, _, after = following.partition("\n\n")
    meanings = {}
    for line in old.splitlines()[2:]:
        cells = line.strip("| ").split("|")
        meanings[_name_of(cells[0].strip())] = cells[-1].strip()
    lines = [f"| {' | '.join(table.columns)} |", "|---" * len(table.columns) + "|"]
    for row in table.rows:
        meaning = meanings.get(row.name, row.meaning) if table.keeps_meanings else row.meaning
        if not meaning:
            raise SystemExit(f"{table.page}: say in {table.heading} what `{row.name}` means")
        lines.append(f"| {' | '.join((*row.cells, meaning))} |".replace("|  |", "| |"))
    return f"{before}{table.heading}\n{body}" + "\n".join(lines) + f"\n\n{after}"


def _name_of(cell: str) -> str:
    return cell.strip("`")


def pages() -> dict[Path, str]:
    """Return the pages as they have to be."""
    texts: dict[Path, str] = {}
    for table in tables():
        path = REFERENCE / table.page
        texts[path] = written(texts.get(path) or path.read_text("utf-8"), table)
    return texts


def main(arguments: list[str]) -> int:
    """Write the tables; with ``--check`` name the stale pages instead, and return 1 if there are any."""
    stale = [path for path, text in pages().items() if path.read_text("utf-8") != text]
    if arguments == ["--check"]:
        for path in stale:
            print(f"{path.relative_to(REFERENCE.parent.parent)} is stale: run python tools/option_reference.py")
        return 1 if stale else 0
    for path, text in pages().items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
