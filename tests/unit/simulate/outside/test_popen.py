"""`subprocess.run` and its like get declared answers too, and block the loop for as long as the process takes."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess

import pytest

from ordeal import simulate


def test_the_functions_of_subprocess_get_the_answers() -> None:
    async def main(world: simulate.World) -> None:
        world.process("git", {"rev-parse HEAD": "abc\n", "push": simulate.Output("out", "error", code=3)})
        world.process("tr", lambda command: command.stdin.upper())
        assert subprocess.check_output(["git", "rev-parse", "HEAD"]) == b"abc\n"
        assert subprocess.check_output("git rev-parse HEAD", shell=True, text=True) == "abc\n"
        done = subprocess.run(["git", "push"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (3, "out", "error")
        assert subprocess.call(["git", "push"]) == 3
        with pytest.raises(subprocess.CalledProcessError):
            subprocess.run(["git", "push"], check=True)
        assert subprocess.check_output(["tr"], input="x", text=True) == "X"
        with subprocess.Popen(["git", "push"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            assert isinstance(process, subprocess.Popen)
            assert process.stdout is not None
            assert process.stdout.read() == b"outerror"
            assert process.poll() == 3
        assert os.popen("git rev-parse HEAD").read() == "abc\n"

    simulate.run(main)
    assert subprocess.run(["true"], check=False).returncode == 0


def test_time_passes_while_somebody_waits() -> None:
    async def main(world: simulate.World) -> None:
        world.process("job", simulate.Output(seconds=5))
        with pytest.raises(subprocess.TimeoutExpired):
            await asyncio.to_thread(subprocess.run, ["job"], timeout=2)
        await asyncio.to_thread(subprocess.run, ["job"])
        assert world.time >= 5
        subprocess.run(["job"], check=False)

    with pytest.raises(simulate.BlockedLoop, match="5 s"):
        simulate.run(main)


def test_what_is_not_declared_comes_with_a_stub() -> None:
    async def main(world: simulate.World) -> None:
        subprocess.run(["git", "log"], check=False)

    with pytest.raises(simulate.EscapedSimulation) as caught:
        simulate.run(main)
    assert re.search(r'world\.process\("git", {"log": "what it prints"}\)', str(caught.value))


def test_an_answer_that_waits_cannot_be_given_without_a_loop() -> None:
    async def main(world: simulate.World) -> None:
        async def answer(command: simulate.Command) -> str:
            return command.line

        world.process("git", answer)
        subprocess.run(["git", "log"], check=False)

    with pytest.raises(simulate.EscapedSimulation, match="create_subprocess_exec"):
        simulate.run(main)
