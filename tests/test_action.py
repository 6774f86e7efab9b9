"""The GitHub Action: its steps, run as a runner would run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
MACHINES = """
    from ordeal import ChaosTest, rule

    class Shop(ChaosTest):
        @rule()
        def go(self):
            assert False, "always @someone"
"""
#: Stands in for GitHub's command line: it notes how it was called, and knows the comment in the file `comment`.
GH = """\
#!/bin/sh
echo "$@" >> calls
case "$*" in
*--paginate*) cat comment 2>/dev/null || true ;;
*) cat > body ;;
esac
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES))
    Path("ordeal.toml").write_text('[explorer]\nmax_runs = 1\nworkers = 1\n[[tests]]\nclass = "machines:Shop"\n')
    Path("bin").mkdir()
    Path("bin/gh").write_text(GH)
    Path("bin/gh").chmod(0o755)


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return loaded


def run_step(name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the shell of a step with the inputs in the place of its expressions."""
    described = action()
    (step,) = (each for each in described["runs"]["steps"] if each["name"] == name)
    given = {key: value["default"] for key, value in described["inputs"].items()} | inputs
    environment = {**os.environ, "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": "outputs"}
    environment |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_REPOSITORY": "a/b"}
    environment["PATH"] = os.pathsep.join(
        [str(Path("bin").absolute()), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    environment["PYTHONPATH"] = str(ROOT / "python")
    for key, value in step.get("env", {}).items():
        place = value.removeprefix("${{ ").removesuffix(" }}")
        environment[key] = given.get(place.removeprefix("inputs."), "7")
    return subprocess.run(
        ["bash", "-e", "-c", step["run"]], env=environment, capture_output=True, text=True, check=False
    )


def outputs() -> dict[str, str]:
    return dict(line.split("=", 1) for line in Path("outputs").read_text().splitlines())


@pytest.mark.slow
def test_a_pull_request_fails_on_what_the_night_did_not_have() -> None:
    done = run_step("Explore", mode="nightly")
    assert done.returncode == 0, done.stderr
    assert outputs() == {"findings": "1", "new": "1", "edges": "0", "exit-code": "1", "report-path": ".ordeal/report"}
    assert "::error file=machines.py,line=7,title=ordeal " in done.stderr
    assert Path("summary.md").read_text().startswith("## ordeal: 1 finding in 1 class")
    assert sorted(path.name for path in Path(".ordeal/report").iterdir()) == [
        "ordeal.json",
        "ordeal.md",
        "ordeal.sarif",
    ]
    done = run_step("Explore", mode="pr", reports="json")
    assert (outputs()["findings"], outputs()["new"], outputs()["exit-code"]) == ("1", "0", "0"), done.stderr
    # The comment is written, and written over by the next run.
    assert run_step("Comment on the pull request").returncode == 0
    body = Path("body").read_text()
    assert body.startswith("<!-- ordeal -->\n## ordeal: 1 finding in 1 class")
    assert "`AssertionError: always @someone`" in body
    Path("comment").write_text("33\n")
    assert run_step("Comment on the pull request").returncode == 0
    assert [line.split()[1:4] for line in Path("calls").read_text().splitlines() if "--field" in line] == [
        ["repos/a/b/issues/7/comments", "--method", "POST"],
        ["repos/a/b/issues/comments/33", "--method", "PATCH"],
    ]


def test_an_input_that_is_wrong_is_named() -> None:
    done = run_step("Explore", mode="weekly")
    assert done.returncode == 2
    assert done.stderr.startswith("error: the input `mode` is 'weekly'\n\nhint: write pr or nightly")


@pytest.mark.slow
def test_the_gate_fails_the_job_when_something_stops_the_merge() -> None:
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "first")):
        subprocess.run([*git, *words], check=True)
    done = run_step("Gate", gate="HEAD")
    assert (done.returncode, "nothing stops the merge" in done.stdout) == (0, True), done.stderr
    with Path("machines.py").open("a") as file:
        file.write("# changed\n")
    done = run_step("Gate", gate="HEAD")
    assert (done.returncode, "AssertionError: always @someone" in done.stdout) == (1, True), done.stderr


def test_the_action_declares_what_it_uses() -> None:
    described = action()
    text = json.dumps(described["runs"])
    assert [name for name in described["inputs"] if f"inputs.{name}" not in text] == []
    assert {value["value"].split(".")[-1].split(" ")[0] for value in described["outputs"].values()} == {
        *("findings", "new", "edges", "report-path")
    }
