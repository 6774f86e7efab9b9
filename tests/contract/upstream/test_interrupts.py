"""A weak point of the public project, turned round: Ctrl-C ends the work and loses nothing that was found."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

import pytest

from ..projects import CLI_TIME_LIMIT_S, Project, environment

pytestmark = pytest.mark.slow

PROJECT = {
    "chaos.py": """
        import time

        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, rule

        class Slow(RuleBasedStateMachine):
            def __init__(self):
                super().__init__()
                self.seen = []

            @rule(number=st.integers(0, 999))
            def add(self, number):
                time.sleep(0.004)
                self.seen.append(number)
                if len(self.seen) > 3 and sum(self.seen) > 2500:
                    raise ValueError("too much")

            @rule()
            def drop(self):
                if len(self.seen) == 2:
                    raise KeyError("dropped")
    """,
    "ordeal.toml": """
        [explorer]
        max_runs = 40
        [[tests]]
        class = "chaos:Slow"
        [[tests]]
        class = "chaos:Slow"
        [report]
        format = "both"
        traces = true
    """,
}


def interrupted(project: Project, marker: str, *options: str) -> tuple[int, str, str]:
    """Run ``ordeal explore -v`` and press Ctrl-C once what it says matches ``marker``; exit code, stdout and stderr."""
    command = [sys.executable, "-m", "ordeal", "explore", "-v", *options]
    with subprocess.Popen(
        command,
        cwd=project.root,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        said = ""
        while not re.search(marker, said):
            line = process.stderr.readline()
            assert line, f"it ended without saying {marker!r}:\n{said}"
            said += line
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=CLI_TIME_LIMIT_S)
    return process.returncode, out, said + err


@pytest.mark.parametrize("workers", [pytest.param("1", marks=pytest.mark.nightly), "2"])
@pytest.mark.parametrize(
    ("marker", "options", "shrunk"),
    [
        pytest.param(r"\[[2-9]s\] runs=", ["--max-runs", "1000000", "--seed", "3"], True, id="exploring"),
        pytest.param("shrinking failure", [], False, id="shrinking"),
    ],
)
def test_finding_06_ctrl_c_loses_nothing(
    project: Project, marker: str, options: list[str], shrunk: bool, workers: str
) -> None:
    project.write(PROJECT)
    code, out, err = interrupted(project, marker, "-w", workers, *options)
    assert code == 1, err
    assert "Traceback" not in err
    assert "interrupted: the report shows what was found so far\n" in err
    assert err.count("Exploring chaos:Slow...") == 1
    (result,) = json.loads((project.root / "ordeal-report.json").read_text(encoding="utf-8"))["results"]
    assert result["stopped_reason"] == "interrupted"
    assert "    Stopped: interrupted\n" in out
    assert result["failures"]
    for failure in result["failures"]:
        assert (project.root / failure["trace_path"]).is_file()
        assert (project.root / failure["seed_path"]).is_file()
    if not shrunk:
        assert len(result["failures"]) == 2
        assert "Shrinking was interrupted: some traces are longer than need be." in result["notes"]
        replayed = project.python("-m", "ordeal", "seeds")
        assert replayed.returncode == 1
        assert replayed.stderr.count("REGRESSION") == 2
