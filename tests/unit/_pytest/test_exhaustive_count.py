"""An exhaustive test is one test to pytest, and says how many cases it ran."""

from __future__ import annotations

import io

import pytest

from .conftest import Project

pytest_plugins = ["pytester"]

TESTS = """
    import pytest
    from ordeal import exhaustive

    @pytest.fixture
    def limit():
        return 3

    @exhaustive.test()
    def test_sums(g, limit):
        assert g.range(0, limit) + g.range(0, limit) <= 6

    def test_other():
        pass
"""


@pytest.mark.parametrize("workers", [False, True])
def test_the_number_of_cases_is_beside_the_result(project: Project, workers: bool) -> None:
    project.write({"tests/test_all.py": TESTS})
    run = project.run_workers if workers else project.run
    result = run("-v", "--no-ordeal-seeds", "tests/test_all.py")
    result.assert_outcomes(passed=2)
    passed = [line for line in result.outlines if "PASSED" in line]
    assert ["PASSED (16/16 cases)" in line for line in passed] == ["test_sums" in line for line in passed]


MANY = """
    from ordeal import exhaustive

    @exhaustive.test
    def test_many(g):
        g.index(9_000)
"""


REFUSED = """
    from hypothesis import strategies as st
    from ordeal import exhaustive

    @exhaustive.test(limit=2)
    def test_limit(g):
        g.index(3)

    @exhaustive.test
    def test_of(g):
        g.of(st.floats())

    @exhaustive.test
    def test_index(g):
        g.index(0)
"""


def test_what_is_refused_is_shown_at_the_line_of_the_test(project: Project) -> None:
    project.write({"tests/test_all.py": REFUSED})
    result = project.run("--no-ordeal-seeds", "tests/test_all.py")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["E   ordeal.errors.Incomplete: 2 cases ran*", ">*g.of(st.floats())", ">*g.index(0)"])
    result.stdout.no_fnmatch_line("*exhaustive.py*")


def _read(screen: io.FileIO) -> bytes:
    try:
        return screen.read(65_536) or b""
    except OSError:  # how Linux tells that nobody writes to it any more
        return b""
