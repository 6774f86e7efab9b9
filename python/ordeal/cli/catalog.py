"""``ordeal catalog``: lists the assertion sites of the source, and says which of them no run has reached."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path

import click

from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.properties.call_sites import scan
from ordeal._engine.properties.catalog import make_catalog
from ordeal._engine.properties.history import PROPERTIES_PATH, load_reached
from ordeal._report.catalog import catalog_complaints, catalog_json, catalog_text
from ordeal.cli import terminal
from ordeal.config import DEFAULT_PATH, load_config

FOUND = 1

_EPILOG = (
    "Exit code: 0 when runs have reached all sites, 1 when they have not or a name is used with two types, "
    "2 for wrong use."
)


@click.command(name="catalog", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--json", is_flag=True, help="Print the catalog as JSON (default: as text)")
def command(paths: Sequence[str], json: bool) -> int:
    """List the assertions of the source that no run has reached.

    PATHS are files and folders (default: the target modules of ordeal.toml, else the current folder). What `ordeal
    explore` and `pytest --chaos` have reached is in .ordeal/properties.json.
    """
    reached_file = Path(PROPERTIES_PATH)
    reached = load_reached(reached_file)
    catalog = make_catalog(scan([Path(path) for path in paths] or _default_paths()), reached)
    complaints = catalog_complaints(catalog)
    if complaints:
        terminal.say(complaints)
    if json:
        terminal.write(catalog_json(catalog))
    else:
        terminal.write(catalog_text(catalog, reached_file, exists=bool(reached)))
    return 0 if catalog.complete else FOUND


def _default_paths() -> list[Path]:
    return [*_target_files()] or [Path()]


def _target_files() -> Iterator[Path]:
    """Yield the source files of the target modules, those in the current folder by relative paths."""
    if not Path(DEFAULT_PATH).exists():
        return
    # Importing a module runs it, and its output belongs on stderr.
    with redirect_stdout(sys.stderr):
        targets = resolve_targets(load_config().explorer.target_modules)
    here = Path.cwd().resolve()
    for target in targets:
        for source in target.sources():
            path = Path(source.path)
            yield path.relative_to(here) if path.is_relative_to(here) else path
