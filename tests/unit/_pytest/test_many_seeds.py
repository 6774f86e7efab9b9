"""A corpus that has grown: each seed is replayed once, and costs no more work than its own replay."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from .conftest import Project, section

pytest_plugins = ["pytester"]

SECTION = "Ordeal Seed Corpus"

# What would be felt with a thousand seeds: code that is compiled or run anew, classes that are defined anew.
COUNTS = """
    import builtins, sys
    from collections import Counter

    counts = Counter()
    build_class = builtins.__build_class__

    def counting(*arguments, **keywords):
        counts["class"] += 1
        return build_class(*arguments, **keywords)

    def pytest_runtest_setup(item):
        builtins.__build_class__ = counting
        # An audit hook cannot be taken back.
        if not counts["test"]:
            sys.addaudithook(count)
        counts["test"] += 1

    def count(event, arguments):
        # open() with an opener tells of itself and of the call to os.open() inside, which has no mode.
        if event != "open" or arguments[1] is not None:
            counts[event] += 1

    def pytest_sessionfinish():
        print("COUNTS", *(counts[event] for event in ("test", "class", "import", "compile", "exec", "open")))
"""


def _counts(project: Project) -> list[int]:
    result = project.run_apart("-q", "-s", "-p", "no:cacheprovider", "-k", "ordeal-seed", plugins=("_ordeal_pytest",))
    assert result.ret == pytest.ExitCode.OK
    (line,) = [line.partition("COUNTS ")[2] for line in result.outlines if "COUNTS " in line]
    return [int(number) for number in line.split()]


def test_more_seeds_import_and_define_no_more(project: Project) -> None:
    project.write({"conftest.py": COUNTS})
    project.fix_withdraw()
    for amount in range(3):
        project.overdrawn(amount)
    few, *work_of_few, opened_by_few = _counts(project)
    for amount in range(3, 103):
        project.overdrawn(amount)
    many, *work_of_many, opened_by_many = _counts(project)
    assert many == few + 100
    assert work_of_many == work_of_few
    # Each is read, once.
    assert opened_by_many - opened_by_few == 100


def test_workers_replay_each_seed_once(project: Project) -> None:
    project.fix_withdraw()
    names = sorted(project.overdrawn(amount) for amount in range(49))
    names.append(project.closed())
    result = project.run_apart(
        "-q", "-n", "2", "-k", "ordeal-seed", "--junitxml=report.xml", plugins=("_ordeal_pytest", "xdist.plugin")
    )
    result.assert_outcomes(passed=49, failed=1)
    cases = [case.attrib["name"] for case in ElementTree.parse(project.root / "report.xml").iter("testcase")]
    assert sorted(cases) == sorted(names)
    lines = section(result, SECTION)
    assert [line.split()[0] for line in lines] == ["REGRESSION", *["fixed"] * 10, "...", "1", "replay:"]
