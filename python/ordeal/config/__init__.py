"""The options of ordeal: their names, their valid values, and the settings file that holds them."""

from __future__ import annotations

from ordeal.config.arguments import override
from ordeal.config.options import (
    CHECKPOINTS_MAX,
    DEFAULT_PATH,
    DEFAULT_SWARM_POLICY,
    RNG_SEED_MAX,
    STEPS_MAX,
    WORKERS_MAX,
    BenchmarkConfig,
    CheckpointKind,
    CheckpointStrategy,
    ExplorerConfig,
    Metric,
    ReportConfig,
    ReportFormat,
    SnapshotKind,
    SwarmPolicy,
    TestConfig,
    TracingOfComparisons,
)
from ordeal.config.settings_file import OrdealConfig, load_config, load_config_for

__all__ = [
    "CHECKPOINTS_MAX",
    "DEFAULT_PATH",
    "DEFAULT_SWARM_POLICY",
    "RNG_SEED_MAX",
    "STEPS_MAX",
    "WORKERS_MAX",
    "BenchmarkConfig",
    "CheckpointKind",
    "CheckpointStrategy",
    "ExplorerConfig",
    "Metric",
    "OrdealConfig",
    "ReportConfig",
    "ReportFormat",
    "SnapshotKind",
    "SwarmPolicy",
    "TestConfig",
    "TracingOfComparisons",
    "load_config",
    "load_config_for",
    "override",
]
