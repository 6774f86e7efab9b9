"""The launcher for this machine: its members are processes, and close ends them all."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.unit._engine.parallel.fleet.plans import plan_on

from ordeal._engine.parallel.fleet.launcher import LocalLauncher


def test_close_leaves_nothing_running(tmp_path: Path) -> None:
    launcher = LocalLauncher(plan_on("local:1", f"dir://{tmp_path}", test_class="no_such_module:A", path=str(tmp_path)))
    launcher.start(0, 1)
    assert launcher.running() == {0}
    launcher.close()
    assert launcher.running() == set()


def test_members_are_told_twice_when_their_end_is_not_waited_for(tmp_path: Path) -> None:
    class Slow:
        told: ClassVar[list[int]] = []
        stdin = stdout = stderr = None
        pid = 2**22 + 1

        def send_signal(self, number: int) -> None:
            self.told.append(number)

        def kill(self) -> None: ...

        def wait(self, timeout: float) -> None:
            if len(self.told) == 1:
                raise KeyboardInterrupt

    launcher = LocalLauncher(plan_on("local:1"))
    launcher._members[0] = Slow()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        launcher.close()
    assert Slow.told == [signal.SIGTERM, signal.SIGTERM]


def test_what_is_in_the_environment_of_a_member_is_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDEAL_STORE", "redis://:sesame@127.0.0.1:1/0")
    store = os.environ["ORDEAL_STORE"]
    launcher = LocalLauncher(plan_on("local:1", store, test_class="no_such_module:A", path=str(tmp_path)))
    told: dict[str, object] = {}

    class Told(subprocess.Popen[bytes]):
        def __init__(self, command: list[str], *, env: dict[str, str], **options: Any) -> None:
            told.update(command=command, env=env)
            super().__init__(command, env=env, **options)

    # Not read from /proc: a process may have begun before the kernel lays out its environment, or have ended.
    monkeypatch.setattr("ordeal._base.interpreter.subprocess.Popen", Told)
    launcher.start(0, 1)
    # It was told where the store is all the same, and that nobody is there is wrong use.
    assert launcher._members[0].wait(timeout=600) == 2
    assert "ORDEAL_FLEET_TASK" in str(told["env"])
    assert "sesame" not in str(told)
