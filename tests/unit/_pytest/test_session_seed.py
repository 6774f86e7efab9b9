"""All chance of a pytest run follows one seed, which is printed, can be given, and replays a failure."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Iterator
from typing import Any

import numpy  # noqa: F401 - a run in this process forgets the modules that it was first to import
import pytest

from ordeal import seed

from .conftest import Project

pytest_plugins = ["pytester"]

COMMIT = "615d1f1b046078bb46078c13bb55d328a2c43a7c"
HINT = (
    "hint: write a whole number from 0 to 2**64 - 1, for example 0x1234, or a whole git commit (`git rev-parse HEAD`)"
)

# Writes down what each test has drawn, in whichever process, and can turn the order round.
CONFTEST = """
    import json
    import os
    from pathlib import Path

    DRAWN = {}

    def pytest_addoption(parser):
        parser.addoption("--reverse", action="store_true")

    def pytest_collection_modifyitems(config, items):
        if config.getoption("reverse"):
            items.reverse()

    def pytest_runtest_logreport(report):
        if report.when == "call":
            DRAWN[report.nodeid.partition("@")[0]] = dict(report.user_properties)

    def pytest_sessionfinish(session):
        if not hasattr(session.config, "workerinput"):
            Path("drawn.json").write_text(json.dumps(DRAWN))
"""

DRAWS = """
    import random

    import numpy
    import pytest
    from hypothesis import HealthCheck, given, settings, strategies as st
    from ordeal import ChaosTest, buggify, rule, seed

    AT_IMPORT = random.random()
    # Among numbers Hypothesis mixes those of the modules that are loaded, which is its own affair.
    coins = st.lists(st.booleans(), min_size=40, max_size=40)
    examples = settings(database=None, max_examples=4, derandomize=False, suppress_health_check=list(HealthCheck))


    def decisions():
        buggify.activate(0.5)
        try:
            return [buggify() for _ in range(64)]
        finally:
            buggify.deactivate()


    @pytest.fixture(scope="module")
    def shared():
        return random.random(), numpy.random.random(), decisions()


    @pytest.fixture(scope="session", params=["p", "q"])
    def shared_more():
        return random.random()


    def test_all(ordeal_rng, shared, record_property):
        record_property("rng", ordeal_rng.random())
        record_property("random", random.random())
        record_property("numpy", numpy.random.random())
        record_property("buggify", decisions())
        record_property("shared", shared)
        record_property("at import", AT_IMPORT)
        record_property("child", seed.for_("worker"))


    @pytest.mark.xdist_group("together")
    @pytest.mark.parametrize("number", [1, 2])
    def test_parametrised(number, shared, shared_more, ordeal_rng, record_property):
        record_property("rng", ordeal_rng.random())
        record_property("random", random.random())
        record_property("shared", shared)
        record_property("shared more", shared_more)


    class TestSame:
        class TestInner:
            def test_one(self, record_property):
                record_property("random", random.random())

        def test_one(self, record_property):
            record_property("random", random.random())


    class TestOther:
        class TestInner:
            def test_one(self, record_property):
                record_property("random", random.random())


    def test_examples(record_property):
        drawn = []

        @examples
        @given(coins)
        def check(flips):
            drawn.append(flips)

        check()
        record_property("hypothesis", drawn)


    def test_machine(record_property):
        drawn = []

        class Machine(ChaosTest):
            @rule(flips=coins)
            def step(self, flips):
                drawn.append(flips)

        Machine.TestCase.settings = examples
        Machine.TestCase().runTest()
        record_property("machine", drawn)
