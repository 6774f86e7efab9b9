"""``ordeal mutate --with machines``: what it needs, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit._engine.mutation.machines import till

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("drawer.py").write_text(Path(till.__file__).read_text())


def test_a_project_without_machines_is_wrong_use(run: Run) -> None:
    code, _, err = run("mutate", "drawer.py", "--with", "machines")
    assert code == 2
    assert "ordeal.toml" in err


@pytest.mark.nightly
def test_a_survivor_is_named_with_the_state_that_differs(run: Run) -> None:
    Path("ordeal.toml").write_text('[explorer]\ntarget_modules = ["drawer"]\n[[tests]]\nclass = "drawer:Till"\n')
    code, out, _ = run("mutate", "drawer.py", "--with", "machines", "--runs", "60", "-p", "essential", "--json")
    document = json.loads(out)
    assert code == 0
    gap = next(
        each for each in document["mutants"] if each["name"] == "Drawer.give_back" and each["replacement"] == "-="
    )
    assert (gap["verdict"], gap["difference"]["path"]) == ("survived", "drawer.given_back")
    assert document["machines"][0]["unread"] == ["drawer.given_back"]
