"""What the first description of the Explorer promises, in our words: names, defaults, options, files and outputs.

What deviates stands in ``docs/reference/compatibility.md`` with the reason. Where the environment names the file of the
description itself (``ORDEAL_SEED_000``), its blocks of code run as well.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest

from ordeal.chaos import ChaosTest
from ordeal.cli.commands import commands
from ordeal.config.options import ExplorerConfig, ReportConfig
from ordeal.config.settings_file import load_config
from ordeal.explore import ExplorationResult, Explorer, Tuning
from ordeal.faults import LambdaFault
from ordeal.stateful import rule

from .projects import Project, importable

ROOT = Path(__file__).parents[2]
DEVIATIONS = (ROOT / "docs/reference/compatibility.md").read_text("utf-8").partition("## Where ordeal differs")[2]

PROJECT = {
    "myapp/__init__.py": "",
    "myapp/api.py": """
        class Service:
            def __init__(self):
                self.balance = 0

            def call(self):
                return 200

            def process(self, amount):
                self.balance += amount

            def pay(self, amount):
                if self.call() >= 500:
                    raise RuntimeError("no answer")
                self.balance -= amount
                if self.balance < -20:
                    raise ValueError("balance cannot be negative")
    """,
    "tests/__init__.py": "",
    "tests/test_chaos.py": """
        from hypothesis import strategies as st
        from ordeal import ChaosTest, rule
        from ordeal.faults import timing
        from myapp.api import Service

        class MyServiceChaos(ChaosTest):
            faults = [timing.timeout("myapp.api.Service.call"), timing.slow("myapp.api.Service.process")]

            def __init__(self):
                super().__init__()
                self.service = Service()

            @rule(x=st.integers(0, 9))
            def do_process(self, x):
                self.service.process(x)

            @rule(x=st.integers(0, 9))
            def do_pay(self, x):
                self.service.pay(x)
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["myapp"]
        max_runs = 150
        seed = 0
        workers = 1

        [[tests]]
        class = "tests.test_chaos:MyServiceChaos"
    """,
}


# Names


@pytest.mark.parametrize(
    "name",
    [
        *("ordeal.explore:Explorer", "ordeal.trace:Trace", "ordeal.trace:replay", "ordeal.trace:shrink"),
        *("ordeal.trace:generate_tests", "ordeal:ablate_faults", "ordeal.simulate:Clock", "ordeal.simulate:FileSystem"),
        *("ordeal.explore:ExplorationResult", "ordeal:ChaosTest", "ordeal:reachable"),
    ],
)
def test_name(name: str) -> None:
    module, _, attribute = name.partition(":")
    assert callable(getattr(importlib.import_module(module), attribute))


@pytest.mark.parametrize(
    "name",
    [
        *("total_runs", "total_steps", "unique_edges", "checkpoints_saved", "failures", "duration_seconds", "traces"),
        "coverage_gaps",
    ],
)
def test_field_of_the_result(name: str) -> None:
    assert name in ExplorationResult.__struct_fields__


# Defaults

SETTINGS: dict[str, object] = {
    "target_modules": (), "max_time": 60.0, "max_runs": None, "checkpoint_strategy": "energy", "checkpoint_prob": 0.4,
    "steps_per_run": 50, "fault_toggle_prob": 0.3, "max_checkpoints": 256, "seed": 42, "workers": 0,
    "rule_swarm": False, "share_edges": True, "share_checkpoints": True,
}  # fmt: skip
REPORT = {
    "corpus_dir": ".ordeal/seeds",
    "traces_dir": ".ordeal/traces",
    "traces": False,
    "format": "text",
    "verbose": False,
}
ARGUMENTS: dict[str, object] = {
    **{name: value for name, value in SETTINGS.items() if name not in ("max_time", "max_runs", "steps_per_run")},
    "target_modules": None,
}
RUN = {"max_time": 60.0, "max_runs": None, "steps_per_run": 50, "shrink": True, "max_shrink_time": 30.0}
DEVIATING = {"checkpoint_prob": None, "rule_swarm": None}


def check_default(name: str, found: object, promised: object) -> None:
    if name in DEVIATING:
        assert found == DEVIATING[name]
        assert f"| `{name}` is {json.dumps(promised)} |" in DEVIATIONS
    else:
        assert found == promised
        assert f"| `{name}` is {promised}" not in DEVIATIONS


@pytest.mark.parametrize("name", SETTINGS)
def test_default_of_a_setting(name: str) -> None:
    check_default(name, getattr(ExplorerConfig(), name), SETTINGS[name])


@pytest.mark.parametrize("name", REPORT)
def test_default_of_the_report(name: str) -> None:
    assert getattr(ReportConfig(), name) == REPORT[name]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_default_of_an_argument(name: str) -> None:
    check_default(name, inspect.signature(Explorer).parameters[name].default, ARGUMENTS[name])


@pytest.mark.parametrize("name", RUN)
def test_default_of_an_argument_of_run(name: str) -> None:
    assert inspect.signature(Explorer.run).parameters[name].default == RUN[name]


# Command lines

COMMANDS = {command.name: command for command in commands()}
LINES = [
    "ordeal explore -v",
    "ordeal explore --max-time 300 --seed 99 -w 8",
    "ordeal explore -v --save-state .ordeal/state.pkl",
    "ordeal explore -v --resume .ordeal/state.pkl --save-state .ordeal/state.pkl",
    "ordeal explore --no-shrink",
    "ordeal explore --no-seeds",
    "ordeal explore -v -c ordeal.toml --generate-tests tests/test_generated.py",
    "ordeal explore -w 1",
    "ordeal replay .ordeal/traces/fail-run-42.json",
    "ordeal replay --shrink .ordeal/traces/fail-run-42.json -o minimal.json",
    "ordeal replay --ablate .ordeal/traces/fail-run-42.json",
    "ordeal seeds",
    "ordeal seeds --prune-fixed",
    "ordeal benchmark",
    "ordeal benchmark --max-workers 16",
    "ordeal benchmark --time 30",
    "ordeal benchmark --metric steps",
]


@pytest.mark.parametrize("line", LINES)
def test_command_line(line: str) -> None:
    parse(line)


def parse(line: str) -> None:
    _, name, *arguments = shlex.split(line, comments=True)
    context: click.Context = COMMANDS[name].make_context(name, arguments)
    context.close()


# An exploration, and what comes of it


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, str, str]]:
    """A project after `ordeal explore -v --generate-tests`, with what that wrote to stdout and stderr."""
    with importable(tmp_path_factory.mktemp("seed_000")) as project:
        project.write(PROJECT)
        done = project.explore("-v", "--generate-tests", "tests/test_generated.py")
        assert done.returncode == 1, done.stderr
        yield project, done.stdout, done.stderr


@pytest.mark.parametrize(
    "pattern",
    [
        r"^--- Ordeal Exploration Report ---$",
        r"^  tests\.test_chaos:MyServiceChaos$",
        r"^    150 runs, \d+ steps, \d+\.\ds$",
        r"^    \d+ edges, \d+ checkpoints$",
        r"^    \d FAILURES:$",
        r"^      ValueError: balance cannot be negative \(\d+ steps\)$",
        r"^      TimeoutError: .* \(\d+ steps\)$",
        r"Active faults: timeout",
        r"Necessary faults: timeout",
        r"Sequence: .*do_pay",
        r"^    Line coverage: \d+/\d+ \(\d+%\)$",
        r"^    Not reached in 150 runs: \d+ branch\(es\) in target modules$",
        r"^      myapp/api\.py:\d+ raise RuntimeError",
        r'^        add: reachable\("myapp/api\.py:\d+: raise RuntimeError',
    ],
)
def test_report(explored: tuple[Project, str, str], pattern: str) -> None:
    assert re.search(pattern, explored[1], re.MULTILINE), explored[1]


@pytest.mark.parametrize(
    "pattern",
    [
        r"^  \[\d+s\] runs=\d+ steps=\d+ edges=\d+ cps=\d+ fails=\d+ \(\d+ runs/s\)",
        r"^  Seeds saved: 2 in \.ordeal/seeds/",
        r"^Generated tests: tests/test_generated\.py$",
    ],
)
def test_progress(explored: tuple[Project, str, str], pattern: str) -> None:
    assert re.search(pattern, explored[2], re.MULTILINE), explored[2]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_live_number_of_checkpoints_is_that_of_the_report(
    explored: tuple[Project, str, str], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    live: list[int] = []
    with service(explored, monkeypatch) as names:
        explorer = Explorer(names["MyServiceChaos"], target_modules=["myapp"], workers=workers, max_checkpoints=3)
        result = explorer.run(max_runs=200, shrink=False, progress=lambda now: live.append(now.checkpoints))
    assert result.checkpoints is not None
    assert max(live) <= result.checkpoints <= 3
    assert f", {result.checkpoints} checkpoint" in result.summary()
    assert result.checkpoints_saved > 3


def test_seeds_and_traces_are_files_of_json(explored: tuple[Project, str, str]) -> None:
    root = explored[0].root
    traces = sorted((root / ".ordeal/traces").glob("fail-run-*.json"))
    seeds = sorted((root / ".ordeal/seeds/MyServiceChaos").glob("seed-????????????.json"))
    assert len(traces) == len(seeds) == 2
    for path in [*traces, *seeds]:
        assert json.loads(path.read_text())["test_class"] == "tests.test_chaos:MyServiceChaos"


def test_generated_tests_replay_what_was_found(explored: tuple[Project, str, str]) -> None:
    source = (explored[0].root / "tests/test_generated.py").read_text()
    assert "from tests.test_chaos import MyServiceChaos" in source
    assert re.search(r"def test_fail_value_error_\w{12}\(\)", source)
    assert "| generated tests are named by run" in DEVIATIONS
    done = explored[0].python(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-ordeal-seeds", "tests/test_generated.py"
    )
    assert done.returncode == 1


def test_seeds_are_listed_and_replayed_by_every_pytest(explored: tuple[Project, str, str]) -> None:
    listed = explored[0].python("-m", "ordeal", "seeds")
    assert listed.returncode == 1
    assert listed.stderr.count("  REGRESSION  seed-") == 2
    ran = explored[0].python("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_chaos.py")
    assert "Ordeal Seed Corpus" in ran.stdout
    assert len(re.findall(r"REGRESSION  seed-\w+: tests\.test_chaos:MyServiceChaos — ", ran.stdout)) == 2
    assert "2 regression(s) still reproduce" in ran.stdout


def test_a_trace_is_replayed_shrunk_and_ablated(explored: tuple[Project, str, str]) -> None:
    project = explored[0]
    trace = min((project.root / ".ordeal/traces").glob("fail-run-*.json"))
    done = project.python("-m", "ordeal", "replay", str(trace), "--shrink", "--ablate", "-o", "minimal.json.gz")
    assert done.returncode == 1
    assert "Failure reproduced: " in done.stderr
    assert (project.root / "minimal.json.gz").read_bytes()[:2] == b"\x1f\x8b"


# Snippets of Python, as the description has them

SNIPPETS = """
from ordeal.explore import Explorer
explorer = Explorer(MyServiceChaos, target_modules=["myapp"], workers=1)
result = explorer.run(max_runs=60, record_traces=True)
assert result.summary()
assert all({"file", "line", "code"} <= set(gap) for gap in result.coverage_gaps)
for suggestion in result.reachability_suggestions():
    assert suggestion["suggestion"].startswith("reachable(")
    assert suggestion["confidence"] == "not_reached"
    assert suggestion["runs"] == result.total_runs
