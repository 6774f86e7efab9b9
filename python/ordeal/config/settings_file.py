"""Reads ``ordeal.toml`` into frozen records; every key is checked, and every error says what to write instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ordeal._base.limits import MEBIBYTE
from ordeal._base.machine_files import class_paths_like
from ordeal._base.regular_file import read_regular
from ordeal.config.checks import CLASS_PATH, accepted, as_toml, cut, refusal, shown
from ordeal.config.options import (
    DEFAULT_PATH,
    SECTIONS,
    ExplorerConfig,
    FleetConfig,
    HealthConfig,
    MutationsConfig,
    ProfileConfig,
    ReportConfig,
    TestConfig,
)
from ordeal.config.table import Table, keys_of

#: No settings have this many dots: tomllib's time grows with the square of the dots in one key.
DOTS_MAX = 5_000

# Settings of other engines and of earlier versions, and the hint for each.
_FOREIGN_KEYS = {
    ("explorer", "ngram"): "remove the line: ordeal always follows single edges",
    ("explorer", "seed_mutation_respect_strategies"): "remove the line: no argument ever leaves its strategy",
    ("explorer", "verbose"): "move the line to [report]",
}


class OrdealConfig(Table):
    """A complete ``ordeal.toml``. ``tests`` has at least one entry, unless none was needed."""

    explorer: ExplorerConfig
    tests: tuple[TestConfig, ...]
    report: ReportConfig
    health: HealthConfig = HealthConfig()
    fleet: FleetConfig = FleetConfig()
    mutations: MutationsConfig = MutationsConfig()
    profile: ProfileConfig = ProfileConfig()


def load_config(path: str | Path = DEFAULT_PATH, *, needs_tests: bool = True) -> OrdealConfig:
    """Read and check the settings file at ``path``; it must have ``[[tests]]`` unless ``needs_tests`` is False.

    Raises ``ConfigError``, naming the file and the key, when the file cannot be read, is not TOML, or holds a value
    that cannot be used.
    """
    source = str(path)
    document = _parse(_read(Path(path)), source)
    for name in document:
        if name in SECTIONS:
            continue
        home = next((section for section, cls in SECTIONS.items() if name in keys_of(cls)), None)
        if home is not None and not isinstance(document[name], dict):
            header = "[[tests]]" if home == "tests" else f"[{home}]"
            raise refusal(f"key `{name}` in {source} is outside a section", f"put it below `{header}`")
        hint = _known_hint(name, [*SECTIONS], "sections")
        raise refusal(f"unknown section [{name}] in {source}", hint)
    return OrdealConfig(
        explorer=_section(ExplorerConfig, _table(document, "explorer", source), "explorer", source),
        tests=_tests(document, source, needed=needs_tests),
        report=_section(ReportConfig, _table(document, "report", source), "report", source),
        health=_section(HealthConfig, _table(document, "health", source), "health", source),
        fleet=_section(FleetConfig, _table(document, "fleet", source), "fleet", source),
        mutations=_section(MutationsConfig, _table(document, "mutations", source), "mutations", source),
        profile=_section(ProfileConfig, _table(document, "profile", source), "profile", source),
    )


def load_settings(path: str | Path | None) -> OrdealConfig:
    """Return the settings of a file, with or without classes; the defaults without a ``path`` and a default file.

    Raises ``ConfigError`` as ``load_config`` does.
    """
    if path is None and not Path(DEFAULT_PATH).exists():
        return OrdealConfig(explorer=ExplorerConfig(), tests=(), report=ReportConfig())
    return load_config(DEFAULT_PATH if path is None else path, needs_tests=False)


def load_config_for(class_paths: Sequence[str], path: str | Path | None) -> OrdealConfig:
    """Return a configuration for classes that are named elsewhere: each with its entry of the file, if it has one.

    Without classes, they are those of the file. Without a ``path``, the default file is read if there is one.

    Raises ``ConfigError`` as ``load_config`` does, for a text that is not a class path, and when there is nothing to
    explore.
    """
    if not class_paths:
        if path is None and not Path(DEFAULT_PATH).exists():
            above = next((each for each in Path.cwd().parents if (each / DEFAULT_PATH).is_file()), None)
            found = f"there is one in {above}: run it there" if above else "run `ordeal init` to create one"
            named = next(iter(class_paths_like("")), CLASS_PATH.example)
            hint = f"{found}, or name a class after the command: `{named}`"
            raise refusal(f"config file not found: {DEFAULT_PATH}", hint)
        return load_config(DEFAULT_PATH if path is None else path)
    config = load_settings(path)
    entries = {test.class_path: test for test in reversed(config.tests)}
    wanted = dict.fromkeys(path for each in class_paths for path in _class_paths(each))
    return config.replaced(tests=tuple(entries.get(each, TestConfig(class_path=each)) for each in wanted))


def _class_paths(text: str) -> list[str]:
    # Any other text is looked for in the files of the project: a file, a node id of pytest, a module.
    if CLASS_PATH.accept(text) is not None:
        return [text]
    if found := [each for each in class_paths_like(text) if CLASS_PATH.accept(each)]:
        return found
    file, _, name = text.partition(":")
    module = ".".join(Path(file).with_suffix("").parts) if file.endswith(".py") else ""
    guess = f"{module}:{name.lstrip(':') or 'ClassName'}"
    accepted(CLASS_PATH, text, f"`CLASS` is {shown(text)}", f"`{CLASS_PATH.accept(guess) or CLASS_PATH.example}`")
    return []


def _read(path: Path) -> str:
    try:
        # Skip the BOM that some editors write.
        data = read_regular(path, MEBIBYTE)
        if len(data) > MEBIBYTE:
            raise refusal(f"config file is larger than {MEBIBYTE} bytes: {path}", "name the settings file of ordeal")
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        hint = "run `ordeal init` to create one, or name a file with `--config PATH`"
        raise refusal(f"config file not found: {path}", hint) from None
    except IsADirectoryError:
        hint = f"name a file, for example `--config {path / DEFAULT_PATH}`"
        raise refusal(f"config file is a directory: {path}", hint) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        hint = f"save the file as UTF-8; the first other byte is in line {line}"
        raise refusal(f"config file is not valid UTF-8: {path}", hint) from None
    except (OSError, ValueError) as error:
        # ValueError: the path itself holds a NUL byte.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise refusal(f"config file cannot be read: {path}: {reason}", "check the path and its rights") from None


def _parse(text: str, source: str) -> dict[str, Any]:
    if text.count(".") > DOTS_MAX:
        raise refusal(f"{source} has more than {DOTS_MAX} dots", "write fewer keys and names with dots in them")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "look for a bracket or quote that is not closed, or a value that is not complete"
        if found := re.search(r"at line (\d+)", str(error)):
            # Count lines like tomllib: splitlines() would also count form feeds and other separators.
            hint = f"line {found[1]} is: {cut(text.split('\n')[int(found[1]) - 1].strip())}"
        raise refusal(f"{source} is not valid TOML: {error}", hint) from None
    except RecursionError:
        raise refusal(f"{source} nests brackets too deeply", "write fewer levels") from None
    except ValueError:
        # tomllib uses int(), which refuses thousands of digits.
        raise refusal(f"{source} holds a number with too many digits", "write a shorter number") from None


def _known_hint(name: str, known: list[str], what: str) -> str:
    close = get_close_matches(name, known, n=1)
    return f"did you mean `{close[0]}`?" if close else f"valid {what}: {', '.join(known)}"


def _table(document: Mapping[str, Any], name: str, source: str) -> Mapping[str, Any]:
    table = document.get(name, {})
    if not isinstance(table, dict):
        raise refusal(f"`{name}` in {source} is not a section", f"write `[{name}]` on its own line")
    return table


def _tests(document: Mapping[str, Any], source: str, *, needed: bool) -> tuple[TestConfig, ...]:
    entries = document.get("tests", [])
    example = '`[[tests]]` and below it `class = "tests.test_chaos:MyServiceChaos"`'
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise refusal(f"`tests` in {source} is not a list of sections", f"write {example}, with double brackets")
    if not entries and needed:
        raise refusal(f"no [[tests]] entries in {source}", f"add {example}")
    tests = []
    for number, entry in enumerate(entries, start=1):
        if "class" not in entry:
            hint = 'add a line such as `class = "tests.test_chaos:MyServiceChaos"`'
            raise refusal(f"{_place(f'tests.{number}')} in {source} has no `class` key", hint)
        tests.append(_section(TestConfig, entry, f"tests.{number}", source))
    return tuple(tests)


def _place(name: str) -> str:
    """Return how people name a section, or an entry of a list of sections."""
    section, _, number = name.partition(".")
    return f"[[{section}]] number {number}" if number else f"[{name}]"


def _section[Section: Table](section: type[Section], table: Mapping[str, Any], name: str, source: str) -> Section:
    """Check every key of one table and build its record."""
    options = keys_of(section)
    values = {}
    for key, value in table.items():
        if key not in options:
            hint = _FOREIGN_KEYS.get((name, key)) or _known_hint(key, [*options], "keys")
            raise refusal(f"unknown key `{key}` in {_place(name)} of {source}", hint)
        option = options[key]
        problem = f"`{key}` in {_place(name)} of {source} is {shown(value)}"
        values[option.name] = accepted(option.check, value, problem, f"`{key} = {as_toml(option.check.example)}`")
    return section(**values)
