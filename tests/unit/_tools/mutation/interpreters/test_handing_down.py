"""What the environment of an interpreter needs so that it meets a mutant."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordeal._tools.mutation.interpreters import sitecustomize
from ordeal._tools.mutation.interpreters.handing_down import environment_of, hand_down
from ordeal._tools.mutation.interpreters.sitecustomize import MUTANT

OURS = str(Path(sitecustomize.__file__).parent)


def test_an_environment_of_its_own_gets_what_is_needed_and_keeps_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MUTANT, "file")
    assert environment_of({"A": "b", "PYTHONPATH": "src"}) == {
        "A": "b",
        MUTANT: "file",
        "PYTHONPATH": os.pathsep.join((OURS, "src")),
    }
    assert environment_of({}) == {MUTANT: "file", "PYTHONPATH": OURS}
    monkeypatch.setenv("PYTHONPATH", "src")
    found = environment_of(None)
    assert found is not None
    assert found["PYTHONPATH"] == os.pathsep.join((OURS, "src"))
    assert environment_of(found) is found
    bytes_of = {b"A": b"b"}
    assert environment_of(bytes_of) is bytes_of


def test_nothing_is_added_where_there_is_no_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (sitecustomize.MUTANT, sitecustomize.LINES, sitecustomize.WATCHED):
        monkeypatch.delenv(name, raising=False)
    assert environment_of(None) is None
    given = {"A": "b"}
    assert environment_of(given) is given


@pytest.mark.parametrize(
    "starts",
    [
        lambda env: os.execve("x", ["x"], env),
        lambda env: os.execve(path="x", argv=["x"], env=env),
        lambda env: os.execvpe("/x", ["x"], env),
        lambda env: os.execle("x", "x", env),
        lambda env: os.posix_spawn("x", ["x"], env, setpgroup=0),
        lambda env: os.posix_spawnp("x", ["x"], env),
    ],
)
def test_what_os_starts_meets_the_mutant_too(
    monkeypatch: pytest.MonkeyPatch, starts: Callable[[dict[str, str]], Any]
) -> None:
    monkeypatch.setenv(MUTANT, "file")
    met = []
    for name in ("execve", "posix_spawn", "posix_spawnp"):
        monkeypatch.setattr(os, name, lambda path, argv, env, **_named: met.append(env))
    monkeypatch.setattr(subprocess.Popen, "__init__", subprocess.Popen.__init__)
    hand_down()
    starts({"A": "b"})
    assert met == [{"A": "b", MUTANT: "file", "PYTHONPATH": OURS}]