"""


@pytest.fixture(autouse=True)
def seed_is_not_set_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable in seed.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    # Under it Hypothesis has its own idea of what its tests draw.
    monkeypatch.delenv("CI", raising=False)
    before = seed.enter_session(0)
    seed.leave_session((None, False))
    yield
    seed.leave_session(before)


def drawn(project: Project) -> dict[str, dict[str, Any]]:
    """What each test of the last run has drawn."""
    found: dict[str, dict[str, Any]] = json.loads((project.root / "drawn.json").read_text("utf-8"))
    return found


def seed_lines(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("ordeal seed:")]


def replay_lines(result: pytest.RunResult) -> list[str]:
    return [line.removeprefix("replay: ") for line in result.outlines if line.startswith("replay: ")]


# What follows the seed


@pytest.fixture
def draws(project: Project) -> Project:
    project.write({"conftest.py": CONFTEST, "tests/test_draws.py": DRAWS, "tests/sub/test_draws.py": DRAWS})
    (project.root / "tests/test_bank.py").unlink()
    return project


def run_draws(project: Project, number: int, *options: str) -> dict[str, dict[str, Any]]:
    result = project.run(f"--ordeal-seed={number}", "--import-mode=importlib", *options)
    assert result.ret == pytest.ExitCode.OK
    assert seed_lines(result) == [f"ordeal seed: {number:#x} (replay with --ordeal-seed={number:#x})"]
    return drawn(project)


def test_draws_depend_on_the_seed_and_the_test_alone(draws: Project) -> None:
    straight = run_draws(draws, 5)
    assert len(straight) == 20
    assert run_draws(draws, 5, "--reverse") == straight
    some = run_draws(draws, 5, "-k", "parametrised or machine", "tests/sub")
    assert len(some) == 5
    assert {name: straight[name] for name in some} == some
    result = draws.run_workers("--ordeal-seed=5", "--import-mode=importlib", "--dist=loadgroup", "--reverse")
    assert result.ret == pytest.ExitCode.OK
    assert drawn(draws) == straight
    other = run_draws(draws, 6)
    same = [(name, key) for name in straight for key in straight[name] if straight[name][key] == other[name][key]]
    assert same == []


# A run that was given no seed

LAZY = """
    import random

    import pytest

    STATE = random.getstate()


    def test_fails(ordeal_rng, record_property):
        record_property("drawn", [ordeal_rng.random(), random.random()])
        assert not ordeal_rng.random()


    def test_asks_late(request, record_property):
        generator = request.getfixturevalue("ordeal_rng")
        record_property("drawn", [generator.random(), random.random()])


    def test_does_not_care():
        assert random.getstate() == STATE
