"""What every launcher runs: a member that nobody has told anything says so."""

from __future__ import annotations

import io

import pytest

from ordeal.cli.fleet.agent import main


@pytest.mark.parametrize("given", ["ORDEAL_STORE", "ORDEAL_FLEET_TASK"])
def test_what_is_missing_is_named(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ORDEAL_STORE", raising=False)
    monkeypatch.delenv("ORDEAL_FLEET_TASK", raising=False)
    monkeypatch.setenv(given, "x")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main() == 2
    assert "is not set" in capsys.readouterr().err
