"""Digests of the target modules: what changed since is known without importing anything."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from ordeal._engine.coverage.digests import changed_modules, digest_targets
from ordeal._engine.coverage.targets import resolve_targets

from ...samples.monitored import MakeModule


def test_every_module_of_a_target_has_a_digest(make_module: MakeModule) -> None:
    make_module("X = 1\n", "pack.__init__")
    make_module("Y = 2\n", "pack.inner.deep", import_it=False)
    make_module("Z = 3\n", "single")
    digests = digest_targets(resolve_targets(["pack", "single"]))
    assert list(digests) == ["pack", "pack.inner.deep", "single"]
    assert digests["single"] == hashlib.sha256(b"Z = 3\n").hexdigest()
    assert changed_modules(digests) == []


def test_a_module_that_changed_or_went_is_named(make_module: MakeModule, tmp_path: Path) -> None:
    make_module("X = 1\n", "pack.__init__")
    make_module("Y = 2\n", "pack.edited")
    make_module("Y = 2\n", "pack.gone")
    digests = digest_targets(resolve_targets(["pack"]))
    (tmp_path / "pack" / "edited.py").write_text("Y = 3\n")
    (tmp_path / "pack" / "gone.py").unlink()
    assert changed_modules(digests) == ["pack.edited", "pack.gone"]


def test_nothing_is_imported_to_look_a_module_up(make_module: MakeModule) -> None:
    make_module("raise SystemExit", "loud.__init__", import_it=False)
    make_module("raise SystemExit", "loud.inner", import_it=False)
    digest = hashlib.sha256(b"raise SystemExit").hexdigest()
    assert changed_modules({"loud": digest, "loud.inner": digest, "loud.other": digest}) == ["loud.other"]
    assert "loud" not in sys.modules
