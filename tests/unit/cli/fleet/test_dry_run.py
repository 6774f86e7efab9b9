"""``--dry-run`` prints the job of a scheduler, without the password of the store."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.unit.cli.conftest import Run


def test_the_job_is_printed_and_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    lines = ["from ordeal import ChaosTest, rule", "class Dry(ChaosTest):", "    @rule()", "    def go(self): pass"]
    Path("dry_machine.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("ORDEAL_STORE", "redis://:sesame@host:6379/0")
    words = ("explore", "dry_machine:Dry", "--members", "3", "--dry-run")
    code, out, err = run(*words, "--on", "kubernetes", "--image", "registry/app:1")
    assert (code, "sesame" in out + err) == (0, False)
    assert yaml.safe_load(out)["spec"]["completions"] == 3
    code, out, err = run(*words, "--on", "slurm")
    assert (code, "sesame" in out + err, "#SBATCH --array=0-2" in out) == (0, False, True)
    assert run("explore", "dry_machine:Dry", "--dry-run")[0] == 2
    assert not Path(".ordeal").exists()
