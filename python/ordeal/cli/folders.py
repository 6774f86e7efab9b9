"""The folders in which this project saves traces and seeds: those of its settings, and the default ones."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ordeal.config.options import DEFAULT_PATH, ReportConfig
from ordeal.config.settings_file import load_config
from ordeal.errors import ConfigError


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
