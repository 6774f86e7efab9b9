"""Examines classes in separate processes, and the computer that ordeal runs on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import name_list, one_line
from ordeal._base.interpreter import answer_of
from ordeal._base.limits import GRACE_SECONDS
from ordeal._base.trace_file import versions_now
from ordeal._tools.doctor.checks import Advice, checks_of, stability
from ordeal._tools.doctor.env import pytest_plugins
from ordeal.config.options import DEFAULT_PATH
from ordeal.config.settings_file import OrdealConfig

#: Limits in time and runs of examining a class: with what follows, about five seconds.
SECONDS = 2.0
RUNS = 1000
#: Runs when a class is compared with itself; a slow machine makes fewer.
SHORT_RUNS = 60


def examine(config: OrdealConfig, folder: Path) -> Iterator[Advice]:
    """Yield the checks of all classes of a configuration, then those of the environment."""
    targets = config.explorer.target_modules
    for test in config.tests:
        subject = test.class_path
        first = _examined(subject, targets, config.explorer.seed, RUNS, SECONDS, folder, "0")
        for check in checks_of(first):
            yield replace(check, subject=subject)
        if not first.get("error"):
            # With max_runs alone: a clock must not decide where they end.
            runs = max(5, min(SHORT_RUNS, first["result"]["total_runs"] // 8))
            short = [
                _examined(subject, targets, config.explorer.seed, runs, GRACE_SECONDS, folder, hash_seed)
                for hash_seed in ("0", "0", "1")
            ]
            for check in stability(short):
                yield replace(check, subject=subject)
    yield from environment(config, folder)


def _examined(
    path: str, targets: Sequence[str], seed: int, runs: int, seconds: float, folder: Path, hash_seed: str
) -> dict[str, Any]:
    request = {"class": path, "targets": list(targets), "seed": seed, "max_runs": runs, "max_time": seconds}
    try:
        answer = answer_of(
            "ordeal._tools.doctor.examine",
            request,
            seconds=seconds + GRACE_SECONDS,
            folder=folder,
            environment={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        return msgspec.json.decode(answer, type=dict[str, Any])
    except (OSError, ValueError):
        hint = f"`ordeal explore {path}` shows which step"
        return {"error": {"message": f"`{path}` hung, or ended its process", "hint": hint}}


def environment(config: OrdealConfig, folder: Path) -> Iterator[Advice]:
    """Yield checks of this computer and its settings."""
    cores, workers = os.cpu_count() or 1, config.explorer.workers
    if workers > 2 * cores:
        yield Advice("workers", "warning", f"{workers} workers on {cores} cores", "leave `workers` out: one per core")
    else:
        yield Advice("workers", "ok", f"{workers or cores} on {cores} cores")
    for name, place in (("disk", folder), ("shared memory", Path("/dev/shm"))):
        try:
            free = shutil.disk_usage(place).free
            writable = os.access(place, os.W_OK)
        except OSError:
            continue
        if not writable or free < 100 << 20:
            what = f"{free >> 20} MiB are free" if writable else "is not writable"
            yield Advice(name, "warning", f"{place}: {what}", "make room, or run elsewhere")
        else:
            yield Advice(name, "ok", f"{free >> 20} MiB free in {place}")
    if not Path(DEFAULT_PATH).exists() and not (folder / "pyproject.toml").exists():
        yield Advice("project", "ok", "no ordeal.toml here")
    versions = ", ".join(f"{name} {version}" for name, version in versions_now().items())
    plugins = name_list(pytest_plugins())
    yield Advice("versions", "ok", one_line(f"{versions}; pytest plugins: {plugins}", limit=500))
