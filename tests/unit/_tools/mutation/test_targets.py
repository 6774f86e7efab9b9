"""Which files and lines are mutated."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.targets import changed_lines, files_of, targets_of
from ordeal.errors import ConfigError


def test_a_folder_means_its_program_without_tests(tmp_path: Path) -> None:
    for name in ("shop/__init__.py", "shop/cart.py", "shop/tests/test_cart.py", "shop/test_a.py", "shop/.x/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    expected = ["shop/__init__.py", "shop/cart.py"]
    for paths in (["shop"], []):
        assert [each.relative_to(tmp_path).as_posix() for each in files_of(paths, tmp_path)] == expected


@pytest.mark.parametrize("paths", [[], ["acme"], ["acme.core"]])
def test_a_package_may_have_no_file_that_makes_it_one(tmp_path: Path, paths: list[str]) -> None:
    for name in ("src/acme/core/shop.py", "src/acme/core/test_a.py", "src/acme.egg-info/a.txt", "docs/conf.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert files_of(paths, tmp_path) == [tmp_path / "src/acme/core/shop.py"]


def test_files_beside_their_tests_are_the_program(tmp_path: Path) -> None:
    for name in ("booking.py", "test_booking.py", "conftest.py", "setup.py", "scripts/run.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert files_of([], tmp_path) == [tmp_path / "booking.py"]


def test_a_file_alone_in_src_is_the_program(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("shop.py", "conftest.py"):
        (tmp_path / "src" / name).write_text("")
    assert files_of([], tmp_path) == [tmp_path / "src/shop.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("src/shop/vendor", ["__init__.py", "a_pb2.py", "cart.py"]),
        ("./src/shop/vendor/", ["__init__.py", "a_pb2.py", "cart.py"]),
        ("vendor", ["__init__.py", "a_pb2.py", "cart.py"]),
        ("*_pb2.py", ["__init__.py", "cart.py", "vendor/b.py"]),
        ("src/*/v*", ["__init__.py", "a_pb2.py", "cart.py"]),
    ],
)
def test_files_and_folders_may_be_excluded(tmp_path: Path, pattern: str, left: list[str]) -> None:
    home = tmp_path / "src/shop"
    (home / "vendor").mkdir(parents=True)
    for name in ("__init__.py", "cart.py", "a_pb2.py", "vendor/b.py", "vendor/c_pb2.py"):
        (home / name).write_text("")
    found = files_of([], tmp_path, [pattern])
    assert [each.relative_to(home).as_posix() for each in found] == left


def test_a_pattern_that_excludes_nothing_or_all_is_named(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").write_text("")
    with pytest.raises(ConfigError, match="`vender` excludes nothing"):
        files_of([], tmp_path, ["vender"])
    # Of a part of the program, others may be meant.
    assert files_of(["shop"], tmp_path, ["vender"])
    with pytest.raises(ConfigError, match="all files are excluded"):
        files_of(["shop"], tmp_path, ["shop"])


@pytest.mark.parametrize("paths", [["gone.py"], []])
def test_what_is_not_there_is_refused(tmp_path: Path, paths: list[str]) -> None:
    with pytest.raises(ConfigError):
        files_of(paths, tmp_path)


def test_lines_that_differ_from_a_commit(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "a.py").write_text("x = 1\ny = 2\nz = 3\n")
    git("init")
    git("add", ".")
    git("commit", "-m", "a")
    (tmp_path / "a.py").write_text("x = 1\ny = 3\nz = 3\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    found = {path.name: lines for path, lines in changed_lines("HEAD", tmp_path).items()}
    assert found["a.py"] == {2}
    assert 1 in found["b.py"]
    with pytest.raises(ConfigError, match="no commit `gone` here"):
        changed_lines("gone", tmp_path)


CART = """def allowed(a):
    return a + 1

class Cart:
    def add(self, n):
        return n + 2

def added(n):
    return n + 3
