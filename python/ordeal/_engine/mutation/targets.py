"""What to mutate: the files, lines, classes and functions that somebody names, without tests; and what has changed."""

from __future__ import annotations

import ast
import difflib
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ordeal._engine.mutation.mutants import Mutant
from ordeal._engine.mutation.source import Function, Source
from ordeal.errors import ConfigError

_SKIPPED = {"tests", "test", "build", "dist", "docs", "node_modules", "__pycache__"}
_LINES = re.compile(r"(.+\.py):([0-9]{1,9})(?:-([0-9]{1,9}))?")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Target:
    """A file to mutate, or a part of it: the lines from the first to the last, or what a dotted name means there."""

    path: Path
    lines: tuple[int, int] | None = None
    name: str = ""

    def holds(self, mutant: Mutant) -> bool:
        """Return whether a mutant of the file is in the part."""
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
        raise ConfigError(f"no file of Python in {', '.join(paths)}", hint="name the folder of the program")
    return list(dict.fromkeys(found))


def files_of(paths: Sequence[str], folder: Path) -> list[Path]:
    """Return the files of Python that words name, or that have the parts that they name; see ``targets_of``."""
    return list(dict.fromkeys(each.path for each in targets_of(paths, folder)))


def _named(word: str, folder: Path) -> Iterator[Target]:
    path = folder / word
    if path.is_file() and path.suffix == ".py":
        yield Target(path)
    elif path.is_dir():
        yield from map(Target, _inside(path))
    elif (match := _LINES.fullmatch(word)) and (folder / match[1]).is_file():
        yield Target(
            folder / match[1], _checked_lines(word, folder / match[1], int(match[2]), int(match[3] or match[2]))
        )
    elif _DOTTED.fullmatch(word):
        yield from _dotted(word, folder)
    else:
        raise _nothing(word)


def _nothing(word: str) -> ConfigError:
    return ConfigError(
        f"`{word}` is neither a file of Python nor a folder",
        hint="write a path, for example `src/shop`, `shop.py:12-40`, or a name such as `shop.Cart.add`",
    )


def _inside(folder: Path) -> list[Path]:
    return [inner for inner in sorted(folder.rglob("*.py")) if not _is_test(inner.relative_to(folder))]


def _checked_lines(word: str, path: Path, first: int, last: int) -> tuple[int, int]:
    lines = path.read_bytes().count(b"\n") + 1
    if not 1 <= first <= last:
        raise ConfigError(f"`{word}` names no lines", hint="write the first and the last line, such as `shop.py:12-40`")
    if first > lines:
        raise ConfigError(f"`{word}` names lines beyond the end of the file", hint=f"it has {lines}")
    return first, last


def _dotted(word: str, folder: Path) -> Iterator[Target]:
    """Yield the module that a dotted name begins with, or what the rest of the name means in it."""
    parts = word.split(".")
    for size in range(len(parts), 0, -1):
        for home in (folder / "src", folder):
            place, name = home.joinpath(*parts[:size]), ".".join(parts[size:])
            if not name and (place / "__init__.py").is_file():
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
        raise ConfigError(
            "no package here to mutate", hint="name files or folders, for example `ordeal mutate shop.py`"
        )
    return files_of([str(each) for each in packages], folder)


def _is_test(path: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in path.parts)
    is_test = path.name.startswith("test_") or path.name.endswith("_test.py") or path.name == "conftest.py"
    return is_hidden or is_test or bool(_SKIPPED & set(path.parts[:-1]))


def changed_lines(reference: str, folder: Path) -> dict[Path, set[int]]:
    """Return, by file, the lines that differ from a commit, as git tells. New files count whole."""
    diff = _git(["diff", "--unified=0", "--no-color", "--no-ext-diff", "--relative", reference, "--", "*.py"], folder)
    found = _new_lines(diff, folder)
    for name in _git(["ls-files", "--others", "--exclude-standard", "--", "*.py"], folder).splitlines():
        path = (folder / name).resolve()
        found[path] = set(range(1, path.read_bytes().count(b"\n") + 2))
    return found


def lines_of_diff(path: Path, folder: Path) -> dict[Path, set[int]]:
    """Return, by file, the lines that a diff has added or changed. Its paths are those from ``folder``.

    Raises:
        ConfigError: it cannot be read, or it names no file.
    """
    try:
        found = _new_lines(path.read_text("utf-8", "replace"), folder)
    except OSError as error:
        raise ConfigError(f"`{path}` cannot be read: {error.strerror}", hint="name a file of `git diff`") from None
    if not found:
        raise ConfigError(f"`{path}` is no unified diff", hint="write one by `git diff main > FILE`")
    return found


def _new_lines(diff: str, folder: Path) -> dict[Path, set[int]]:
    """Return the lines of the new files that a diff marks with a plus, whether it has lines around them or not."""
    found: dict[Path, set[int]] = {}
    lines: set[int] = set()
    at = left = 0
    for line in diff.splitlines():
        if left > 0 and line[:1] in ("+", " ", ""):
            if line[:1] == "+":
                lines.add(at)
            at, left = at + 1, left - 1
        elif line.startswith("+++ ") and line != "+++ /dev/null":
            name = line[4:].partition("\t")[0].strip('"')
            lines = found.setdefault((folder / name.removeprefix("b/")).resolve(), set())
        elif match := _HUNK.match(line):
            at, left = int(match[1]), int(match[2] or 1)
    return found


def _git(arguments: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ConfigError("git is not installed", hint="leave `--since` out") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise ConfigError(
            f"git cannot compare: {said[0] if said else done.returncode}",
            hint="name a commit, for example `--since HEAD~1`",
        )
    return done.stdout