from ordeal.trace import Trace, generate_tests, replay, shrink
trace = next(failure.trace for failure in result.failures if "Timeout" in type(failure.error).__name__)
trace.save("t.json.gz")
trace = Trace.load("t.json.gz")
assert replay(trace) is not None
minimal = shrink(trace, MyServiceChaos, max_time=60.0)
minimal.save("minimal.json")
assert len(minimal.steps) <= len(trace.steps)
from ordeal import ablate_faults
faults = ablate_faults(trace)
assert any(faults.values()) and all(isinstance(needed, bool) for needed in faults.values())
compile(generate_tests(result.traces), "generated", "exec")
"""


@contextmanager
def service(explored: tuple[Project, str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    monkeypatch.chdir(explored[0].root)
    yield {"MyServiceChaos": explored[0].load("tests.test_chaos:MyServiceChaos")}


def test_snippets(explored: tuple[Project, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with service(explored, monkeypatch) as names:
        exec(SNIPPETS, names)


@pytest.mark.parametrize("name", ["starts", "swarm"])
def test_kinds_of_runs_are_told(explored: tuple[Project, str, str], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with service(explored, monkeypatch) as names:
        result = Explorer(names["MyServiceChaos"], target_modules=["myapp"], workers=1).run(max_runs=80, shrink=False)
    assert sum(result.run_kinds[name].values()) <= result.total_runs
    assert sum(result.run_kinds["starts"].values()) == result.total_runs


# What options do


@pytest.fixture(scope="module")
def service_class(explored: tuple[Project, str, str]) -> Any:
    return explored[0].load("tests.test_chaos:MyServiceChaos")


def run(cls: Any, *, runs: int = 60, **options: Any) -> ExplorationResult:
    explorer = Explorer(cls, **{"target_modules": ["myapp"], "workers": 1, **options})
    return explorer.run(max_runs=runs, shrink=False, record_traces=True)


def test_the_same_seed_gives_the_same_exploration(service_class: Any) -> None:
    first, second, other = (run(service_class, seed=seed) for seed in (1, 1, 2))
    assert (first.total_steps, first.unique_edges) == (second.total_steps, second.unique_edges)
    assert [trace.to_dict() for trace in first.traces] == [trace.to_dict() for trace in second.traces]
    assert first.total_steps != other.total_steps


def test_each_strategy_chooses_checkpoints_and_each_policy_rules_of_its_own(service_class: Any) -> None:
    made = [
        run(service_class, checkpoint_strategy=each, checkpoint_prob=0.6) for each in ("energy", "uniform", "recent")
    ]
    assert all(result.run_kinds["starts"]["branch"] > 0 for result in made)
    made += [run(service_class, rule_swarm=True, tuning=Tuning(swarm_policy=each)) for each in ("classic", "adaptive")]
    # From one seed, no two of them make the same runs.
    assert len({tuple(trace.content_hash() for trace in result.traces) for result in made}) == len(made)


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (0.4, 0.32, 0.48), (1.0, 0.98, 1), (None, 0.32, 0.48)])
def test_the_share_of_runs_from_checkpoints(service_class: Any, share: float | None, low: float, high: float) -> None:
    result = run(service_class, runs=300, checkpoint_prob=share, tuning=Tuning(swarm_policy="classic"))
    starts = result.run_kinds["starts"]
    assert low <= starts["branch"] / (starts["fresh"] + starts["branch"]) <= high
    assert "turn a comparison" in DEVIATIONS


def test_no_run_is_longer_than_it_may_be(service_class: Any) -> None:
    explorer = Explorer(service_class, workers=1, checkpoint_prob=0.0)
    assert explorer.run(max_runs=40, steps_per_run=5, shrink=False).total_steps <= 200


def test_without_toggles_no_fault_is_on(service_class: Any) -> None:
    assert all(use.runs == 0 for use in run(service_class, fault_toggle_prob=0.0).faults)


def test_there_are_no_more_checkpoints_than_may_be(service_class: Any) -> None:
    assert run(service_class, max_checkpoints=2).checkpoints == 2


def test_a_failure_does_not_end_the_search(service_class: Any) -> None:
    result = run(service_class, runs=150)
    assert result.total_runs == 150
    assert len(result.failures) == 2
    assert min(failure.run_id for failure in result.failures) < 150


def test_without_targets_it_explores_and_says_what_it_misses(service_class: Any) -> None:
    result = run(service_class, target_modules=[])
    assert (result.unique_edges, result.total_runs) == (0, 60)
    assert "Coverage: off." in result.summary()


@pytest.mark.parametrize("option", ["share_edges", "share_checkpoints"])
def test_workers_share_or_do_not(service_class: Any, option: str) -> None:
    assert run(service_class, workers=2, **{option: False}).total_runs == 60


def test_swarm_says_how_it_chose_and_traces_record_it(service_class: Any) -> None:
    result = run(service_class, runs=80, rule_swarm=True)
    assert re.match(
        r"80 runs: 20 warm-up, \d+ full, \d+ coin-flip, \d+ coverage-directed, \d+ energy", result.swarm_summary
    )
    assert result.traces
    for trace in result.traces:
        first = trace.steps[0]
        ran = {step.name for step in trace.steps if step.kind == "rule"}
        assert first.kind == "rule_swarm"
        assert ran <= set(first.params["active_rules"])


def test_the_report_is_a_file_of_json_where_that_is_asked_for(tmp_path: Path) -> None:
    with importable(tmp_path) as project:
        project.write(PROJECT)
        settings = tmp_path / "ordeal.toml"
        more = '[report]\nformat = "json"\noutput = "report.json"\ntraces = true\ntraces_dir = "found"\n'
        settings.write_text(f"{settings.read_text()}\n{more}")
        done = project.explore("--no-shrink", "--max-runs", "40", "--seed", "0")
        assert done.stdout == ""
        assert "Report saved: report.json" in done.stderr
        (result,) = json.loads((tmp_path / "report.json").read_text())["results"]
    assert result["test_class"] == "tests.test_chaos:MyServiceChaos"
    assert {"total_runs", "total_steps", "unique_edges", "checkpoints_saved", "telemetry", "failures"} <= set(result)
    assert done.returncode == (1 if result["failures"] else 0)
    assert list((tmp_path / "found").glob("*-run-*.json"))


def test_a_fixed_seed_is_kept_until_it_is_pruned(tmp_path: Path) -> None:
    with importable(tmp_path) as project:
        project.write(PROJECT)
        assert project.explore().returncode == 1
        service = tmp_path / "myapp/api.py"
        service.write_text(service.read_text().replace("if self.balance < -20:", "if False:"))
        listed = project.python("-m", "ordeal", "seeds")
        assert listed.stderr.count("  fixed       seed-") == 1
        pruned = project.python("-m", "ordeal", "seeds", "--prune-fixed")
        assert "Pruned 1 fixed seed(s)." in pruned.stderr
        assert len(list((tmp_path / ".ordeal/seeds").rglob("seed-*.json"))) == 1


# Deviations


def test_each_row_of_the_deviations_is_whole() -> None:
    rows = [row for row in DEVIATIONS.splitlines() if row.startswith("| ")][1:]
    assert len(rows) >= len(DEVIATING)
    for row in rows:
        promised, here, why = (cell.strip() for cell in row.strip("|").split(" | "))
        assert promised
        assert here
        assert why.endswith(".")


@pytest.mark.parametrize(("policy", "low", "high"), [("classic", 0.27, 0.33), ("adaptive", 0.2, 0.33)])
def test_share_of_the_steps_that_switch_a_fault(policy: Any, low: float, high: float) -> None:
    counted = {"switched": 0, "left on": 0}

    def switch() -> None:
        counted["switched"] += 1

    class Machine(ChaosTest):
        faults = [LambdaFault("a", switch, switch), LambdaFault("b", switch, switch)]  # noqa: RUF012

        @rule()
        def go(self) -> None: ...

        def teardown(self) -> None:
            counted["left on"] += len(self.active_faults)
            super().teardown()

    explorer = Explorer(Machine, workers=1, tuning=Tuning(swarm_policy=policy), max_checkpoints=0)
    steps = explorer.run(max_runs=600, shrink=False).total_steps
    assert low <= (counted["switched"] - counted["left on"]) / steps <= high
    assert "| `fault_toggle_prob` is the share of steps" in DEVIATIONS


# The description itself


def seed_text() -> str:
    path = os.environ.get("ORDEAL_SEED_000", "")
    if not path:
        pytest.skip("ORDEAL_SEED_000 names no file")
    return Path(path).read_text("utf-8")


def test_each_command_line_of_the_description() -> None:
    found = re.findall(
        r"^(?:uv run )?(ordeal (?:explore|replay|seeds|benchmark)\b(?:(?! -- ).)*)$", seed_text(), re.MULTILINE
    )
    lines = [line for line in found if ". -" not in line]
    assert len(lines) >= 10
    for line in lines:
        parse(line.replace("$RANDOM", "7"))


def test_each_settings_file_of_the_description(tmp_path: Path) -> None:
    blocks = re.findall(r"^\[explorer\]\n(?:.*\n)*?(?=^[A-Z-].*\n)", seed_text(), re.MULTILINE)
    assert blocks
    for block in blocks:
        tomllib.loads(block)
        path = tmp_path / "ordeal.toml"
        path.write_text(block)
        load_config(path)


def test_each_snippet_of_the_description(explored: tuple[Project, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = list(python_blocks(seed_text().splitlines()))
    assert len(blocks) >= 6
    with service(explored, monkeypatch) as names:
        traces = Path(".ordeal/traces")
        one = min(traces.glob("fail-run-*.json")).read_bytes()
        for place in (traces / "fail-run-42.json", Path("fail-run-42.json")):
            place.write_bytes(one)
        run = Explorer.run
        monkeypatch.setattr(Explorer, "run", lambda self, max_time, **options: run(self, max_runs=60, **options))
        names |= {"Path": Path}
        for block in blocks:
            exec(block, names)


def python_blocks(lines: list[str]) -> Iterator[str]:
    """The longest pieces that are Python from each line on where one begins. The text has lost its indentation."""
    at = 0
    while at < len(lines):
        best = 0
        if re.match(r"from ordeal[.\w]* import |explorer = |result = explorer", lines[at]):
            for end in range(at + 1, min(at + 25, len(lines)) + 1):
                if is_python(indented(lines[at:end])) and not re.match(r"[A-Z]\w* ?\w*$", lines[end - 1]):
                    best = end
        if best:
            yield indented(lines[at:best])
            at = best
        else:
            at += 1


def indented(lines: list[str]) -> str:
    inside, made = False, []
    for line in lines:
        inside = inside and line.startswith("print(")
        made.append(f"    {line}" if inside else line)
        inside = inside or line.rstrip().endswith(":")
    return "\n".join(made)


def is_python(text: str) -> bool:
    try:
        compile(text, "block", "exec")
    except SyntaxError:
        return False
    return True
