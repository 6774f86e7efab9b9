"""Verdicts of a suite on small programs: each is known beforehand."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import Judgement, by_line, judge_with_pytest
from ordeal._tools.mutation.sandbox import COPIES, NoVerdictError
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Word
from ordeal.explore import Explorer

PROGRAM = """
    import functools

    LIMIT = 3 + 4
    TABLE = {}

    def register(name):
        TABLE[name] = len(name) + 1

    register("one")

    @functools.lru_cache
    def cached(a):
        return a + 1

    def loop(n):
        while n > 0:
            n -= 1
        return n

    def unnoticed(a):
        return a + 5

    def unseen(a):
        return a + 6

    def maker(a):
        def inner(b):
            return a + b
        return inner

    def eats(n):
        return [0] * (10 ** n)

    def elsewhere(a):
        return a + 7

    def forked(a):
        return a + 8

    def filled():
        if not TABLE.get("kettle"):
            TABLE["kettle"] = 3 + 6
        return TABLE

    def made():
        return 3 + 5
"""
TESTS = """
    import multiprocessing, subprocess, sys
    import pytest
    from shop import LIMIT, TABLE, cached, eats, filled, forked, loop, made, maker, unnoticed
    from shop import maker as other

    def test_limit(): assert LIMIT == 7
    def test_table(): assert TABLE == {"one": 4}
    def test_cached(): assert cached(1) == 2
    def test_loop(): assert loop(3) == 0
    def test_unnoticed(): unnoticed(1)
    def test_maker(): assert other(1)(2) == 3
    def test_eats(): assert len(eats(2)) == 100
    def test_raises():
        with pytest.raises(TypeError): cached()
    @pytest.mark.xfail
    def test_expected(): assert unnoticed(1) == 7
    def test_skipped(): pytest.skip("here")
    def test_elsewhere():
        subprocess.run([sys.executable, "-c", "import shop; assert shop.elsewhere(1) == 8"], check=True)
    def test_forked():
        with multiprocessing.get_context("fork").Pool(1) as pool: assert pool.apply(forked, [1]) == 9
    def test_fills(): filled()
    def test_uses_what_another_filled(): assert filled()["kettle"] == 9

    @pytest.fixture(scope="module")
    def number(): return made()
    def test_makes(number): assert number
    def test_uses_what_another_made(number): assert number == 8
"""


def judged(
    tmp_path: Path, program: str, tests: str, *operators: str, **more: Any
) -> tuple[dict[str, tuple[Word, str]], Judgement]:
    (tmp_path / "shop.py").write_text(dedent(program))
    (tmp_path / "test_shop.py").write_text(dedent(tests))
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = mutants_of(source, operators)
    judgement = judge_with_pytest([source], mutants, **{"tests": [], "folder": tmp_path, "workers": 2, **more})
    found = {f"{each.mutant.name} {each.mutant.operator}": (each.word, each.route) for each in judgement.verdicts}
    return found, judgement


@pytest.mark.slow
def test_each_kind_of_function_has_its_true_verdict(tmp_path: Path) -> None:
    found, judgement = judged(tmp_path, PROGRAM, TESTS, "arithmetic")
    assert found == {
        " arithmetic": ("killed", "import"),
        "register arithmetic": ("killed", "import"),
        "cached arithmetic": ("killed", "swap"),
        "loop arithmetic": ("timeout", "swap"),
        "unnoticed arithmetic": ("survived", "swap"),
        "unseen arithmetic": ("uncovered", "none"),
        "maker.inner arithmetic": ("killed", "swap"),
        "eats arithmetic": ("killed", "swap"),
        "elsewhere arithmetic": ("killed", "swap"),
        "forked arithmetic": ("killed", "swap"),
        "filled arithmetic": ("killed", "swap"),
        "made arithmetic": ("killed", "swap"),
    }
    assert judgement.tests == 14
    assert judgement.flaky == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["shop.py", "test_shop.py"]


OPEN_FAILURE = """
    from ordeal import ChaosTest, rule

    class OpenFailure(ChaosTest):
        @rule()
        def fail(self): assert False
"""


@pytest.mark.slow
def test_a_saved_failure_that_still_fails_judges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open_failure.py").write_text(dedent(OPEN_FAILURE))
    monkeypatch.syspath_prepend(str(tmp_path))
    machine = importlib.import_module("open_failure").OpenFailure
    (seed,) = Explorer(machine, corpus_dir=tmp_path / ".ordeal/seeds").run(max_runs=5).failures
    tests = "from shop import f\ndef test_it(): assert f(1) == 2\n"
    found, judgement = judged(tmp_path, "def f(a):\n    return a + 1\n", tests, "arithmetic")
    assert found == {"f arithmetic": ("killed", "swap")}
    assert [name.rpartition("::")[2] for name in judgement.flaky] == [Path(str(seed.seed_path)).stem]


@pytest.mark.slow
def test_no_verdict_where_the_tests_fail_without_a_mutant(tmp_path: Path) -> None:
    with pytest.raises(NoVerdictError, match=r"the tests fail without any mutant: test_shop\.py::test_it") as caught:
        judged(tmp_path, "def f(a):\n    return a + 1\n", "def test_it(): assert False\n", "arithmetic")
    assert caught.value.exit_code == 3


THREADED = """
    import threading, time
    from shop import LIMIT, f

    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    def test_it(): assert f(1) == 2 and LIMIT == 3
    def test_old(): assert f(1) == 3
