"""``ordeal init``: from a package to a machine that has run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from .conftest import Run

CART = """
    class Cart:
        def __init__(self):
            self.units = {}
            self.total = 0

        def add(self, name: str, count: int) -> None:
            self.units[name] = count
            self.total += count

        def remove(self, name: str) -> None:
            self.total -= self.units.pop(name)

        def clear(self) -> None:
            self.units.clear()  # the mistake: the total stays

        def share(self, name: str) -> float:
            return self.units[name] / self.total
"""


REFUSES = """
    def refuse():
        raise RuntimeError("enough")


    class Cart:
        def __init__(self):
            self.count = 0

        def add(self) -> None:
            self.count += 1
            if self.count > 24:
                refuse()

        def clear(self) -> None:
            self.count = 0

        def total(self) -> int:
            return self.count

        def names(self) -> list[str]:
            return []
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = Path("src/shop")
    package.mkdir(parents=True)
    Path("pyproject.toml").write_text('[project]\nname = "shop"\n')
    (package / "__init__.py").write_text(dedent(CART))
    Path(".gitignore").write_text("*.pyc\n")


@pytest.mark.slow
def test_a_package_gets_a_machine_that_has_run(run: Run) -> None:
    code, out, err = run("init", "--seconds", "1", "--json")
    assert "shop" not in sys.modules
    assert code == 0, err
    assert "  * shop:Cart  3 methods change it, add/remove\n" in err
    assert "Wrote tests/test_ordeal_cart.py: 4 methods of Cart\nWrote ordeal.toml\nAdded to .gitignore\n" in err
    outcome = json.loads(out)
    assert outcome["test"] == "tests.test_ordeal_cart:CartChaos"
    assert outcome["result"]["total_steps"] > 100
    assert outcome["lines"] == [13, 13]
    # A total of zero divides only after a sequence: it is not an answer to arguments.
    assert [each["error_type"] for each in outcome["result"]["failures"]] == ["ZeroDivisionError"]
    assert "  found: ZeroDivisionError: division by zero  (ordeal replay -v " in err
    assert "lets pytest find `shop`, which is not installed" in err
    # Nothing writes over it.
    code, _, err = run("init")
    assert code == 2
    assert "error: tests/test_ordeal_cart.py is already there" in err


COUNTS = """
    class Lot:
        def __init__(self, places: int = 3):
            self.places = self.free = places
            self.cars = set()

        def enter(self, plate: str) -> None:
            if self.free <= 0:
                raise ValueError("full")
            self.free -= 1
            self.cars.add(plate)  # the mistake: a car that is inside takes a second place

        def leave(self, plate: str) -> None:
            self.cars.remove(plate)
            self.free += 1

        def __len__(self):
            return self.places - self.free

        def __iter__(self):
            return iter(self.cars)
"""


@pytest.mark.slow
def test_a_length_that_counts_too_much_is_a_finding(run: Run) -> None:
    """One method breaks it by itself, as one that is meant to would."""
    Path("src/shop/__init__.py").write_text(dedent(COUNTS))
    code, out, err = run("init", "--seconds", "1", "--json")
    assert code == 0, err
    (found,) = json.loads(out)["result"]["failures"]
    assert found["place"]["name"] == "length_counts_items"


@pytest.mark.slow
def test_what_calls_refuse_on_purpose_is_no_finding(run: Run) -> None:
    """A refusal that only a long sequence meets: the trial of the class does not see it."""
    Path("src/shop/__init__.py").write_text(dedent(REFUSES))
    code, out, err = run("init", "--seconds", "1", "--json")
    assert code == 0, err
    assert "Running it again: tests/test_ordeal_cart.py now expects what calls refused on purpose" in err
    assert json.loads(out)["result"]["failures"] == []
    assert "        with suppress(RuntimeError):\n" in Path("tests/test_ordeal_cart.py").read_text()
    assert not list(Path(".ordeal/seeds").rglob("*.json"))


@pytest.mark.slow
def test_the_gate_passes_what_init_has_written(run: Run) -> None:
    Path("src/shop/__init__.py").write_text(dedent(CART).partition("    def share")[0])
    assert run("init", "--seconds", "1")[0] == 0
    code, out, _ = run("gate", "--max-time", "8")
    assert code == 0, out
    assert out.splitlines()[-1].startswith("nothing stops the merge, ")


