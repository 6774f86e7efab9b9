"""``ordeal compare``: what a program does differently than at another commit, or with another release of a package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted
from ordeal._base.git import checked_out, commit, last_line, root_of
from ordeal._base.imports import file_of, files_behind
from ordeal._base.limits import FILES_MAX
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.class_path import trust
from ordeal._report.formats.document import line
from ordeal._tools.compare.comparing import Compared, Version, compare
from ordeal.cli import terminal
from ordeal.cli.folders import corpus_folders, traces_folders
from ordeal.config.flags import CompareFlags
from ordeal.config.settings_file import OrdealConfig, load_config_for
from ordeal.errors import ConfigError, TraceError

_RELEASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[\w,-]+\])?==[A-Za-z0-9.!+_-]+")
_INSTALL_SECONDS = 300
_WHAT = {
    "result": "`{name}` returns something else",
    "error": "`{name}` raises on one version only, or something else",
    "state": "`{name}` leaves another `{what}`",
    "call": "what follows is another call",
}


def run(flags: CompareFlags) -> int:
    """Compare, and return 1 if something differs."""
    names = [word for word in flags.words if ":" not in word]
    classes = [word for word in flags.words if ":" in word]
    if not names or len(names) > 2:
        message = "no version to compare with" if not names else "more than two versions"
        raise ConfigError(message, hint="name a commit or a release, for example `ordeal compare HEAD~1`")
    config = load_config_for(classes, flags.config if Path(flags.config).exists() or not classes else None)
    found: list[tuple[str, Compared]] = []
    kept = list(_kept())
    with ExitStack() as stack:
        old, new = (stack.enter_context(_version(name, config)) for name in (names[0], *(names[1:] or [""])))
        for test in config.tests:
            trust(test.class_path)
            terminal.say(f"Comparing {test.class_path} on {old.name} and {new.name} ...")
            given = config.explorer.target_modules, kept
            found.append(
                (test.class_path, compare(old, new, test.class_path, *given, seed=flags.seed, seconds=flags.max_time))
            )
    differences = [each for _, comparison in found for each in comparison.differences]
    if flags.json:
        document = {
            "schema_version": JSON_SCHEMA_VERSION,
            "tool": "compare",
            "old": old.name,
            "new": new.name,
            "classes": {
                name: {"runs": each.runs, "unsteady": each.unsteady, "inside": len(each.inside)} for name, each in found
            },
            "differences": [asdict(each) for each in differences],
        }
        terminal.write(json.dumps(document, indent=2) + "\n")
    else:
        for number, each in enumerate(differences, 1):
            width = max(len(old.name), len(new.name)) + 1
            lines = [f"{number}. {each.test_class}: {_WHAT[each.kind].format(name=each.name, what=each.what)}"]
            lines += [f"     {call}" for call in each.calls]
            lines += [f"   {f'{old.name}:':{width}} {each.old}", f"   {f'{new.name}:':{width}} {each.new}"]
            terminal.write("".join(f"{line(text)}\n" for text in lines) + "\n")
        runs, unsteady = (sum(getattr(each, name) for _, each in found) for name in ("runs", "unsteady"))
        said = f"{counted(len(differences), 'difference')} in {counted(runs, 'run')} of " + counted(
            len(found), "class", "classes"
        )
        terminal.write(f"{said}{f'; {unsteady} left out: not deterministic' if unsteady else ''}\n")
        inside = [place for _, each in found for place in each.inside]
        if inside:
            runs_inside = f"{counted(len(inside), 'run')} differ in private attributes alone, such as `{inside[0]}`"
            terminal.write(f"{line(runs_inside)}\n")
    return 1 if differences else 0


def _kept() -> Iterator[Trace]:
    """Yield the traces that are saved here; what cannot be read is left alone."""
    for folder in (*traces_folders(), *corpus_folders()):
        for path in sorted(Path(folder).rglob("*.json*"))[:FILES_MAX]:
            with suppress(TraceError):
                yield Trace.load(path)


@contextmanager
def _version(name: str, config: OrdealConfig) -> Iterator[Version]:
    here = Path.cwd()
    if not name:
        yield Version("here", here, (here, here / "src"))
    elif _RELEASE.fullmatch(name):
        with tempfile.TemporaryDirectory(prefix="ordeal-compare-") as place:
            _install(name, Path(place))
            yield Version(name, here, (Path(place), here, here / "src"))
    else:
        root = root_of(here)
        with checked_out(root, commit(root, name)) as tree:
            folder = tree / here.relative_to(root)
            folder.mkdir(parents=True, exist_ok=True)
            _copy_machines(config, here, folder)
            yield Version(name, folder, (folder, folder / "src"), str(here))


def _install(release: str, place: Path) -> None:
    """Install a release with what it needs into a separate folder."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(place)]
    try:
        done = subprocess.run(
            [*command, release], check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        message = f"`{release}` could not be installed in {_INSTALL_SECONDS} s"
        raise ConfigError(message, hint=f"`pip install {release}` says more") from None
    if done.returncode:
        said = last_line(done.stderr.decode("utf-8", "replace")).removeprefix("ERROR: ")
        raise ConfigError(f"`{release}` cannot be installed: {said}", hint=f"`pip install {release}` says more")


def _copy_machines(config: OrdealConfig, here: Path, folder: Path) -> None:
    """Put the machines as they are now next to the earlier program: only what is tested may differ.

    With each go the files that it imports from its own folder, unless they belong to a target module.
    """
    roots = (here, here / "src")
    targets = {each.resolve() for name in config.explorer.target_modules if (each := file_of(name, roots))}
    for test in config.tests:
        module = test.class_path.partition(":")[0]
        own = file_of(module, roots)
        if own is None or own.resolve() in targets:
            continue
        beside = own.resolve().parent if "." in module else None
        for path in files_behind([module], roots):
            if path == own.resolve() or (beside is not None and path.is_relative_to(beside) and path not in targets):
                copied = folder / path.relative_to(here.resolve())
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copied)
