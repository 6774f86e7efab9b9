"""Promises of the seeds that an audit found kept in spirit only, each by what a user does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .projects import Project, importable

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
