"""``ordeal catalog``: what it lists, what it says of names, its exit codes, and what runs leave for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal.assertions import tracker

from .conftest import Run

PROGRAM = """\
    import ordeal
    from ordeal import always, buggify, declare

    def pay(amount):
        always(amount >= 0, "an amount is not negative")
        if amount > 100:
            ordeal.reachable("a large amount")
        if buggify():
            ordeal.unreachable("nobody retries")

    declare("somebody pays nothing", "sometimes")
    """
MACHINE = """\
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule
    from program import pay

    class Till(RuleBasedStateMachine):
        @rule(amount=st.integers(0, 50))
        def pay(self, amount):
            pay(amount)
    """
SETTINGS = (
    '[explorer]\ntarget_modules = ["program"]\nmax_runs = 5\nbuggify_prob = 0\n[[tests]]\nclass = "machine:Till"\n'
)
NO_RUN = (
    "No run has recorded what it reached: `ordeal explore` and `pytest --chaos` save it in .ordeal/properties.json.\n"
)


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Iterator[None]:
    declared_before = tracker.snapshot()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in (("program.py", PROGRAM), ("machine.py", MACHINE), ("ordeal.toml", SETTINGS)):
        Path(name).write_text(dedent(text), encoding="utf-8")
    yield
    tracker.restore(declared_before)


def test_before_any_run_nothing_is_reached(run: Run) -> None:
    assert run("catalog") == (
        1,
        "Assertion sites: 5 in 1 file\n"
        "\n"
        "  program.py\n"
        "    NOT REACHED     5  always: an amount is not negative\n"
        "    NOT REACHED     7  reachable: a large amount\n"
        "    -               8  buggify\n"
        "    clear           9  unreachable: nobody retries\n"
        "    NOT REACHED    11  declare: somebody pays nothing\n"
        "\n"
        "0 of 3 assertion sites reached\n"
        "1 marked as unreachable, and not reached\n"
        "1 of buggify, which have no name to be found by\n" + NO_RUN,
        "",
    )


def test_an_exploration_tells_what_it_reached(run: Run) -> None:
    assert run("explore")[0] == 0
    code, out, _ = run("catalog")
    saved = json.loads(Path(".ordeal/properties.json").read_text("utf-8"))
    (row,) = saved["properties"]
    assert (row["name"], row["type"], row["failures"]) == ("an amount is not negative", "always", 0)
    assert code == 1
    assert f"    reached         5  always: an amount is not negative ({row['hits']} hits)\n" in out
    assert "1 of 3 assertion sites reached\n" in out
    run("explore")
    assert json.loads(Path(".ordeal/properties.json").read_text("utf-8"))["properties"][0]["hits"] == 2 * row["hits"]


def test_paths_are_files_and_folders(run: Run) -> None:
    folder = Path("lib")
    (folder / ".hidden").mkdir(parents=True)
    (folder / "__pycache__").mkdir()
    (folder / "env").mkdir()
    (folder / "env/pyvenv.cfg").touch()
    for place in (".hidden", "__pycache__", "env", "."):
        (folder / place / "a.py").write_text(f"import ordeal\nordeal.reachable('{place}')\n", "utf-8")
    code, out, _ = run("catalog", "lib", "program.py")
    assert code == 1
    assert out.startswith(
        "Assertion sites: 6 in 2 files\n\n  lib/a.py\n    NOT REACHED     2  reachable: .\n\n  program.py\n"
    )


def test_a_name_of_two_types_is_an_error(run: Run) -> None:
    text = "from ordeal import always, sometimes\nsometimes(True, 'x')\nalways(True, 'x')\nalways(True, 'x')\n"
    Path("a.py").write_text(text, "utf-8")
    code, _, err = run("catalog", "a.py")
    assert code == 1
    assert err == "error: 'x' is sometimes at a.py:2 and always at a.py:3; give each property its own name\n"


def test_what_cannot_be_parsed_is_left_out_aloud(run: Run) -> None:
    Path("a.py").write_text("import ordeal\nordeal.always(\n", "utf-8")
    code, out, err = run("catalog", "a.py")
    assert (code, err) == (0, "warning: a.py was left out: line 2 is not valid Python: '(' was never closed\n")
    assert out.startswith("No assertion sites in 1 file.\n")


def test_json(run: Run) -> None:
    Path("a.py").write_text("from ordeal import always\nalways(True, 'x')\nalways(True, str())\n", "utf-8")
    code, out, err = run("catalog", "--json", "a.py")
    assert code == 1
    assert err.startswith("warning: ")
    assert json.loads(out) == {
        "schema_version": 1,
        "tool": "catalog",
        "files": 1,
        "sites": [
            {
                "path": "a.py",
                "line": 2,
                "call": "always",
                "type": "always",
                "name": "x",
                "status": "not_reached",
                "hits": 0,
            },
            {
                "path": "a.py",
                "line": 3,
                "call": "always",
                "type": "always",
                "name": None,
                "status": "unknown",
                "hits": 0,
            },
        ],
        "summary": {"reached": 0, "not_reached": 1, "clear": 0, "dynamic": 1, "points": 0},
        "clashes": [],
        "unreadable": [],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "error: the file or folder `nowhere`, to look for assertions in, does not exist\n"),
        (["--bogus"], "error: no option named `--bogus`\n"),
    ],
)
def test_wrong_use(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run("catalog", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_a_damaged_file_of_hits_is_refused(run: Run) -> None:
    Path(".ordeal").mkdir()
    Path(".ordeal/properties.json").write_text("{}", "utf-8")
    code, out, err = run("catalog")
    assert (code, out) == (2, "")
    assert err == (
        "error: .ordeal/properties.json: Object missing required field `schema_version`\n"
        "\n"
        "hint: delete it; the next `ordeal explore` or `pytest --chaos` writes a new one\n"
    )


def test_an_exploration_tells_when_it_cannot_save(run: Run) -> None:
    Path(".ordeal").mkdir()
    Path(".ordeal/properties.json").mkdir()
    code, _, err = run("explore")
    assert code == 2
    assert "error: cannot save what was seen of properties to .ordeal/properties.json: Is a directory\n" in err


RISKY = """
    import asyncio

    class Till:
        def __init__(self):
            self.cash = 0

        def pay(self, cents):
            if cents == 77:
                self.cash = -1
            store(cents)

        def close(self):
            with open("till") as file:
                return file.read()

    def store(cents):
        return cents

    async def settle():
        await asyncio.sleep(1)
        await send()

    async def send():
        pass
