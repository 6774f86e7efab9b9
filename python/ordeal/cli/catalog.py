"""``ordeal catalog``: lists the assertion sites that no run has reached, or the functions that are tested least."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from ordeal._base.formatting import JSON_SCHEMA_VERSION, aligned, counted, name_list
from ordeal._base.limits import ROWS_MAX
from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.properties.call_sites import scan
from ordeal._engine.properties.catalog import make_catalog
from ordeal._engine.properties.history import PROPERTIES_PATH, load_reached
from ordeal._engine.runs.folder import RESULT, RUNS_PATH, run_folders
from ordeal._report.catalog import catalog_complaints, catalog_json, catalog_text
from ordeal._report.comparing import read_document
from ordeal._report.formats.document import line
from ordeal._tools.mutation.saved import load
from ordeal._tools.risk import risks
from ordeal.cli import terminal
from ordeal.config.flags import CatalogFlags
from ordeal.config.options import DEFAULT_PATH
from ordeal.config.settings_file import load_config
from ordeal.errors import FOUND, ConfigError


def run(flags: CatalogFlags) -> int:
    """List the assertions below the paths of the command line, and return the exit code."""
    if flags.risk:
        return _risk(flags)
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


def _risk(flags: CatalogFlags) -> int:
    """Rank functions by the last session that has a result, and by the last verdicts on mutants."""
    results: list[dict[str, Any]] = []
    for folder in reversed(run_folders(Path(RUNS_PATH))):
        if (folder / RESULT).exists() and (results := read_document(folder / RESULT)["results"]):
            break
    if not results:
        raise ConfigError("no run has a result that says what it reached", hint="`ordeal explore` makes one")
    saved = load(Path())
    found = risks(results, saved, Path())
    if flags.paths:
        found = [each for each in found if any(Path(each.file).is_relative_to(path) for path in flags.paths)]
    if flags.json:
        functions = [{"risk": each.risk, **dataclasses.asdict(each)} for each in found]
        document = {"schema_version": JSON_SCHEMA_VERSION, "tool": "risk", "functions": functions}
        terminal.write(json.dumps(document, indent=2) + "\n")
        return 0
    rows = [("risk", "where", "function", "untested", "tests")]
    for each in found[:ROWS_MAX]:
        parts = (
            (each.missed, "line", "missed"),
            (each.survived, "mutant", "survived"),
            (each.unstruck, "wait", "without a fault"),
        )
        what = ", ".join(f"{counted(number, noun)} {verb}" for number, noun, verb in parts if number)
        tests = each.machines or each.others
        whose = f"{'reached' if each.machines else 'not reached'} by {name_list(tests)}"
        rows.append((str(each.risk), f"{each.file}:{each.line}", each.name, what, whose))
    if found:
        terminal.write("".join(f"{line(each)}\n" for each in aligned(rows, [0])))
    else:
        terminal.say("the last session left nothing untested in these files")
    if saved is None:
        terminal.say("`ordeal mutate` adds the mutants that no test notices")
    return 0


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
