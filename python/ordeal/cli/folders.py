"""The folders in which this project saves traces and seeds: those of its settings, and the default ones."""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path

from ordeal.config.options import DEFAULT_PATH, ReportConfig
from ordeal.config.settings_file import load_config
from ordeal.errors import ConfigError


def failure_path(name: str | None) -> Path:
    """Return the file of the saved failure ``name`` of this project, or of the last one; see ``find_failure``."""
    # Imported late: a search asks for the folders alone.
    lookup = importlib.import_module("ordeal._engine.seed_corpus.lookup")
    path: Path = lookup.find_failure(name, traces_folders(), corpus_folders())
    return path


def traces_folders() -> list[Path]:
    """Return the folders of traces, without duplicates."""
    return list(dict.fromkeys(Path(report.traces_dir) for report in _reports()))


def corpus_folders() -> list[Path]:
    """Return the folders of seeds, without duplicates."""
    return list(dict.fromkeys(Path(report.corpus_dir) for report in _reports()))


def _reports() -> list[ReportConfig]:
    reports = [ReportConfig()]
    # Settings that cannot be used say so where they are needed.
    with suppress(ConfigError):
        reports.insert(0, load_config(DEFAULT_PATH, needs_tests=False).report)
    return reports