"""


def test_only_tests_that_ask_are_seeded(project: Project) -> None:
    project.write({"conftest.py": CONFTEST, "tests/test_lazy.py": LAZY})
    result = project.run("tests/test_lazy.py")
    result.assert_outcomes(passed=2, failed=1)
    found = drawn(project)
    (line,) = seed_lines(result)
    number = int(line.split()[2], 16)
    assert line == f"ordeal seed: {number:#x} (replay with --ordeal-seed={number:#x})"
    assert replay_lines(result) == [f"pytest 'tests/test_lazy.py::test_fails' --ordeal-seed={number:#x}"]
    words = shlex.split(replay_lines(result)[0])
    project.run(*words[1:]).assert_outcomes(failed=1)
    assert drawn(project) == {name: each for name, each in found.items() if name.endswith("test_fails")}
    project.run("tests/test_lazy.py", "-k", "asks_late", words[2])
    assert drawn(project) == {name: each for name, each in found.items() if name.endswith("test_asks_late")}


def test_run_that_has_no_use_for_a_seed_says_nothing(project: Project) -> None:
    result = project.run()
    result.assert_outcomes(passed=1)
    assert not any("ordeal seed" in line for line in result.outlines)
    assert not (project.root / ".pytest_cache/v/ordeal").exists()


def test_program_that_asks_without_the_fixture(project: Project) -> None:
    project.write({"tests/test_asks.py": "from ordeal import seed\n\ndef test():\n    print('SEED', seed.current())\n"})
    result = project.run("-s", "tests/test_asks.py")
    (number,) = [int(line.split()[-1]) for line in result.outlines if "SEED" in line]
    assert seed_lines(result) == [f"ordeal seed: {number:#x} (replay with --ordeal-seed={number:#x})"]
    assert f"SEED {number}" in project.run("-s", "--ordeal-seed=last", "tests/test_asks.py").stdout.str()


def test_workers_share_a_seed_that_nobody_gave(project: Project) -> None:
    test = "def test(record_property, number): record_property('seed', seed.current())"
    lines = ["import pytest", "from ordeal import seed", "@pytest.mark.parametrize('number', range(8))", test, ""]
    project.write({"conftest.py": CONFTEST, "tests/test_seed.py": "\n".join(lines)})
    result = project.run_workers("tests/test_seed.py")
    assert result.ret == pytest.ExitCode.OK
    seeds = {each["seed"] for each in drawn(project).values()}
    assert len(seeds) == 1
    (number,) = seeds
    assert seed_lines(result) == [f"ordeal seed: {number:#x} (replay with --ordeal-seed={number:#x})"]
    assert seed_lines(project.run("--ordeal-seed=last"))[0].startswith(f"ordeal seed: {number:#x}, from")


# Where the seed is from


def test_places_in_their_order(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def line(*options: str) -> str:
        (found,) = seed_lines(project.run(*options))
        return found.partition(" (")[0]

    project.edit("pytest.ini", "[pytest]", "[pytest]\nordeal_seed = 0x1")
    assert line() == "ordeal seed: 0x1, from ordeal_seed"
    monkeypatch.setenv("TEST_SEED", "0b10")
    assert line() == "ordeal seed: 0x2, from TEST_SEED"
    monkeypatch.setenv("ORDEAL_SEED", "3")
    assert line() == "ordeal seed: 0x3, from ORDEAL_SEED"
    assert line("--ordeal-seed=4") == "ordeal seed: 0x4"
    assert line("--ordeal-seed=last") == "ordeal seed: 0x4, from the last run"
    commit = seed.parse(COMMIT)
    assert line("--ordeal-seed", COMMIT) == f"ordeal seed: {commit:#x}, from commit {COMMIT}"
    fresh = line("--ordeal-seed=fresh")
    assert re.fullmatch("ordeal seed: 0x[0-9a-f]+", fresh)
    assert line("--ordeal-seed=last") == f"{fresh}, from the last run"


CANNOT_BE_USED = [
    (["--ordeal-seed=x"], "", "--ordeal-seed: 'x' is not a seed", HINT),
    (["--ordeal-seed=0x10000000000000000"], "", "--ordeal-seed: '0x10000000000000000' is too large for a seed", HINT),
    (
        [],
        "y",
        "the environment variable TEST_SEED: 'y' is not a seed",
        f"{HINT}; where TEST_SEED is not meant for ordeal, set ORDEAL_SEED=fresh",
    ),
    (["-o", "ordeal_seed=z"], "", "ordeal_seed: 'z' is not a seed", HINT),
    (
        ["--ordeal-seed=last"],
        "",
        "--ordeal-seed: no last seed is known",
        "hint: write `--ordeal-seed=fresh` for a first one",
    ),
    (
        ["--ordeal-seed=last", "-p", "no:cacheprovider"],
        "",
        "--ordeal-seed: `last` is kept in pytest's cache, which is switched off",
        "hint: leave out `-p no:cacheprovider`, or write the seed that the last run has printed",
    ),
]


@pytest.mark.parametrize(("options", "variable", "message", "hint"), CANNOT_BE_USED)
def test_value_that_cannot_be_used(
    project: Project, monkeypatch: pytest.MonkeyPatch, options: list[str], variable: str, message: str, hint: str
) -> None:
    monkeypatch.setenv("TEST_SEED", variable)
    result = project.run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[:2] == [f"ERROR: {message}", hint]


# Beside others that seed


def test_chaos_has_a_seed(project: Project) -> None:
    project.write({"conftest.py": CONFTEST, "tests/test_lazy.py": LAZY})
    result = project.run("tests/test_lazy.py", "--chaos", "--buggify-prob=0.5")
    (line,) = seed_lines(result)
    assert replay_lines(result)[0].endswith(f" --ordeal-seed={line.split()[2]} --chaos --buggify-prob=0.5")
    result = project.run("tests/test_lazy.py", "--chaos", "--chaos-seed=3")
    assert seed_lines(result) == ["ordeal seed: 0x3 (replay with --ordeal-seed=0x3)"]
    assert drawn(project)["tests/test_lazy.py::test_fails"]["drawn"][1] == random.Random(3).random()
    assert replay_lines(result)[0].endswith(" --ordeal-seed=0x3 --chaos --chaos-seed=3")


RANDOMLY = """
    def pytest_addoption(parser):
        parser.addoption("--randomly-seed", default="default", type=lambda text: int(text) if text.isdigit() else text)

    def pytest_configure(config):
        if config.option.randomly_seed == "default":
            config.option.randomly_seed = 77

    def pytest_report_header(config):
        return f"randomly {config.option.randomly_seed}"
