"""Promises of the seeds that an audit found kept in spirit only, each by what a user does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ordeal.explore import Explorer, ProgressSnapshot

from .projects import Project, explore, importable

SHOP = {
    "shop.py": """
        def price(n):
            return 5 * n if n < 3 else -1
    """,
    "tests/__init__.py": "",
    "tests/test_shop.py": """
        import shop
        from ordeal import ChaosTest, rule

        class ShopChaos(ChaosTest):
            n = 0

            @rule()
            def buy(self):
                self.n += 1
                assert shop.price(self.n) > 0

        def test_ok(): pass
        def test_ok2(): pass
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["shop"]
        max_runs = 20
        workers = 1

        [[tests]]
        class = "tests.test_shop:ShopChaos"
    """,
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with importable(tmp_path_factory.mktemp("shop")) as project:
        project.write(SHOP)
        assert project.explore().returncode == 1
        yield project


class TestSavedFailuresInEachRunOfPytest:
    @pytest.mark.parametrize("where", [(), ("tests",), ("tests/test_shop.py",), ("tests/test_shop.py::test_ok",)])
    def test_a_path_leaves_none_out(self, shop: Project, where: tuple[str, ...]) -> None:
        done = shop.python("-m", "pytest", "-q", *where)
        assert (done.returncode, "1 regression(s) still reproduce" in done.stdout) == (1, True)

    @pytest.mark.parametrize("choice", [("-k", "test_ok2"), ("-m", "not_there")])
    def test_a_choice_that_leaves_one_out_says_so(self, shop: Project, choice: tuple[str, ...]) -> None:
        done = shop.python("-m", "pytest", "-q", *choice)
        assert "  1 saved failure not replayed; `ordeal seeds` replays all\n" in done.stdout

    def test_a_folder_without_settings_of_pytest_is_one_of_the_project_above(self, shop: Project) -> None:
        below = Project(shop.root / "tests")
        done = below.python("-m", "pytest", "-q")
        assert (done.returncode, "1 regression(s) still reproduce" in done.stdout) == (1, True)
        assert "replay: cd .. && ordeal replay .ordeal/seeds/" in done.stdout

    def test_a_list_of_tests_is_no_run(self, shop: Project) -> None:
        assert "not replayed" not in shop.python("-m", "pytest", "-q", "--collect-only", "-k", "test_ok2").stdout


def test_failing_traces_lie_flat_by_the_run_that_found_them(tmp_path: Path) -> None:
    with importable(tmp_path) as project:
        project.write(SHOP)
        with (tmp_path / "ordeal.toml").open("a") as file:
            file.write('\n[[tests]]\nclass = "tests.test_shop:ShopChaos"\n')
        done = project.explore("--generate-tests", "test_found.py")
        assert done.returncode == 1, done.stderr
        names = sorted(str(path.relative_to(tmp_path / ".ordeal/traces")) for path in tmp_path.rglob("fail-*.json"))
        # The second entry replays the seed of the first.
        assert [re.sub("[0-9]+", "N", name, count=1) for name in names] == ["fail-run-N-2.json", "fail-run-N.json"]
        found = re.search(r'"""(Run \d+), .*, 3 steps', (tmp_path / "test_found.py").read_text())
        assert found is not None
        assert f"fail-{found[1].lower().replace(' ', '-')}.json" in names


def test_what_a_suggestion_watches_is_reported_until_it_is_reached(tmp_path: Path) -> None:
    with importable(tmp_path) as project:
        project.write(SHOP)
        lines = ["def price(n):", "    if n > 100:", "        if n > 200:", "            return 0", "    return 1", ""]
        (tmp_path / "shop.py").write_text("\n".join(lines))
        (add,) = re.findall(r"    add: (reachable\(.*\))\n", project.explore().stdout)
        lines.insert(2, f"        {add}")
        (tmp_path / "shop.py").write_text("\n".join(["from ordeal import reachable", *lines]))
        report = project.explore().stdout
        assert "NOT REACHED    shop.py:3: if n > 200: (reachable: never reached)" in report
        assert "add:" not in report
        catalog = project.python("-m", "ordeal", "catalog").stdout
        assert "NOT REACHED" in catalog
        assert "No run has recorded" not in catalog
        (tmp_path / "shop.py").write_text((tmp_path / "shop.py").read_text().replace("100", "0"))
        assert "PASS           shop.py:3: if n > 200: (reachable: " in project.explore().stdout


