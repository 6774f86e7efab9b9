"""``ordeal catalog``: lists the assertion sites of the source, and says which of them no run has reached."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.properties.call_sites import scan
from ordeal._engine.properties.catalog import make_catalog
from ordeal._engine.properties.history import PROPERTIES_PATH, load_reached
from ordeal._report.catalog import catalog_complaints, catalog_json, catalog_text
from ordeal.cli import terminal
from ordeal.config.flags import CatalogFlags
from ordeal.config.options import DEFAULT_PATH
from ordeal.config.settings_file import load_config
from ordeal.errors import FOUND


def run(flags: CatalogFlags) -> int:
    """List the assertions below the paths of the command line, and return the exit code."""
    reached_file = Path(PROPERTIES_PATH)
    reached = load_reached(reached_file)
    catalog = make_catalog(scan([Path(path) for path in flags.paths] or ([*_target_files()] or [Path()])), reached)
    complaints = catalog_complaints(catalog)
    if complaints:
        terminal.say(complaints)
    if flags.json:
        terminal.write(catalog_json(catalog))
    else:
        terminal.write(catalog_text(catalog, reached_file, exists=reached_file.exists()))
    return 0 if catalog.complete else FOUND


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