"""


@pytest.mark.parametrize(
    ("options", "session", "randomly", "replay"),
    [
        (["--ordeal-seed=0x100000005"], "0x100000005", 5, ""),
        (["--ordeal-seed=5", "--randomly-seed=7"], "0x5", 7, " --randomly-seed=7"),
        (["--randomly-seed=7"], "0x7", 7, ""),
        ([], "0x4d", 77, ""),
    ],
)
def test_one_seed_beside_pytest_randomly(
    project: Project, options: list[str], session: str, randomly: int, replay: str
) -> None:
    project.write({"standin.py": RANDOMLY, "tests/test_lazy.py": LAZY})
    result = project.run_apart("-p", "standin", "tests/test_lazy.py", *options, plugins=("_ordeal_pytest",))
    assert f"randomly {randomly}" in result.outlines
    assert seed_lines(result)[0].startswith(f"ordeal seed: {session} (")
    assert replay_lines(result)[0].endswith(f" --ordeal-seed={session}{replay}")


# Failures of other kinds


def test_replay_line_of_other_failures(project: Project) -> None:
    project.write(
        {
            "tests/test_kinds.py": '''
                """
                >>> 1
                2
                """
                import unittest
                import pytest

                class TestUnit(unittest.TestCase):
                    def test_unit(self):
                        self.fail()

                @pytest.fixture
                def broken():
                    raise ValueError

                @pytest.fixture
                def breaks_later():
                    yield
                    raise ValueError

                @pytest.mark.parametrize("text", ["it's"])
                def test_setup(broken, text): ...

                def test_teardown(breaks_later): ...
            '''
        }
    )
    project.overdrawn()
    result = project.run_apart("--ordeal-seed=5", "--doctest-modules", "tests/test_kinds.py")
    result.assert_outcomes(passed=1, failed=3, errors=2)
    lines = replay_lines(result)
    assert sorted(lines) == [
        "pytest 'tests/test_kinds.py::TestUnit::test_unit' --ordeal-seed=0x5",
        "pytest 'tests/test_kinds.py::test_kinds' --ordeal-seed=0x5",
        "pytest 'tests/test_kinds.py::test_setup[it'\"'\"'s]' --ordeal-seed=0x5",
        "pytest 'tests/test_kinds.py::test_teardown' --ordeal-seed=0x5",
    ]


PLAIN = """
    import random

    import pytest

    @pytest.fixture(scope="module")
    def shared():
        return random.random()

    def test_before():
        random.random()

    def test_draws(shared):
        assert (random.random() + shared) < 0

    def test_draws_nothing():
        assert 0

    def test_seeds():
        random.seed(1)
        assert random.random() < 0

    def test_after_seeding():
        assert random.random() < 0
"""


def test_with_v_a_failing_test_that_drew_from_random_says_how_to_repeat_it(project: Project) -> None:
    project.write({"test_plain.py": PLAIN})
    lines = project.run_new("-v").stdout.lines
    (replay,) = [line for line in lines if line.startswith("replay: pytest ")]
    failed = next(line for line in lines if line.startswith("FAILED"))
    again = project.run(*shlex.split(replay.removeprefix("replay: pytest ")), "-v")
    assert "test_draws" in replay
    assert failed in again.stdout.lines
    assert "replay: " not in project.run().stdout.str()


def test_with_v_a_project_that_seeds_random_keeps_its_streams(project: Project) -> None:
    test = "import random\n\ndef test_draws():\n    assert random.random() == 0.6229016948897019"
    project.write({"conftest.py": "import random\nrandom.seed(5)", "test_plain.py": test})
    project.run_new("-v", "test_plain.py").assert_outcomes(passed=1)