"""


@pytest.mark.slow
def test_a_program_with_threads_is_judged_by_importing_it(tmp_path: Path) -> None:
    program = "LIMIT = 1 + 2\ndef f(a):\n    return a + 1\ndef g(a):\n    return a + 1\n"
    with pytest.raises(NoVerdictError, match="test_old") as caught:
        judged(tmp_path, program, THREADED, "arithmetic")
    assert "`--deselect-failing` goes on without it" in str(caught.value.hint)
    found, judgement = judged(tmp_path, program, THREADED, "arithmetic", leave_out_failing=True)
    assert found == {
        " arithmetic": ("killed", "import"),
        "f arithmetic": ("killed", "import"),
        "g arithmetic": ("uncovered", "none"),
    }
    assert (judgement.tests, judgement.flaky) == (1, ["test_shop.py::test_old"])


def test_a_kill_at_import_is_asked_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COPIES, "1")  # where a test may find what another run of it has written
    tests = """
        from pathlib import Path
        from shop import LIMIT, OTHER
        def test_once():
            if LIMIT != 7 and not Path("seen").exists():
                Path("seen").touch()
                assert False
        def test_each_time(): assert OTHER == 1
    """
    _, judgement = judged(tmp_path, "LIMIT = 3 + 4\nOTHER = 2 - 1\n", tests, "arithmetic", "constant")
    words = {(each.mutant.line, each.word) for each in judgement.verdicts}
    assert words == {(1, "survived"), (2, "killed")}


@pytest.mark.parametrize("in_copy", [False, True])
@pytest.mark.parametrize(
    "read",
    [
        "importlib.reload(shop).f(1)",
        "runpy.run_path(shop.__file__)['f'](1)",
        "run(inspect.getsource(shop.f))['f'](1)",
        "run(Path(shop.__file__).read_text())['f'](1)",
        "int(subprocess.run([sys.executable, shop.__file__], capture_output=True).stdout)",
    ],
)
def test_a_test_that_reads_the_source_meets_the_mutant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: str, in_copy: bool
) -> None:
    if in_copy:
        monkeypatch.setenv(COPIES, "1")
    program = """
        def f(a):
            return a + 1
        def g(a):
            return a + 2
        if __name__ == "__main__":
            print(f(1))
    """
    tests = f"""
        import importlib, inspect, runpy, subprocess, sys
        from pathlib import Path
        import shop
        def run(text, space=None):
            exec(text, space := {{}})
            return space
        def test_first(): inspect.getsource(shop)
        def test_it(): assert {read} == 2
    """
    found, _ = judged(tmp_path, program, tests, "arithmetic")
    assert [word for word, _ in found.values()] == ["killed", "uncovered"]


def test_a_test_that_fails_now_and_then_is_set_apart_and_the_others_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COPIES, "1")  # where a test may find what another run of it has written
    tests = """
        from pathlib import Path
        from shop import f
        def test_it(): assert f(1) == 2
        def test_unsteady():
            if not Path("seen").exists():
                Path("seen").touch()
                assert False
    """
    found, judgement = judged(tmp_path, "def f(a):\n    return a + 1\n", tests, "arithmetic", workers=1)
    assert found == {"f arithmetic": ("killed", "swap")}
    assert judgement.flaky == ["test_shop.py::test_unsteady"]


def test_a_module_line_that_never_runs_is_uncovered(tmp_path: Path) -> None:
    program = """
        import sys
        if sys.argv is not None:
            LIMIT = 1 + 2
        else:
            LIMIT = 3 + 4
            class Old:
                SIZE = 5 + 6
                def f(self, a=7 + 8):
                    return a
                def g(self, a=True): return a
    """
    tests = "from shop import LIMIT\ndef test_it(): assert LIMIT\n"
    found, _ = judged(tmp_path, program, tests, "arithmetic", "constant")
    words = {" arithmetic": ("uncovered", "none"), "Old arithmetic": ("uncovered", "none")}
    assert found == {**words, "Old.f arithmetic": ("uncovered", "none"), "Old.g constant": ("uncovered", "none")}


def test_a_default_is_exchanged_in_memory(tmp_path: Path) -> None:
    program = """
        import functools
        from inspect import signature
        def kept(function):
            return functools.partial(function, signature(function).parameters["n"].default)
        def f(a, n=1): return a + n
        def g(a, *, n=1):
            return a + n
        class Cart:
            def total(self, n=1):
                return n
        @functools.cache
        def cached(n=1):
            return n
        @kept
        def read(n=1):
            return n
        def uncalled(n=1):
            return n
        def computed(n=1 + len("")):
            return n
    """
    tests = """
        from shop import Cart, cached, computed, f, g, read
        def test_it(): assert (f(1), g(1), Cart().total(2), cached(), read(), computed()) == (2, 2, 2, 1, 1, 1)
    """
    found, _ = judged(tmp_path, program, tests, "boundary", workers=1)
    assert found == {
        "f boundary": ("killed", "swap"),
        "g boundary": ("killed", "swap"),
        "Cart.total boundary": ("survived", "swap"),
        "cached boundary": ("killed", "swap"),
        "read boundary": ("killed", "import"),
        "uncalled boundary": ("survived", "import"),
        "computed boundary": ("killed", "import"),
    }


def test_a_loop_that_ends_is_no_timeout(tmp_path: Path) -> None:
    program = """
        import math
        def f(n):
            return sum(1 for _ in range(math.ceil(n / 1000))) > 0
        def g(n):
            while n > 0:
                n -= 1
    """
    tests = "from shop import f, g\ndef test_it(): assert f(1500)\ndef test_g(): g(5)\n"
    found, _ = judged(tmp_path, program, tests, "arithmetic", workers=1)
    assert found == {"f arithmetic": ("survived", "swap"), "g arithmetic": ("timeout", "swap")}


def test_a_mutant_that_others_notice_by_what_it_left_is_killed_where_a_test_reads_the_file(tmp_path: Path) -> None:
    program = """
        TABLE = {}
        def filled():
            if not TABLE:
                TABLE["kettle"] = 3 + 6
            return TABLE
    """
    tests = """
        import shop
        def test_reads(): assert open(shop.__file__).read()
        def test_fills(): shop.filled()
        def test_uses_what_another_filled(): assert shop.filled()["kettle"] == 9
    """
    found, _ = judged(tmp_path, program, tests, "arithmetic", workers=1)
    assert found == {"filled arithmetic": ("killed", "swap")}


def test_no_descriptor_of_ours_is_in_the_place_of_one_of_pytest(tmp_path: Path) -> None:
    """The third is mostly no file in plain pytest. Where it was one of ours, what asks for it was killed."""
    program = """
        import os
        def is_file(path):
            path = str(path)
            return os.path.isfile(path)
    """
    tests = "from shop import is_file\ndef test_it(): assert is_file(__file__) and not is_file(3)\n"
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "shop.py").write_text(dedent(program).replace("path = str(path)", "pass"))
    (plain / "test_shop.py").write_text(tests)
    passes = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=plain, check=False).returncode == 0
    (tmp_path / "judged").mkdir()
    found, _ = judged(tmp_path / "judged", program, tests, "delete_statement", workers=1)
    assert found == {"is_file delete_statement": ("survived" if passes else "killed", "swap")}


@pytest.mark.parametrize("options", ["-p no:xdist", "-n 2", "-p no:cacheprovider", "-p no:randomly", ""])
def test_it_is_judged_where_plain_pytest_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\n")
    if not options:
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    tests = "from shop import f\ndef test_it(): assert f(1) == 2\n"
    found, _ = judged(tmp_path, "def f(a):\n    return a + 1\n", tests, "arithmetic")
    assert found == {"f arithmetic": ("killed", "swap")}


def test_what_pytest_rewrites_is_imported_with_the_mutant(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import pytest\npytest.register_assert_rewrite('shop')\n", "utf-8")
    tests = "from shop import LIMIT\ndef test_it(): assert LIMIT == 7\n"
    assert judged(tmp_path, "LIMIT = 3 + 4\n", tests, "arithmetic")[0] == {" arithmetic": ("killed", "import")}


@pytest.mark.slow
def test_a_plugin_that_another_pytest_rewrites_is_the_mutant_there(tmp_path: Path) -> None:
    program = "LIMIT = 3 + 4\ndef pytest_configure(config):\n    config.limit = LIMIT\n"
    (tmp_path / "inner.py").write_text("def test_limit(pytestconfig): assert pytestconfig.limit == 7\n", "utf-8")
    line = "[sys.executable, '-m', 'pytest', '-p', 'shop', 'inner.py']"
    tests = f"import subprocess, sys\ndef test_it(): assert subprocess.run({line}).returncode == 0\n"
    assert judged(tmp_path, program, tests, "arithmetic")[0] == {" arithmetic": ("killed", "import")}


@pytest.mark.parametrize(
    "environment", ["{'PYTHONPATH': os.getcwd()}", "{**os.environ, 'PYTHONPATH': os.getcwd()}", "dict(os.environ)"]
)
def test_an_interpreter_with_an_environment_of_its_own_meets_the_mutant(tmp_path: Path, environment: str) -> None:
    program = "def f():\n    return 3 + 4\n"
    call = f"subprocess.run([sys.executable, '-c', 'import shop; print(shop.f())'], env={environment}, **more)"
    tests = (
        "import os, subprocess, sys\nmore = {'capture_output': True, 'text': True}\n"
        f"def test_it(): assert {call}.stdout == '7\\n'\n"
    )
    assert judged(tmp_path, program, tests, "arithmetic")[0] == {"f arithmetic": ("killed", "import")}


@pytest.mark.parametrize("arithmetic", ["LIMIT = 3 + 4\ndef f():\n    return 1\n", "def f():\n    return 3 + 4\n"])
def test_a_pytest_that_a_test_starts_passes_where_it_notices_nothing(tmp_path: Path, arithmetic: str) -> None:
    (tmp_path / "inner.py").write_text("import shop\ndef test_it(): shop.f()\n", "utf-8")
    line = "[sys.executable, '-m', 'pytest', 'inner.py']"
    tests = f"import shop, subprocess, sys\ndef test_it(): assert subprocess.run({line}).returncode == 0\n"
    found, _ = judged(tmp_path, arithmetic, tests, "arithmetic")
    assert [word for word, _ in found.values()] == ["survived"]


def test_tests_may_take_more_memory_than_a_mutant_beyond_them(tmp_path: Path) -> None:
    program = "def f(a):\n    return a + 1\n"
    tests = "from mmap import mmap\nfrom shop import f\ndef test_it():\n    with mmap(-1, 2 << 30): assert f(1) == 2\n"
    assert judged(tmp_path, program, tests, "arithmetic")[0] == {"f arithmetic": ("killed", "swap")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("os._exit(0)", "test_shop.py::test_ends ends the process"),
        ("os.kill(os.getpid(), 11)", "test_shop.py::test_ends ends by SIGSEGV"),
    ],
)
def test_a_test_that_ends_the_process_is_named(line: str, why: str, tmp_path: Path) -> None:
    tests = f"import os\nfrom shop import f\ndef test_a(): f(1)\ndef test_ends(): {line}\n"
    with pytest.raises(NoVerdictError, match=f"do not finish without any mutant: {why}") as raised:
        judged(tmp_path, "def f(a):\n    return a + 1\n", tests, "arithmetic")
    assert raised.value.hint == "`python -m pytest test_shop.py::test_ends` may show it"


@pytest.mark.slow
def test_no_verdict_without_tests(tmp_path: Path) -> None:
    with pytest.raises(NoVerdictError, match="no tests were collected"):
        judged(tmp_path, "def f(a):\n    return a + 1\n", "", "arithmetic")


def test_a_budget_goes_to_one_mutant_of_each_line_first(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def f(a, b):\n    c = a + b * 3\n    return c - 1\n")
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = mutants_of(source, ["arithmetic", "boundary"])
    assert [mutant.line for mutant in by_line(mutants)][:4] == [2, 3, 2, 3]
    several = mutants_of(source, ["boundary", "arithmetic", "delete_statement"])
    found = [(mutant.line, mutant.operator) for mutant in by_line(several)]
    assert found[:4] == [(2, "delete_statement"), (3, "arithmetic"), (2, "arithmetic"), (3, "boundary")]
    assert sorted(mutant.id for mutant in by_line(mutants)) == sorted(mutant.id for mutant in mutants)
    with pytest.raises(NoVerdictError, match="the budget ended"):
        judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=1, budget=0.001)


def test_how_far_the_tests_are_is_told_while_they_run_without_a_mutant(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_it.py").write_text("import time\ndef test_a(): time.sleep(1.1)\ndef test_b(): time.sleep(1.1)\n")
    told: list[str] = []
    judge_with_pytest([], [], tests=[], folder=tmp_path, workers=1, beginning=told.append)
    assert "1/2 tests have run without a mutant" in told


def test_a_test_that_only_fails_while_lines_are_watched_is_set_apart(tmp_path: Path) -> None:
    tests = """
        import tracemalloc
        from shop import f, g
        def test_it(): assert f(1) == 2
        def test_memory():
            tracemalloc.start()
            g(1)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 1024
    """
    lines = "".join(f"    a += {number}\n" for number in range(1000, 1300))
    program = f"def f(a):\n    return a + 1\ndef g(a):\n{lines}\n"
    found, judgement = judged(tmp_path, program, tests, "return_none")
    assert found["f return_none"] == ("killed", "swap")
    assert judgement.flaky == ["test_shop.py::test_memory"]
