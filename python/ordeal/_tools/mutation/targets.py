"""Finds what to mutate: the files, lines, classes and functions that the user names, or changed lines; no tests."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from ordeal._base.git import commit, git
from ordeal._base.regular_file import read_whole
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.source import Function, Source
from ordeal.errors import ConfigError

_SKIPPED = {"tests", "test", "build", "dist", "docs", "node_modules", "__pycache__", "setup.py"}
_LINES = re.compile(r"(.+\.py):([0-9]{1,9})(?:-([0-9]{1,9}))?")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
#: The options of a diff, independent of the user's settings of git.
_PLAIN_DIFF = (
    *("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "diff", "--unified=0", "--no-color"),
    *("--no-ext-diff", "--no-textconv", "--text", "--relative"),
)


@dataclass(frozen=True, slots=True)
class Target:
    """A file to mutate, or a part of it: the lines from the first to the last, or what a dotted name means there."""

    path: Path
    lines: tuple[int, int] | None = None
    name: str = ""

    def holds(self, mutant: Mutant) -> bool:
        """Return True if a mutant of the file is in the part."""
        if self.lines is not None:
            return self.lines[0] <= mutant.line <= self.lines[1]
        return f"{mutant.name}.".startswith(f"{self.name}.") if self.name else True


def targets_of(paths: Sequence[str], folder: Path) -> list[Target]:
    """Return what words name: a path, ``file.py:12-40``, ``package.module`` or ``package.module.Class.method``.

    Without words these are the packages in ``folder`` or its ``src``.

    Raises:
        ConfigError: a word names nothing.
    """
    if not paths:
        return [Target(path) for path in _packages(folder)]
    found = [target for each in paths for target in _named(each, folder)]
    if not found:
        raise ConfigError(f"no Python file in {', '.join(paths)}", hint="name the folder of the program")
    return list(dict.fromkeys(found))


def files_of(paths: Sequence[str], folder: Path, exclude: Sequence[str] = ()) -> list[Path]:
    """Return the files of Python that words name, or that have the parts that they name; see ``targets_of``.

    Without those of ``exclude``: patterns of the shell for the path of a file or of a folder, from ``folder``; one
    without a slash for any name in the path.

    Raises:
        ConfigError: a word names nothing, nothing is left, or of the whole program a pattern excludes nothing.
    """
    found = list(dict.fromkeys(each.path for each in targets_of(paths, folder)))
    shown = {path: shown_path(path, folder) for path in found}
    for pattern in exclude if not paths else ():
        if not any(_is_meant(name, pattern) for name in shown.values()):
            raise ConfigError(
                f"`{pattern}` excludes nothing here",
                hint="write the path of a file or folder from the current one, such as `src/shop/vendor` or `*_pb2.py`",
            )
    left = [path for path in found if not any(_is_meant(shown[path], pattern) for pattern in exclude)]
    if not left:
        raise ConfigError("all files are excluded", hint="name other files, or exclude fewer")
    return left


def shown_path(path: Path, folder: Path) -> str:
    """Return the path of a file as people read it: from ``folder``, where it lies inside."""
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def _is_meant(shown: str, pattern: str) -> bool:
    """Return True if a pattern means a file, or a folder above it."""
    path, plain = PurePosixPath(shown), str(PurePosixPath(pattern))
    if "/" not in plain:
        return any(fnmatchcase(part, plain) for part in path.parts)
    return any(fnmatchcase(str(each), plain) for each in (path, *path.parents))


def _named(word: str, folder: Path) -> Iterator[Target]:
    path = folder / word
    if path.is_file() and path.suffix == ".py":
        yield Target(path)
    elif path.is_dir():
        yield from map(Target, _inside(path))
    elif (match := _LINES.fullmatch(word)) and (folder / match[1]).is_file():
        path, first, last = folder / match[1], int(match[2]), int(match[3] or match[2])
        lines = read_whole(path).count(b"\n") + 1
        if not 1 <= first <= last:
            hint = "write the first and the last line, such as `shop.py:12-40`"
            raise ConfigError(f"`{word}` names no lines", hint=hint)
        if first > lines:
            raise ConfigError(f"`{word}` names lines beyond the end of the file", hint=f"it has {lines}")
        yield Target(path, (first, last))
    elif _DOTTED.fullmatch(word) and path.suffix != ".py":
        yield from _dotted(word, folder)
    else:
        raise _nothing(word)


def _nothing(word: str) -> ConfigError:
    return ConfigError(
        f"`{word}` is neither a Python file nor a folder",
        hint="write a path, for example `src/shop`, `shop.py:12-40`, or a name such as `shop.Cart.add`",
    )


def _inside(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.py"))
    return [inner for inner in found if not _is_test(inner.relative_to(folder)) and inner.is_file()]


def _dotted(word: str, folder: Path) -> Iterator[Target]:
    """Yield the module that a dotted name begins with, or what the rest of the name means in it."""
    parts = word.split(".")
    for size in range(len(parts), 0, -1):
        for home in (folder / "src", folder):
            place, name = home.joinpath(*parts[:size]), ".".join(parts[size:])
            if not name and (place / "__init__.py").is_file():
                yield from map(Target, _inside(place))
                return
            if not name and not place.with_name(f"{place.name}.py").is_file() and place.is_dir() and _inside(place):
                # A package without `__init__.py`, which may be in several folders.
                yield from map(Target, _inside(place))
                return
            for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
                if path.is_file():
                    yield _defined(word, Target(path, None, name), folder)
                    return
    raise _nothing(word)


def _defined(word: str, target: Target, folder: Path) -> Target:
    source = Source.of(target.path, target.path.relative_to(folder).as_posix())
    names = [source.name_of(node) for node in ast.walk(source.tree) if isinstance(node, Function | ast.ClassDef)]
    if target.name and target.name not in names:
        near = difflib.get_close_matches(target.name, names, 1)
        hint = f"did you mean `{word.removesuffix(target.name)}{near[0]}`?" if near else "name a class or a function"
        raise ConfigError(f"{source.shown} defines no `{target.name}`", hint=hint)
    return target


def _packages(folder: Path) -> list[Path]:
    home = folder / "src" if (folder / "src").is_dir() else folder
    packages = [each for each in sorted(home.iterdir()) if (each / "__init__.py").is_file()]
    packages = [each for each in packages if each.name not in _SKIPPED]
    if not packages:
        # A program may be single files. Everything in `src` is the program, even a package without `__init__.py`.
        packages = [
            each
            for each in sorted(home.iterdir())
            if each.suffix == ".py" or (home != folder and each.is_dir() and _inside(each))
        ]
        packages = [each for each in packages if each.name not in _SKIPPED and not _is_test(each.relative_to(home))]
    if not packages:
        raise ConfigError(
            "no package here to mutate", hint="name files or folders, for example `ordeal mutate shop.py`"
        )
    return files_of([str(each) for each in packages], folder)


def _is_test(path: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in path.parts)
    is_test = path.name.startswith("test_") or path.name.endswith("_test.py") or path.name == "conftest.py"
    return is_hidden or is_test or bool(_SKIPPED & set(path.parts[:-1]))


def changed_lines(reference: str, folder: Path) -> dict[Path, set[int]]:
    """Return, by file, the lines that differ from a commit, by git. New files count whole.

    Raises:
        ConfigError: git knows no such commit, or is missing.
    """
    root = Path(git(folder, "rev-parse", "--show-toplevel", instead="leave `--since` out"))
    diff = git(folder, *_PLAIN_DIFF, commit(root, reference), "--", "*.py")
    found: dict[Path, set[int]] = {}
    lines: set[int] = set()
    # A line of a program may hold a form feed, at which `splitlines` would split it.
    for line in diff.split("\n"):
        if line.startswith("+++ b/"):
            lines = found.setdefault((folder / line[6:].rstrip("\t")).resolve(), set())
        elif match := _HUNK.match(line):
            first = int(match[1])
            lines |= {*range(first, first + int(match[2] or 1))}
    for name in git(folder, "ls-files", "-z", "--others", "--exclude-standard", "--", "*.py").split("\0"):
        path = (folder / name).resolve()
        if path.is_file():
            found[path] = set(range(1, read_whole(path).count(b"\n") + 2))
    return found