"""
RISKY_MACHINE = """
    from ordeal import ChaosTest, rule
    from ordeal.faults import io
    import risky_till

    class Tills(ChaosTest):
        faults = [io.return_empty("risky_till.store")]

        @rule()
        def pay(self):
            risky_till.Till().pay(1)
"""


def test_functions_are_ranked_by_what_nothing_has_tested(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    code, _, err = run("catalog", "--risk")
    assert (code, err.startswith("error: no run has a result")) == (2, True)
    Path("risky_till.py").write_text(dedent(RISKY))
    Path("risky_machine.py").write_text(dedent(RISKY_MACHINE))
    run("explore", "risky_machine:Tills", "-t", "risky_till", "--max-runs", "20", "--in-process", "--no-shrink")
    code, out, err = run("catalog", "--risk")
    assert (code, err) == (0, "`ordeal mutate` adds the mutants that no test notices\n")
    tests = "reached by risky_machine:Tills"
    assert out.splitlines() == [
        "risk  where             function    untested                                 tests",
        f"   4  risky_till.py:20  settle      2 lines missed, 2 waits without a fault  not {tests}",
        f"   3  risky_till.py:13  Till.close  2 lines missed, 1 wait without a fault   not {tests}",
        f"   1  risky_till.py:8   Till.pay    1 line missed                            {tests}",
        f"   1  risky_till.py:24  send        1 line missed                            not {tests}",
    ]
    first = json.loads(run("catalog", "--risk", "--json")[1])["functions"][0]
    assert (first["risk"], first["missed"], first["unstruck"], first["survived"]) == (4, 2, 2, 0)
    page = Path(run("report", "html")[1].strip()).read_text()
    row = page[page.index('<th scope="row">settle</th>') :].partition("</tr>")[0]
    assert "<code>risky_till.py:20</code>" in row
    assert re.findall(r"number.>(\d+)", row) == ["4", "2", "0", "2"]
    assert row.endswith("<td></td><td>risky_machine:Tills</td>")
    code, out, err = run("catalog", "--risk", "elsewhere")
    assert (code, out, err.splitlines()[0]) == (0, "", "the last session left nothing untested in these files")


def test_a_function_in_a_file_without_missed_lines_names_the_machine_that_has_it_as_a_target(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("whole_till.py").write_text("def pay(): return 1\n\n\nasync def wait(own): await own\n")
    machine = (
        dedent(RISKY_MACHINE).replace("risky_till.Till().pay(1)", "whole_till.pay()").replace("risky_t", "whole_t")
    )
    Path("whole_machine.py").write_text(machine.replace('io.return_empty("whole_till.store")', ""))
    run("explore", "whole_machine:Tills", "-t", "whole_till", "--max-runs", "20", "--in-process")
    assert run("catalog", "--risk")[1] == (
        "risk  where            function  untested                tests\n"
        "   1  whole_till.py:4  wait      1 wait without a fault  not reached by whole_machine:Tills\n"
    )
