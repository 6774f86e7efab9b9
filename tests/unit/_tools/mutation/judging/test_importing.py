"""What the judge says of mutants that its tests would never meet."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from textwrap import dedent

import pluggy
import pytest

from ordeal._tools.mutation.judging.baseline import import_all
from ordeal._tools.mutation.judging.importing import never_imported_anew
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import judge_with_pytest
from ordeal._tools.mutation.sandbox import COPIES
from ordeal._tools.mutation.source import Source

#: Only a suite that takes long is split.
BUSY = """
import time
def test_takes_long():
    end = time.process_time() + 1.0
    while time.process_time() < end: pass
"""


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        (os.path.realpath(pluggy.__file__), b"", "imported the file before the tests do"),
        ("/nowhere/shop.py", b"def f(:", "it does not compile: "),
        ("/nowhere/shop.py", b"x = 1", ""),
    ],
)
def test_no_verdict_on_text_that_no_test_imports(path: str, text: bytes, reason: str) -> None:
    found = never_imported_anew(path, text)
    assert reason in found
    assert bool(reason) == bool(found)


def test_a_plugin_that_cannot_be_imported_is_left_alone() -> None:
    import_all(["no_such_plugin_of_pytest", "colorsys"])
    assert "colorsys" in sys.modules


@pytest.mark.slow
def test_the_file_that_runs_most_is_asked_first_and_all_others_if_it_does_not_notice(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("RATE = 2\nLIMIT = 5\n\ndef price(n):\n    return n * RATE\n")
    (tmp_path / "test_a.py").write_text(f"import shop{BUSY}\ndef test_limit(): assert shop.LIMIT == 5\n")
    (tmp_path / "test_b.py").write_text("import shop\n\ndef test_price(): assert shop.price(3) == 6\n")
    (tmp_path / "test_c.py").write_text("import shop\n\ndef test_again(): assert shop.price(1) == 2\n")
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = [each for each in mutants_of(source, ["boundary"]) if not each.name]
    found = judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=2)
    told = [(each.mutant.original, each.word, each.route, each.killer) for each in found.verdicts]
    # Of two files that run as much the last one is first; neither asks what the limit is.
    assert told == [
        *[("2", "killed", "import", "test_c.py::test_again")] * 2,
        *[("5", "killed", "import", "test_a.py::test_limit")] * 2,
    ]


@pytest.mark.slow
def test_a_file_that_fails_by_itself_is_not_asked_first(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("RATE = 2\n\ndef price(n):\n    return n * RATE\n")
    (tmp_path / "test_a.py").write_text(f"import os{BUSY}\ndef test_sets():\n    os.environ['SHOP'] = '1'\n")
    text = "import os, shop\n\ndef test_price(): assert shop.price(1) == 2 * int(os.environ.get('SHOP', 0))\n"
    (tmp_path / "test_b.py").write_text(text)
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = [each for each in mutants_of(source, ["boundary"]) if not each.name]
    found = judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=1)
    assert [(each.word, each.killer) for each in found.verdicts] == [("killed", "test_b.py::test_price")] * 2


def test_mutants_at_import_meet_a_copy_that_others_have_not_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COPIES, "1")
    program = """
        import os, shutil
        LIMIT = 3 + 4
        def clean(n):
            if n + 1 != 2:
                shutil.rmtree("data")
                os.symlink(".", "data")
                os.truncate("kept", 0)
                os.chmod("kept", 0o777)
    """
    tests = """
        import shop
        from pathlib import Path
        def test_clean(): shop.clean(1)
        def test_limit():
            assert shop.LIMIT == 7 and Path("data", "in", "x").read_text() == "x"
            assert Path("kept").read_text() == "kept" and Path("kept").stat().st_mode & 0o777 == 0o640
    """
    (tmp_path / "data" / "in").mkdir(parents=True)
    (tmp_path / "data" / "in" / "x").write_text("x")
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "kept").chmod(0o640)
    (tmp_path / "shop.py").write_text(dedent(program))
    (tmp_path / "test_shop.py").write_text(dedent(tests))
    source = Source.of(tmp_path / "shop.py", "shop.py")
    found = judge_with_pytest([source], mutants_of(source, ["arithmetic"]), tests=[], folder=tmp_path, workers=1)
    assert [each.route for each in found.verdicts] == ["import", "swap"]
    assert found.verdicts[0].word == "killed"


@pytest.mark.parametrize(
    ("test", "words"),
    [
        # Another test imports it, and forks would have it imported before.
        ('assert "colorsys" not in sys.modules', ["killed", "killed", "killed"]),
        # Forks that import the program read what has been compiled from a folder of ours.
        ("assert sys.pycache_prefix is None", ["not run", "not run", "killed"]),
    ],
)
def test_a_test_that_passes_only_without_our_imports_judges(tmp_path: Path, test: str, words: list[str]) -> None:
    (tmp_path / "shop.py").write_text("RATE = 2\n\ndef price(n):\n    return n * RATE\n")
    tests = f"""
        import sys
        import shop
        def test_lazy(): {test}
        def test_price(): assert shop.price(3) == 6
        def test_other(): import colorsys
    """
    (tmp_path / "test_shop.py").write_text(dedent(tests))
    source = Source.of(tmp_path / "shop.py", "shop.py")
    mutants = mutants_of(source, ["boundary", "arithmetic"])
    found = judge_with_pytest([source], mutants, tests=[], folder=tmp_path, workers=1)
    assert [each.word for each in found.verdicts] == words
