"""The options of ordeal: their names, their valid values, and the settings file that holds them."""

from __future__ import annotations

from ordeal.config.options import (
    DEFAULT_PATH,
    RNG_SEED_MAX,
    BenchmarkConfig,
    CheckpointKind,
    ExplorerConfig,
    Fleet,
    FleetConfig,
    Metric,
    ReportConfig,
    SnapshotKind,
    TestConfig,
    Tuning,
    override,
)
from ordeal.config.settings_file import OrdealConfig, load_config, load_config_for

__all__ = [
    "DEFAULT_PATH",
    "RNG_SEED_MAX",
    "BenchmarkConfig",
    "CheckpointKind",
    "ExplorerConfig",
    "Fleet",
    "FleetConfig",
    "Metric",
    "OrdealConfig",
    "ReportConfig",
    "SnapshotKind",
    "TestConfig",
    "Tuning",
    "load_config",
    "load_config_for",
    "override",
]