"""


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("shop", ["allowed", "Cart.add", "added"]),
        ("shop.cart", ["allowed", "Cart.add", "added"]),
        ("shop.cart.Cart", ["Cart.add"]),
        ("shop.cart.Cart.add", ["Cart.add"]),
        ("src/shop/cart.py:2", ["allowed"]),
        ("src/shop/cart.py:6-9", ["Cart.add", "added"]),
    ],
)
def test_a_word_may_name_a_part_of_a_file(tmp_path: Path, word: str, names: list[str]) -> None:
    path = tmp_path / "src/shop/cart.py"
    path.parent.mkdir(parents=True)
    path.write_text(CART)
    path.with_name("__init__.py").write_text("")
    found = [each for each in targets_of([word], tmp_path) if each.path == path]
    mutants = mutants_of(Source.of(path, "cart.py"), ["arithmetic"])
    assert [each.name for each in mutants if any(part.holds(each) for part in found)] == names


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("cart.Crt", "did you mean `cart.Cart`?"),
        ("cart.py:99", "beyond the end of the file"),
        ("cart.py:5-2", "names no lines"),
        ("cart.py:0", "names no lines"),
        ("gone.Cart", "neither a Python file nor a folder"),
        ("../cart", "neither a Python file nor a folder"),
        ("shop.py", "neither a Python file nor a folder"),
    ],
)
def test_a_part_that_is_not_there_is_refused(tmp_path: Path, word: str, said: str) -> None:
    (tmp_path / "cart.py").write_text(CART)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").touch()
    with pytest.raises(ConfigError) as caught:
        targets_of([word], tmp_path)
    assert said in f"{caught.value} {caught.value.hint}"


def _repository(folder: Path, **settings: str) -> None:
    (folder / "a.py").write_text("x = 1\ny = 2\n")
    for each in (["init"], *(["config", f"diff.{name}", value] for name, value in settings.items()), ["add", "."]):
        subprocess.run(["git", *each], cwd=folder, check=True, capture_output=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, "commit", "-m", "a"], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("settings", [{"mnemonicPrefix": "true"}, {"noprefix": "true"}])
def test_the_settings_of_git_hide_no_line(tmp_path: Path, settings: dict[str, str]) -> None:
    _repository(tmp_path, **settings)
    (tmp_path / "a.py").write_text("x = 1\ny = 3\n")
    assert changed_lines("HEAD", tmp_path) == {tmp_path / "a.py": {2}}


def test_new_files_may_have_any_name_and_lead_nowhere(tmp_path: Path) -> None:
    _repository(tmp_path)
    (tmp_path / "caf\u00e9 s.py").write_text("x = 1\n")
    (tmp_path / "nowhere.py").symlink_to("gone.py")
    assert changed_lines("HEAD", tmp_path) == {tmp_path / "caf\u00e9 s.py": {1, 2}}
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True, capture_output=True)
    assert changed_lines("HEAD", tmp_path)[tmp_path / "caf\u00e9 s.py"] == {1}
    # What ends a line for some readers ends none of a diff, and another file may be in any encoding.
    (tmp_path / "a.py").write_bytes(b"x = 1\n# \x0c \xe9 \xe2\x80\xa8 \r z\nz = 3\n")
    assert changed_lines("HEAD", tmp_path)[tmp_path / "a.py"] == {2, 3}


def test_an_option_is_no_commit(tmp_path: Path) -> None:
    _repository(tmp_path)
    with pytest.raises(ConfigError, match="no commit"):
        changed_lines(f"--output={tmp_path / 'written'}", tmp_path)
    assert not (tmp_path / "written").exists()


def test_what_only_ends_like_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "shop/folder.py").mkdir(parents=True)
    (tmp_path / "shop/__init__.py").write_text("")
    (tmp_path / "shop/nowhere.py").symlink_to("gone.py")
    assert files_of(["shop"], tmp_path) == [tmp_path / "shop/__init__.py"]
