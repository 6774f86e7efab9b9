"""Paths of the simulated file system begin at its root, however they are written."""

from __future__ import annotations

import errno
from pathlib import PurePosixPath

import pytest

from ordeal.simulate.paths import AnyPath, absolute, names_of, os_error


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("a", "/a"),
        ("/a/b", "/a/b"),
        ("//a//b/", "/a/b"),
        ("///a", "/a"),
        ("a/../b/.", "/b"),
        ("../../a", "/a"),
        ("/..", "/"),
        ("", "/"),
        (".", "/"),
        (PurePosixPath("a/b"), "/a/b"),
    ],
)
def test_a_path_has_one_absolute_form(path: AnyPath, where: str) -> None:
    assert absolute(path) == where
    assert absolute(where) == where


@pytest.mark.parametrize(("where", "names"), [("/", []), ("/a", ["a"]), ("/a/b c", ["a", "b c"])])
def test_a_path_is_made_of_names(where: str, names: list[str]) -> None:
    assert names_of(where) == names


def test_errors_are_of_the_class_that_the_code_has() -> None:
    error = os_error(errno.ENOENT, "/a")
    assert isinstance(error, FileNotFoundError)
    assert (error.errno, error.filename) == (errno.ENOENT, "/a")
    assert str(error) == "[Errno 2] No such file or directory: '/a'"