COUNTER = {
    "machines.py": """
        from hypothesis import strategies as st
        from ordeal import ChaosTest, rule

        class Counter(ChaosTest):
            longest = 0

            def __init__(self):
                super().__init__()
                self.n = self.steps = 0

            def take(self, number):
                self.steps += 1
                Counter.longest = max(Counter.longest, self.steps)
                self.n += number
                if self.n % 7 == 3:
                    self.n -= 1
                elif self.n % 5 == 1:
                    self.n += 2

            @rule(x=st.integers(0, 9))
            def add(self, x):
                self.take(x)

            @rule()
            def one(self):
                self.take(1)
    """
}


@pytest.mark.parametrize("cap", [1, 5, 50])
def test_no_run_has_more_steps_than_the_cap(cap: int, tmp_path: Path) -> None:
    with importable(tmp_path) as project:
        project.write(COUNTER)
        counter = project.load("machines:Counter")
        for seed in (1, 2):
            steps = [0]

            def note(now: ProgressSnapshot, steps: list[int] = steps) -> None:
                steps.append(now.total_steps)

            explorer = Explorer(counter, seed=seed, workers=1, target_modules=["machines"])
            explorer.run(max_runs=300, steps_per_run=cap, progress=note)
            assert max(after - before for before, after in pairwise(steps)) == cap
        assert counter.longest > cap, "runs from checkpoints reach together what no single run can"


@pytest.mark.parametrize("cap", [1, 3])
def test_all_workers_together_keep_no_more_checkpoints_than_the_cap(cap: int, tmp_path: Path) -> None:
    with importable(tmp_path) as project:
        project.write(COUNTER)
        counter = project.load("machines:Counter")
        options: dict[str, Any] = {"workers": 2, "target_modules": ["machines"], "max_checkpoints": cap}
        result = explore(counter, runs=200, **options)
        assert result.checkpoints is not None
        assert 0 < result.checkpoints <= min(cap, result.checkpoints_saved)


class TestFilesOfOthers:
    """No command replaces a file that ordeal did not write."""

    COMMANDS = (
        ("explore", "--generate-tests"),
        ("explore", "--save-state"),
        ("replay", "--shrink", "-o"),
        ("replay", "--plain"),
    )

    @pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
    def test_a_file_of_others_stays_unless_it_is_forced(self, shop: Project, command: tuple[str, ...]) -> None:
        path = shop.root / "mine.json"
        path.write_text('{"mine": true}')
        done = shop.python("-m", "ordeal", *command, "mine.json")
        assert done.returncode == 2
        assert f"error: `{command[-1]}` would replace mine.json, which ordeal did not write\n" in done.stderr
        assert path.read_text() == '{"mine": true}'
        if command[-1] != "--plain":
            assert shop.python("-m", "ordeal", *command, "mine.json", "--force").returncode == 1
            assert path.read_bytes() != b'{"mine": true}'
            # Now it is a file of ordeal's.
            assert shop.python("-m", "ordeal", *command, "mine.json").returncode == 1

    def test_an_empty_file_and_a_device_are_written_to(self, shop: Project) -> None:
        (shop.root / "empty.json").touch()
        assert shop.python("-m", "ordeal", "replay", "--shrink", "-o", "empty.json").returncode == 1
        assert shop.python("-m", "ordeal", "explore", "--generate-tests", "/dev/null").returncode == 1
