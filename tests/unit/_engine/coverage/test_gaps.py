"""Which branch statements never ran, and how many lines did."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

import ordeal._native as _native
from ordeal._engine.coverage.gaps import Gaps, files_with_gaps, find_gaps
from ordeal._engine.coverage.targets import Target, compiled_modules, resolve_targets

from ...samples.monitored import MakeModule


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gaps name files relative to the working directory."""
    monkeypatch.chdir(tmp_path)


def traced(targets: list[Target], call: Callable[[], Any] | None) -> Gaps:
    """The gaps that are left when ``call`` ran under the monitor; nothing runs when it is None."""
    if call is None:
        return find_gaps(targets, {})
    places = [(target.name, target.path, target.is_package) for target in targets]
    monitor = _native.Monitor(_native.CoverageMap(), places)
    monitor.start()
    try:
        call()
    finally:
        monitor.stop()
    return find_gaps(targets, monitor.lines())


def gap_lines(gaps: Gaps) -> list[int]:
    return [gap["line"] for gap in gaps.gaps]


def test_a_gap_names_file_line_and_code(make_module: MakeModule) -> None:
    module = make_module(
        """
        def withdraw(balance, amount):
            if amount > balance:
                raise ValueError("not \\"enough\\"")
            return balance - amount
        """
    )
    gaps = traced(resolve_targets(["sut"]), lambda: module.withdraw(2, 1))
    code = 'raise ValueError("not \\"enough\\"")'
    assert gaps.gaps == [{"file": "sut.py", "line": 4, "code": code}]
    assert (gaps.lines_covered, gaps.lines_total) == (3, 4)


def test_every_kind_of_branch(make_module: MakeModule) -> None:
    make_module(
        """
        def run(x):
            if x:
                pass
            elif x is None:
                pass
            for _ in x:
                pass
            while x:
                pass
            try:
                pass
            except ValueError:
                pass
            except:
                pass
            assert x
            match x:
                case 1:
                    pass
                case _:
                    pass
            raise KeyError

        async def arun(x):
            async for _ in x:
                pass
            try:
                pass
            except* ValueError:
                pass
        """
    )
    gaps = find_gaps(resolve_targets(["sut"]), {})
    assert gap_lines(gaps) == [3, 5, 7, 9, 11, 13, 15, 17, 18, 19, 21, 23, 26, 28, 30]


def test_every_kind_of_branch_can_be_reached(make_module: MakeModule) -> None:
    module = make_module(
        """
        def run(x, kind):
            if x == 1:
                pass
            elif x == 2:
                pass
            for _ in range(2):
                pass
            while x > 10:
                x -= 1
            try:
                if kind:
                    raise kind
            except ValueError:
                pass
            except:
                pass
            assert x is not None
            match x:
                case 1:
                    pass
                case _:
                    pass
            if (
                x == 3
            ):
                raise KeyError(
                    x
                )
        """
    )

    def run() -> None:
        for x in (1, 2, 11):
            for kind in (None, ValueError, TypeError):
                module.run(x, kind)
        with pytest.raises(KeyError):
            module.run(3, None)

    gaps = traced(resolve_targets(["sut"]), run)
    assert gaps.gaps == []
    assert gaps.lines_covered == gaps.lines_total


def test_what_importing_ran_is_covered(make_module: MakeModule) -> None:
    make_module(
        '''
        """A docstring is not a line to cover."""
        import os
        LIMIT = 3
        class A:
            """Nor is this one."""
            x = 1
            def m(self):
                """Nor this."""
                return 1
        @staticmethod
        def run(
            x=1,
        ):
            return x
        '''
    )
    gaps = find_gaps(resolve_targets(["sut"]), {})
    assert (gaps.lines_covered, gaps.lines_total) == (6, 8)
    assert gaps.gaps == []


def test_what_importing_may_have_left_out_is_not_judged(make_module: MakeModule) -> None:
    module = make_module(
        """
        import sys
        if sys.platform == "an operating system":
            raise ImportError
        try:
            import json
        except ImportError:
            json = None
        def run(x):
            if x:
                return 1
        """
    )
    gaps = traced(resolve_targets(["sut"]), None)
    assert gap_lines(gaps) == [10]
    assert (gaps.lines_covered, gaps.lines_total) == (4, 6)
    gaps = traced(resolve_targets(["sut"]), lambda: module.run(1))
    assert (gaps.gaps, gaps.lines_covered, gaps.lines_total) == ([], 6, 6)


