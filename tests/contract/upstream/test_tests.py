"""Weak points of the public project, turned round: the tests that an exploration writes."""

from __future__ import annotations

import ast
import json
import re
import subprocess

import pytest

from ordeal.trace import Trace, generate_tests

from ..projects import Project, explore

pytestmark = pytest.mark.slow

STORE = """
    def look(number):
        if number > 3:
            if number > 10:
                return "many"
            return "some"
        return "few"

    switched = []
"""
VALUES = '''
    import dataclasses
    import datetime
    import decimal
    import enum
    import math

    import numpy
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays
    from ordeal import ChaosTest, invariant, rule

    from stock import store


    class Size(enum.Enum):
        SMALL = "s"
        LARGE = "l"


    @dataclasses.dataclass(frozen=True)
    class Box:
        label: str
        due: datetime.date
        weights: tuple[float, ...] = ()


    boxes = st.builds(Box, st.text(), st.dates(), st.tuples(st.just(math.nan), st.floats()))
    nested = st.recursive(st.none() | st.binary() | st.text(), lambda inner: st.lists(inner) | st.tuples(inner))


    class Machine(ChaosTest):
        """Takes values of every kind."""

        def __init__(self):
            super().__init__()
            self.count = 0

        @rule(
            number=st.sampled_from([math.nan, math.inf, -math.inf, -0.0]),
            moment=st.datetimes(timezones=st.just(datetime.UTC)),
            box=boxes,
            size=st.sampled_from(Size),
            huge=st.integers(10**400, 10**401),
            text=st.sampled_from(["\\ud800", "\\'\\"\\"\\"\\\\n\\\\", "\\u2028\\x00\\x1b", "\\U0001f600", "{x}"]),
            price=st.decimals(),
            kept=st.frozensets(st.integers(0, 99)) | st.sets(st.text()),
            grid=arrays.arrays("float32", (2, 2)),
            deep=nested,
            table=st.dictionaries(st.tuples(st.integers(), st.binary()), st.lists(st.complex_numbers())),
        )
        def take(self, number, moment, box, size, huge, text, price, kept, grid, deep, table):
            assert isinstance(box, Box) and isinstance(price, decimal.Decimal) and isinstance(grid, numpy.ndarray)
            assert huge >= 10**400 and isinstance(size, Size) and moment.tzinfo is datetime.UTC
            self.count += 1
            store.look(5 * self.count)

        @invariant()
        def few(self):
            if self.count > 2:
                raise ValueError('it\\'s """much"""\\n\\\\ \\ud800 too much' + str(self.count) * 200)
'''
OBJECTS = """
    from hypothesis import strategies as st
    from ordeal import Bundle, ChaosTest, initialize, multiple, rule
    from ordeal.faults import LambdaFault

    from stock import store


    class Handle:
        def __init__(self, number):
            self.number = number


    class Machine(ChaosTest):
        faults = [LambdaFault('odd("name", \\'x\\')\\n', lambda: store.switched.append(1), store.switched.clear)]
        made = Bundle("made")
        kept = Bundle("kept")

        @initialize(target=kept)
        def first(self):
            return 7

        @rule(target=made, handles=st.lists(st.builds(Handle, st.integers(0, 30)), max_size=3))
        def make(self, handles):
            return multiple(*[handle.number for handle in handles])

        @rule(one=made, other=kept)
        def compare(self, one, other):
            store.look(one)
            if store.switched and one > 10:
                raise LookupError("switched")

        @rule(data=st.data())
        def draw(self, data):
            if data.draw(st.integers(0, 100)) > 90:
                raise KeyError("drawn")
"""
PLAIN = """
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    from stock import store


    class Machine(RuleBasedStateMachine):
        @rule(number=st.integers(0, 20))
        def take(self, number):
            store.look(number)

        @rule(number=st.integers(0, 20))
        def fail(self, number):
            if store.look(number) == "many":
                raise ValueError("same class, same rule, other module")


    class Quiet(RuleBasedStateMachine):
        @rule(number=st.integers(0, 20))
        def take(self, number):
            store.look(number)

        @rule()
        def idle(self):
            pass
"""
PROJECT = {
    "stock/__init__.py": "",
    "stock/store.py": STORE,
    "checks/__init__.py": "",
    "checks/values.py": VALUES,
    "checks/objects.py": OBJECTS,
    "checks/plain.py": PLAIN,
    "ordeal.toml": """
        [explorer]
        target_modules = ["stock"]
        max_runs = 60
        workers = 1
        [[tests]]
        class = "checks.values:Machine"
        [[tests]]
        class = "checks.objects:Machine"
        [[tests]]
        class = "checks.plain:Machine"
        [[tests]]
        class = "checks.plain:Machine"
        [report]
        traces = true
        format = "both"
    """,
}
FILE = "test_generated.py"


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose machines one call of the command has explored; no test changes it."""
    project = Project(tmp_path_factory.mktemp("explored"))
    project.write(PROJECT)
    done = project.explore("--generate-tests", FILE)
    assert done.returncode == 1, done.stderr
    return project


@pytest.fixture
def written(explored: Project) -> str:
    """The tests that the call wrote."""
    return (explored.root / FILE).read_text(encoding="utf-8")


def names_in(source: str) -> list[str]:
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


#: An editable install is found by an import hook, which is there before pytest can rewrite its asserts.
EDITABLE = "ignore::pytest.PytestAssertRewriteWarning"


def outcomes(project: Project, *options: str) -> dict[str, str]:
    """What pytest, in a separate process, says of each test."""
    quiet = ("-p", "no:cacheprovider", "-W", "error", "-W", EDITABLE, "-rA", "--tb=no", "-q")
    done = project.python("-m", "pytest", *quiet, *options)
    return {name: word for word, name in re.findall(r"^(PASSED|FAILED) \w+\.py::(\w+)", done.stdout, re.MULTILINE)}


def ruff(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return project.python("-m", "ruff", *arguments, "--isolated", "--no-cache", FILE)


def test_finding_19_there_is_a_test_for_each_failure_and_for_each_trace_that_found_new_code(
    explored: Project, written: str
) -> None:
    report = json.loads((explored.root / "ordeal-report.json").read_text())["results"]
    buckets = {(result["test_class"], each["bucket"]) for result in report for each in result["failures"]}
    runs = sum(result["total_runs"] for result in report)
    names = names_in(written)
    assert runs == 240
    assert len(buckets) >= 4
    assert sum(name.startswith("test_fail_") for name in names) == len(buckets)
    edges = sum(result["unique_edges"] for result in report)
    assert 1 <= sum(name.startswith("test_path_") for name in names) <= edges < 40


def test_finding_19_the_tests_of_failures_fail_and_the_others_pass(explored: Project, written: str) -> None:
    names = names_in(written)
    assert outcomes(explored, FILE) == {name: "FAILED" if name.startswith("test_fail_") else "PASSED" for name in names}


def test_finding_19_each_test_does_the_same_alone_and_leaves_no_fault_behind(explored: Project, written: str) -> None:
    guard = "\n\ndef test_nothing_is_switched():\n    from stock import store\n\n    assert store.switched == []\n"
    (explored.root / "test_guarded.py").write_text(written + guard, encoding="utf-8")
    for name in [name for name in names_in(written) if "lookup_error" in name or "value_error" in name]:
        assert outcomes(explored, "test_guarded.py", "-k", f"{name} or nothing_is_switched") == {
            name: "FAILED",
            "test_nothing_is_switched": "PASSED",
        }


def test_finding_19_names_are_unique_and_classes_of_one_name_are_told_apart(written: str) -> None:
    names = names_in(written)
    assert len(set(names)) == len(names)
    for module in ("checks.values", "checks.objects", "checks.plain"):
        assert f"import {module}\n" in written
        assert f"{module}.Machine" in written


def test_finding_19_docstrings_hold_whatever_the_message_is(written: str) -> None:
    functions = [node for node in ast.parse(written).body if isinstance(node, ast.FunctionDef)]
    docstrings = [ast.get_docstring(function) or "" for function in functions]
    assert all(re.fullmatch(r"Run \d+, .*\d+ steps?(, \d+ new edges?)?", text) for text in docstrings)
    (much,) = [text for text in docstrings if "much" in text]
    assert 'ValueError: it\'s """much"""\\n\\ \\ud800 too much' in much


def test_finding_19_values_of_every_kind_are_source(written: str) -> None:
    (much,) = [text for text in written.split("\n\n\n") if "it's" in text]
    assert much.count("machine.take(") == 3
    for source in (
        "number=float(",
        "moment=datetime.datetime(",
        "box=checks.values.Box(label=",
        "due=datetime.date(",
        "size=checks.values.Size.",
        "huge=0x",
        "price=decimal.Decimal(",
        "grid=numpy.array(",
    ):
        assert source in much


def test_finding_19_what_has_no_source_is_replayed(written: str) -> None:
    (drawn,) = [text for text in written.split("\n\n\n") if "KeyError" in text]
    assert "    replay_packed(trace, checks.objects.Machine)" in drawn
    assert "# draws: 9" in drawn


def test_finding_19_ruff_finds_nothing_wrong(explored: Project, written: str) -> None:
    checked = ruff(explored, "check", "--ignore", "I")
    assert checked.returncode == 0, checked.stdout
    checked = ruff(explored, "check", "--select", "E4,E7,E9,F,W,UP,B,C4,SIM,PIE,RET")
    assert checked.returncode == 0, checked.stdout


def test_finding_19_another_exploration_gives_a_failure_the_same_test(project: Project) -> None:
    project.write(PROJECT)
    machine = project.load("checks.plain:Machine")
    written = [
        generate_tests(explore(machine, runs=40, seed=seed, target_modules=["stock"]).traces) for seed in (1, 2, 3)
    ]
    failing = [[name for name in names_in(source) if name.startswith("test_fail_")] for source in written]
    assert len(failing[0]) == 1
    assert failing[0] == failing[1] == failing[2]


@pytest.mark.nightly
def test_finding_19_the_same_exploration_writes_the_same_file(project: Project, written: str) -> None:
    project.write(PROJECT)
    assert project.explore("--generate-tests", FILE, hash_seed="7").returncode == 1
    assert (project.root / FILE).read_text(encoding="utf-8") == written


def test_finding_19_tests_come_from_shrunk_traces(project: Project) -> None:
    project.write(PROJECT)
    result = explore(project.load("checks.plain:Quiet"), runs=60, steps=50, target_modules=["stock"])
    assert sum(len(trace.taken_steps()) for trace in result.traces) == 3, "what look() returns, each by one call"
    result = explore(project.load("checks.plain:Machine"), runs=60, steps=50, target_modules=["stock"])
    assert [len(trace.taken_steps()) for trace in result.traces if trace.failure is not None] == [1]


def test_finding_19_traces_of_two_classes_do_not_overwrite_each_other(explored: Project) -> None:
    paths = sorted((explored.root / ".ordeal/traces").rglob("*.json"))
    classes = {path.relative_to(explored.root).as_posix(): Trace.load(path).test_class for path in paths}
    report = json.loads((explored.root / "ordeal-report.json").read_text())["results"]
    saved = [(each["trace_path"], result["test_class"]) for result in report for each in result["failures"]]
    assert len({path for path, _ in saved}) == len(saved) >= 4
    assert all(classes[path] == test_class for path, test_class in saved)
    assert set(classes.values()) == {"checks.values:Machine", "checks.objects:Machine", "checks.plain:Machine"}


def test_finding_19_traces_from_python_become_tests(project: Project) -> None:
    assert generate_tests([]) == ""
    project.write(PROJECT)
    result = explore(project.load("checks.plain:Machine"), runs=30, target_modules=["stock"])
    source = generate_tests(result.traces)
    assert source.startswith(
        '"""Generated by ordeal explorer. Do not edit -- re-run ordeal explore to regenerate."""\n\n'
    )
    assert source == generate_tests(iter(result.traces))
    assert "from checks.plain import Machine\n" in source