def test_a_dry_run_writes_nothing(run: Run) -> None:
    before = sorted(Path().rglob("*"))
    code, out, _ = run("init", "--dry-run")
    assert code == 0
    assert "--- /dev/null\n+++ tests/test_ordeal_cart.py\n" in out
    assert "+++ .gitignore\n" in out
    assert sorted(Path().rglob("*")) == before


def test_nothing_to_explore_is_said(run: Run) -> None:
    Path("src/shop/__init__.py").write_text("def f(): ...\n")
    code, out, err = run("init")
    assert (code, out) == (2, "")
    assert err.startswith("error: no class in `shop` has methods that change it\n\nhint: ")
    Path("src/shop/__init__.py").write_text(
        "class Queue:\n    async def put(self, x): ...\n    async def get(self): ...\n    def __init__(self): ...\n"
    )
    code, out, err = run("init")
    assert (code, out) == (2, "")
    assert err.startswith("error: the methods of `shop:Queue` are coroutines, ")


OTHER = """
    class Basket:
        def __init__(self):
            self.names = []

        def put(self, name: str) -> None:
            self.names.append(name)

        def take(self) -> str:
            return self.names.pop()
"""


def test_a_class_may_be_named_and_a_workflow_written(run: Run) -> None:
    Path("src/shop/other.py").write_text(dedent(OTHER))
    code, out, err = run("init", "--class", "Basket", "--ci", "github", "--dry-run")
    assert code == 0, err
    assert "+++ tests/test_ordeal_basket.py\n" in out
    assert "+++ .github/workflows/ordeal.yml\n" in out
    Path(".github/workflows").mkdir(parents=True)
    Path(".github/workflows/ordeal.yml").write_text("mine")
    code, _, err = run("init", "--ci", "github")
    assert (code, err) == (
        2,
        "error: .github/workflows/ordeal.yml is already there\n\nhint: leave `--ci` out, or move the file\n",
    )
    code, _, err = run("init", "--class", "Baskt")
    assert (code, err) == (2, "error: no class named `Baskt` in `shop`\n\nhint: did you mean `Basket`?\n")


def test_what_is_there_is_numbered_or_replaced_if_asked_for(run: Run) -> None:
    Path("tests").mkdir()
    Path("tests/test_ordeal_cart.py").write_text("# mine\n")
    code, _, err = run("init", "--dry-run")
    assert (code, err.splitlines()[-3]) == (2, "error: tests/test_ordeal_cart.py is already there")
    assert run("init", "--dry-run", "--on-exists", "fail")[0] == 2
    code, out, err = run("init", "--dry-run", "--on-exists", "number")
    assert code == 0, err
    assert "+++ tests/test_ordeal_cart_2.py\n" in out
    assert '+class = "tests.test_ordeal_cart_2:CartChaos"\n' in out
    code, out, err = run("init", "--dry-run", "--force")
    assert code == 0, err
    assert "--- tests/test_ordeal_cart.py\n" in out
    assert "-# mine\n" in out


def test_a_class_that_says_its_package_needs_no_other_and_the_command_for_another_class_works(run: Run) -> None:
    Path("src/shop/other.py").write_text(dedent(OTHER))
    Path("pyproject.toml").unlink()
    for words in (["src.shop", "--class", "src.shop.other:Basket"], ["--class", "src.shop.other:Basket"]):
        code, out, err = run("init", *words, "--dry-run")
        assert code == 0, err
        assert "+++ tests/test_ordeal_basket.py\n" in out
    code, _, err = run("init", "src.shop", "--dry-run")
    assert code == 0, err
    command = next(line for line in err.splitlines() if "For another class" in line).split("`")[1]
    code, out, err = run(*command.split()[1:], "--dry-run")
    assert code == 0, err
    assert "+++ tests/test_ordeal_basket.py\n" in out


def test_of_several_classes_the_most_promising_is_taken(run: Run) -> None:
    Path("src/shop/other.py").write_text(dedent(OTHER))
    code, out, err = run("init", "--dry-run")
    assert code == 0, err
    assert "   1 * shop:Cart  3 methods change it, add/remove\n   2   shop.other:Basket  2 methods change it" in err
    assert "For another class: `ordeal init shop.other:Basket`" in err
    assert "+++ tests/test_ordeal_cart.py\n" in out
