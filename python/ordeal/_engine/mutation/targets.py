"""The files to mutate: those that paths name, without tests, and the lines of them that changed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ordeal.errors import ConfigError

_SKIPPED = {"tests", "test", "build", "dist", "docs", "node_modules", "__pycache__"}
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def files_of(paths: Sequence[str], folder: Path) -> list[Path]:
    """Return the files of Python that paths name; of no paths, those of the packages in ``folder`` or its ``src``."""
    if not paths:
        return _packages(folder)
    found: list[Path] = []
    for each in paths:
        path = folder / each
        if path.is_file() and path.suffix == ".py":
            found.append(path)
        elif path.is_dir():
            found += [inner for inner in sorted(path.rglob("*.py")) if not _is_test(inner.relative_to(path))]
        else:
            raise ConfigError(
                f"`{each}` is neither a file of Python nor a folder", hint="write a path, for example `src/shop`"
            )
    if not found:
        raise ConfigError(f"no file of Python in {', '.join(paths)}", hint="name the folder of the program")
    return list(dict.fromkeys(found))


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
