"""``ordeal init``: from a package to a machine that has run."""

from __future__ import annotations

import difflib
import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from ordeal._base.formatting import counted, one_line, percent
from ordeal._base.limits import LISTED_MAX
from ordeal._base.regular_file import read_whole
from ordeal._engine.coverage.targets import is_compiled
from ordeal._report.formats.document import figures, headline, id_of
from ordeal._tools.scaffold.packages import (
    FoundClass,
    FoundPackage,
    class_of_coroutines,
    find_class,
    find_class_by_name,
    find_classes,
    find_package,
)
from ordeal._tools.scaffold.settings import WORKFLOW, FileChange, ignore_change, settings_change, workflow_change
from ordeal._tools.scaffold.trying import ClassTry, explore, try_classes
from ordeal._tools.scaffold.writing import machine_name, snake, with_answers, written
from ordeal.cli import terminal
from ordeal.cli.own_files import is_none, place_for
from ordeal.config.flags import InitFlags
from ordeal.config.options import DEFAULT_PATH
from ordeal.errors import ConfigError, MachineError
from ordeal.result.exploration import ranges


def run(flags: InitFlags) -> int:
    """Write a machine for a class of a package, and run it. Return the exit code: 0 if it ran."""
    folder = Path.cwd()
    if flags.ci and flags.on_exists is None and WORKFLOW.exists():
        raise ConfigError(f"{WORKFLOW} is already there", hint="leave `--ci` out, or move the file")
    package, classes = _classes(flags.target, flags.cls, folder)
    roots = [package.root]
    tried = try_classes([each.path for each in classes[:LISTED_MAX]], roots)
    chosen, answer = _best(classes, tried)
    _list(package, classes, tried, chosen)
    file = Path("tests", f"test_ordeal_{snake(answer.name)}.py")
    if flags.on_exists is not None:
        file = place_for("init", file, is_none, flags.on_exists)
    changes = _changes(answer, file, is_new=flags.on_exists != "replace" or not file.exists())
    if flags.ci:
        place = WORKFLOW if flags.on_exists is None else place_for("--ci", WORKFLOW, is_none, flags.on_exists)
        changes.append(replace(workflow_change(), path=place, is_new=not place.exists()))
    if flags.dry_run:
        for change in changes:
            old = "" if change.is_new else read_whole(change.path).decode("utf-8", "surrogateescape")
            name = "/dev/null" if change.is_new else str(change.path)
            after = change.text.splitlines(True)
            terminal.write("".join(difflib.unified_diff(old.splitlines(True), after, name, str(change.path))))
        return 0
    for change in changes:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        # Never over a file that came into being meanwhile.
        with change.path.open("x" if change.is_new else "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(change.text)
        terminal.say(f"{'Wrote' if change.is_new else 'Added to'} {change.path}{_told(change, answer)}")
    class_path = _class_path(file, answer)
    terminal.say(f"Running it for {flags.seconds:g} s ...")
    result = _explored(class_path, flags.seconds, folder, package)
    learnt = with_answers(answer, result["failures"])
    if learnt != answer:
        for each in result["failures"]:
            if each["seed_path"] and with_answers(answer, [each]) != answer:
                Path(each["seed_path"]).unlink(missing_ok=True)
        file.write_text(written(learnt, str(file)), encoding="utf-8", errors="surrogateescape")
        terminal.say(f"Running it again: {file} now expects what calls refused on purpose ...")
        result = _explored(class_path, flags.seconds, folder, package)
    if flags.json:
        lines = _lines_of(result, chosen)
        terminal.write(json.dumps({"class": chosen.path, "test": class_path, "lines": lines, "result": result}) + "\n")
    for text in _outcome(result, chosen, package, file):
        terminal.say(text)
    return 0


def _explored(class_path: str, seconds: float, folder: Path, package: FoundPackage) -> dict[str, Any]:
    document = explore(class_path, seconds, folder, [package.root])
    if isinstance(document, str) or not document.get("results"):
        raise MachineError(
            f"the machine did not run: {one_line(document if isinstance(document, str) else 'no result')}",
            hint=f"`ordeal explore {class_path}` shows more",
        )
    (result,) = document["results"]
    return dict(result)


def _classes(target: str | None, name: str | None, folder: Path) -> tuple[FoundPackage, list[FoundClass]]:
    path = name if target is None or ":" not in target else target
    if path is not None and ":" in path:
        package, found = find_class(path, folder)
        return package, [found]
    package = find_package(target, folder)
    if name is not None:
        return package, [find_class_by_name(package, name)]
    classes = find_classes(package)
    if not classes and (path := class_of_coroutines(package)):
        raise ConfigError(
            f"the methods of `{path}` are coroutines, for which `ordeal init` writes no rules",
            hint="write its machine by hand: rules may be `async def`",
        )
    if not classes:
        raise ConfigError(
            f"no class in `{package.name}` has methods that change it",
            hint="name a class: `ordeal init package.module:Class`, or write a machine of its functions",
        )
    return package, classes


def _best(classes: Sequence[FoundClass], tried: Mapping[str, ClassTry]) -> tuple[FoundClass, ClassTry]:
    """Return the class with the most methods that can be called."""
    working = [(each, tried[each.path]) for each in classes if each.path in tried and tried[each.path].working]
    if not working:
        path, first = next(iter(tried.items()))
        reason = first.reason or "no method of it could be called"
        raise MachineError(
            f"{path} cannot be explored as it is: {one_line(reason)}",
            hint="write its machine by hand, or name another class: `ordeal init package.module:Class`",
        )

    def worth(pair: tuple[FoundClass, ClassTry]) -> float:
        found, answer = pair
        changing = sum(name in found.changing for name in answer.working)
        share = len(answer.working) / max(1, len(answer.calls))
        return (found.score + changing) * share

    return max(working, key=worth)


def _list(
    package: FoundPackage, classes: Sequence[FoundClass], tried: Mapping[str, ClassTry], chosen: FoundClass
) -> None:
    modules, number = counted(len(package.files), "module"), counted(len(classes), "class", "classes")
    terminal.say(f"{package.name}: {modules}, {number} to explore")
    for place, each in enumerate(classes[:LISTED_MAX], start=1):
        shown = each.reasons()
        answer = tried.get(each.path)
        if answer is not None and answer.reason:
            shown += f"; {one_line(answer.reason, limit=80)}"
        elif answer is not None and len(answer.working) < len(answer.calls):
            shown += f"; {len(answer.working)} of {counted(len(answer.calls), 'method')} can be called"
        row = f"{place:>4}" if len(classes) > 1 else " "
        terminal.say(f"{row} {'*' if each is chosen else ' '} {each.path}  {shown}")
    if len(classes) > 1:
        another = next(each.path for each in classes if each is not chosen)
        terminal.say(f"  For another class: `ordeal init {another}`")


def _changes(answer: ClassTry, file: Path, *, is_new: bool) -> list[FileChange]:
    if is_new and file.exists():
        raise ConfigError(f"{file} is already there", hint="name another class, or add `--on-exists number`")
    text = written(answer, str(file))
    changes = [FileChange(file, text, text, is_new=is_new)]
    settings = settings_change(Path(DEFAULT_PATH), _class_path(file, answer), answer.sources)
    ignored = ignore_change(Path(".gitignore"))
    return [*changes, *filter(None, [settings, ignored])]


def _class_path(file: Path, answer: ClassTry) -> str:
    return f"{'.'.join(file.with_suffix('').parts)}:{machine_name(answer)}"


def _told(change: FileChange, answer: ClassTry) -> str:
    if change.path.suffix != ".py":
        return ""
    left_out = sum(bool(each.left_out) for each in answer.calls)
    shown = f": {counted(len(answer.working), 'method')} of {answer.name}"
    return f"{shown}, {left_out} left out" if left_out else shown


def _lines_of(result: Mapping[str, Any], chosen: FoundClass) -> tuple[int, int]:
    """Return how many lines of the class ran, and how many there are."""
    behavior = result["telemetry"]["behavior"]
    file = chosen.file.resolve()

    def inside(lines: Mapping[str, Any]) -> Iterator[int]:
        for path, numbers in lines.items():
            if Path(path).resolve() == file:
                listed = ranges(numbers) if isinstance(numbers, str) else iter(numbers)
                yield from (number for number in listed if chosen.line <= number <= chosen.end_line)

    covered = len(list(inside(behavior.get("covered_lines", {}))))
    return covered, covered + len(list(inside(behavior.get("missed_lines", {}))))


def _outcome(result: Mapping[str, Any], chosen: FoundClass, package: FoundPackage, file: Path) -> Iterator[str]:
    covered, total = _lines_of(result, chosen)
    share = f"; {percent(covered / total)} of the lines of {chosen.name} ran ({covered} of {total})" if total else ""
    yield f"  {figures(result)}{share}"
    if is_compiled(chosen.file):
        yield f"  {chosen.path} is compiled: its code cannot be watched, and does not steer the search"
    for finding in result["failures"]:
        yield f"  found: {headline(finding)}  (ordeal replay -v {id_of(finding)})"
    yield "Next:"
    if result["failures"]:
        replay = f"ordeal replay -v {id_of(result['failures'][0])}"
        yield f"  {replay}    shows what happened: a bug, or an answer to wrong arguments?"
    yield f"  ordeal explore    searches longer. What must always hold is for you to say, in {file}"
    name = package.name.partition(".")[0]
    # Other programs do not look in `src`, as `ordeal` does.
    in_sources = package.root.name == "src" and name not in metadata.packages_distributions()
    if in_sources or importlib.util.find_spec(name) is None:
        yield f"  pip install -e .    lets pytest find `{package.name}`, which is not installed"