def test_a_module_that_was_never_imported_counts(make_module: MakeModule) -> None:
    make_module("", "shop.__init__", import_it=False)
    make_module("def run():\n    return 1\n", "shop.used")
    make_module("import sys\nif sys.argv:\n    x = 1\n", "shop.unused", import_it=False)
    targets = resolve_targets(["shop"])
    gaps = traced(targets, sys.modules["shop.used"].run)
    assert [(gap["file"], gap["line"]) for gap in gaps.gaps] == [(str(Path("shop", "unused.py")), 2)]
    assert (gaps.lines_covered, gaps.lines_total) == (2, 2 + 3)


def test_lines_without_instructions_do_not_count(make_module: MakeModule) -> None:
    module = make_module(
        """
        count = 0
        def run():
            global count
            size: int
            if False:
                count = 2
            # a comment
            count = (
                1
            )
        """
    )
    gaps = traced(resolve_targets(["sut"]), module.run)
    assert gaps.gaps == []
    assert gaps.lines_covered == gaps.lines_total


def test_a_file_that_is_no_python_is_named(make_module: MakeModule) -> None:
    make_module("", "shop.__init__", import_it=False)
    make_module("def broken(:\n", "shop.template", import_it=False)
    gaps = find_gaps(resolve_targets(["shop"]), {})
    assert gaps.unreadable == [str(Path("shop", "template.py"))]


def test_a_modified_file_is_read_again(make_module: MakeModule, tmp_path: Path) -> None:
    make_module("def run(x):\n    if x:\n        return 1\n")
    targets = resolve_targets(["sut"])
    assert len(find_gaps(targets, {}).gaps) == 1
    path = tmp_path / "sut.py"
    path.write_text("def run(x):\n    return 1\n")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    assert find_gaps(targets, {}).gaps == []


def test_lines_of_several_monitors_count_once(make_module: MakeModule, tmp_path: Path) -> None:
    make_module("def run(x):\n    if x:\n        return 1\n    return 2\n", "shop.cart")
    path = str((tmp_path / "shop" / "cart.py").resolve())
    targets = resolve_targets(["shop"])
    first, second = {path: [2, 3]}, {path: [2, 4]}
    assert find_gaps(targets, first).lines_covered == find_gaps(targets, second).lines_covered == 3
    merged = find_gaps(targets, first, second)
    assert (merged.lines_covered, merged.lines_total, merged.gaps) == (4, 4, [])
    assert find_gaps(targets, second, first) == merged
    assert find_gaps(targets) == find_gaps(targets, {})


def test_files_with_gaps_are_those_that_gaps_are_in(make_module: MakeModule) -> None:
    module = make_module("def sign(n):\n    if n < 0:\n        raise ValueError\n    return n\n")
    (target,) = resolve_targets(["sut"])
    (source,) = target.sources()
    assert files_with_gaps([source], {source.path: [1, 2, 4]}) == {source.path}
    assert files_with_gaps([source], {source.path: [1, 2, 3, 4]}) == set()
    Path(source.path).unlink()
    assert files_with_gaps([source], {source.path: [1]}) == set()
    assert module.sign(1) == 1


def test_a_module_that_runs_in_a_compiled_form_has_no_lines(make_module: MakeModule, tmp_path: Path) -> None:
    make_module("def run(x):\n    return x\n")
    package = tmp_path / "sut_compiled"
    package.mkdir()
    for name in ("__init__.py", "fast.py", f"fast{EXTENSION_SUFFIXES[0]}", "slow.py"):
        (package / name).write_text("def run(x):\n    return x\n" if name.endswith(".py") else "", "utf-8")
    targets = [Target("sut_compiled", str(package), is_package=True)]
    assert compiled_modules(targets) == ["sut_compiled.fast"]
    assert find_gaps(targets, {}).lines_total == 4
