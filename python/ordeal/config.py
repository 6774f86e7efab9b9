"""Reads ``ordeal.toml`` into frozen dataclasses; every key is checked, and every error says what to write instead."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

from ordeal._engine.formatting import one_line
from ordeal.errors import ConfigError

DEFAULT_PATH = "ordeal.toml"

CheckpointStrategy = Literal["energy", "uniform", "recent"]
CheckpointKind = Literal["auto", "copy", "replay", "fork"]
#: What ``auto`` comes to.
SnapshotKind = Literal["copy", "replay", "fork"]
TracingOfComparisons = Literal["auto", "off"]
SwarmPolicy = Literal["classic", "adaptive"]
ReportFormat = Literal["text", "json", "both"]
Metric = Literal["runs", "steps", "edges"]

#: Who decides what kind of run comes next, where nobody says it.
DEFAULT_SWARM_POLICY: SwarmPolicy = "adaptive"

RNG_SEED_MAX = 2**64 - 1
#: What no machine has, in MiB.
MEMORY_MIB_MAX = 2**24
WORKERS_MAX = 4096
STEPS_MAX = 10_000  # a tape holds no more
CHECKPOINTS_MAX = 65_536
# Counts travel to the engine as signed 64-bit integers.
_COUNT_MAX = 2**63 - 1
_VALUE_CHARS_MAX = 60
_ERROR_CHARS_MAX = 500

# Settings of other engines that people bring along, and what to tell them.
_FOREIGN_KEYS = {
    ("explorer", "ngram"): "remove the line: ordeal always follows single edges, there is no n-gram setting"
}


# What a value must be


@dataclass(frozen=True, slots=True)
class _Check:
    """What a value must be (``expected``, as in "is not ..."), an ``example`` in TOML, and the test itself.

    ``accept`` returns the value in its final type, or ``None`` when it does not fit; no key has ``None`` as a value.
    """

    expected: str
    example: str
    accept: Callable[[object], Any]


def _integer(lowest: int, highest: int = _COUNT_MAX) -> Callable[[object], int | None]:
    def accept(value: object) -> int | None:
        # bool is a subclass of int, but `workers = true` is a mistake.
        fits = isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest
        return value if isinstance(value, int) and fits else None

    return accept


def _number(fits: Callable[[float], bool]) -> Callable[[object], float | None]:
    def accept(value: object) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) and fits(number) else None

    return accept


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _true(value: object) -> bool | None:
    return True if value is True else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value and "\0" not in value else None


def _csv_path(value: object) -> str | None:
    return value if isinstance(value, str) and value.endswith(".csv") and "\0" not in value else None


def _one_of(*choices: str) -> Callable[[object], str | None]:
    return lambda value: value if isinstance(value, str) and value in choices else None


def _module_names(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    names = tuple(name for name in value if isinstance(name, str) and name.strip())
    return names if len(names) == len(value) else None


def _class_path(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    module, colon, name = value.partition(":")
    return value if colon and _is_dotted(module) and _is_dotted(name) else None


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


_Switch = Annotated[bool, _Check("a boolean", "true", _boolean)]
_Probability = Annotated[float, _Check("a number from 0 to 1", "0.4", _number(lambda number: 0 <= number <= 1))]
_Steps = Annotated[int, _Check("a whole number from 1 to 10000", "50", _integer(1, STEPS_MAX))]
_Runs = Annotated[int, _Check("a whole number, 1 or more", "1000", _integer(1))]
_Patience = Annotated[int, _Check("a whole number, 0 or more", "5000", _integer(0))]
_Checkpoints = Annotated[int, _Check("a whole number from 0 to 65536", "256", _integer(0, CHECKPOINTS_MAX))]
_Workers = Annotated[int, _Check("a whole number from 0 (all cores) to 4096", "2", _integer(0, WORKERS_MAX))]
_Memory = Annotated[int, _Check("a whole number of MiB, 0 for no limit", "2048", _integer(0, MEMORY_MIB_MAX))]
_RngSeed = Annotated[int, _Check("a whole number from 0 to 2**64 - 1", "42", _integer(0, RNG_SEED_MAX))]
_Budget = Annotated[float, _Check("a number of seconds above 0", "60", _number(lambda number: number > 0))]
# Known from other engines, where it keeps changed arguments inside their strategy. Here nothing ever leaves one.
_Respect = Annotated[bool, _Check("true: no argument ever leaves its strategy", "true", _true)]
# A rule timeout of 0 or below switches the timer off, as on ChaosTest itself.
_RuleTimeout = Annotated[float, _Check("a number of seconds", "30.0", _number(math.isfinite))]
_Modules = Annotated[tuple[str, ...], _Check("a list of module names", '["myapp"]', _module_names)]
_Strategy = Annotated[
    CheckpointStrategy,
    _Check('one of "energy", "uniform", "recent"', '"energy"', _one_of("energy", "uniform", "recent")),
]
_Kind = Annotated[
    CheckpointKind,
    _Check('one of "auto", "copy", "replay", "fork"', '"auto"', _one_of("auto", "copy", "replay", "fork")),
]
_Tracing = Annotated[TracingOfComparisons, _Check('one of "auto", "off"', '"auto"', _one_of("auto", "off"))]
_Policy = Annotated[SwarmPolicy, _Check('one of "classic", "adaptive"', '"adaptive"', _one_of("classic", "adaptive"))]
_ClassPath = Annotated[
    str, _Check('a class path "module.path:ClassName"', '"tests.test_chaos:MyServiceChaos"', _class_path)
]
_Format = Annotated[ReportFormat, _Check('one of "text", "json", "both"', '"text"', _one_of("text", "json", "both"))]
_File = Annotated[str, _Check("a file path", '"ordeal-report.json"', _text)]
_TracesFolder = Annotated[str, _Check("a folder path", '".ordeal/traces"', _text)]
_SeedsFolder = Annotated[str, _Check("a folder path", '".ordeal/seeds"', _text)]
_MaxWorkers = Annotated[int, _Check("a whole number from 1 to 4096", "4", _integer(1, WORKERS_MAX))]
_TrialTime = Annotated[float, _Check("a number of seconds above 0", "10", _number(lambda number: number > 0))]
_Metric = Annotated[Metric, _Check("one of runs, steps, edges", "runs", _one_of("runs", "steps", "edges"))]
_Repeat = Annotated[int, _Check("a whole number from 1 to 100", "3", _integer(1, 100))]
_CsvFile = Annotated[str, _Check("a file path that ends in .csv", "scaling.csv", _csv_path)]
_Projected = Annotated[int, _Check("a whole number from 10 to 100000", "1000", _integer(10, 100_000))]


# The sections


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerConfig:
    """The section ``[explorer]``: how to search. Times are in seconds.

    ``max_runs`` is ``None`` for no limit, ``workers`` 0 for all cores, and ``rule_timeout`` ``None`` for what the class
    says. ``checkpoint_prob`` and ``rule_swarm`` are ``None`` for what ``swarm_policy`` decides.
    """

    target_modules: _Modules = ()
    max_time: _Budget = 60.0
    max_runs: _Runs | None = None
    patience: _Patience = 0
    seed: _RngSeed = 42
    max_checkpoints: _Checkpoints = 256
    checkpoint_prob: _Probability | None = None
    checkpoint_strategy: _Strategy = "energy"
    checkpoint_kind: _Kind = "auto"
    steps_per_run: _Steps = 50
    fault_toggle_prob: _Probability = 0.3
    buggify_prob: _Probability = 0.1
    value_reuse_prob: _Probability = 0.1
    comparison_tracing: _Tracing = "auto"
    workers: _Workers = 0
    rule_swarm: _Switch | None = None
    swarm_policy: _Policy = DEFAULT_SWARM_POLICY
    max_memory: _Memory = 0
    share_edges: _Switch = True
    share_checkpoints: _Switch = True
    rule_timeout: _RuleTimeout | None = None
    seed_mutation_respect_strategies: _Respect = True
    verbose: _Switch = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TestConfig:
    """One ``[[tests]]`` entry: a class to explore. ``None`` means that the ``[explorer]`` section or the class decides.

    ``class_path`` is the key ``class``, as ``module.path:ClassName``. ``swarm`` stands for ``rule_swarm`` in this
    entry.
    """

    __test__ = False  # The name makes pytest think that this is a test.

    class_path: _ClassPath
    steps_per_run: _Steps | None = None
    swarm: _Switch | None = None
    rule_timeout: _RuleTimeout | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportConfig:
    """The section ``[report]``: what to write where. ``output`` is the JSON report, written for "json" and "both".

    Traces of failures are always saved in ``traces_dir``; ``traces`` adds those of runs that reached something new.
    """

    format: _Format = "text"
    output: _File = "ordeal-report.json"
    traces: _Switch = False
    traces_dir: _TracesFolder = ".ordeal/traces"
    verbose: _Switch = False
    corpus_dir: _SeedsFolder = ".ordeal/seeds"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdealConfig:
    """A whole ``ordeal.toml``. ``tests`` has at least one entry."""

    explorer: ExplorerConfig
    tests: tuple[TestConfig, ...]
    report: ReportConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkConfig:
    """The options of ``ordeal benchmark``, which no section of the file holds. ``time`` is in seconds, of one trial.

    ``max_workers`` is ``None`` for as many as there are CPUs; ``csv`` and ``simulate`` are ``None`` for none.
    """

    max_workers: _MaxWorkers | None = None
    time: _TrialTime = 10.0
    metric: _Metric = "runs"
    repeat: _Repeat = 3
    csv: _CsvFile | None = None
    simulate: _Projected | None = None


_SECTIONS: dict[str, type] = {"explorer": ExplorerConfig, "tests": TestConfig, "report": ReportConfig}
# `class` is no name that a Python field can have.
_FIELD_OF_KEY = {"class": "class_path"}


def _checks(section: type) -> dict[str, _Check]:
    """Return the check of each key that may stand in a section, in the order of declaration."""
    key_of_field = {name: key for key, name in _FIELD_OF_KEY.items()}
    hints = get_type_hints(section, include_extras=True)
    return {key_of_field.get(f.name, f.name): _check_of(hints[f.name]) for f in dataclasses.fields(section)}


def _check_of(hint: Any) -> _Check:
    """Return the check that annotates a type; for ``T | None`` it is the one on ``T``."""
    annotated = next(part for part in (hint, *get_args(hint)) if hasattr(part, "__metadata__"))
    check = annotated.__metadata__[0]
    assert isinstance(check, _Check)
    return check


# Reading


def load_config(path: str | Path = DEFAULT_PATH) -> OrdealConfig:
    """Read and check a configuration file.

    Raises ``ConfigError``, naming the file and the key, when the file cannot be read, is not TOML, or holds a value
    that cannot be used.
    """
    source = str(path)
    document = _parse(_read(Path(path)), source)
    _refuse_unknown_sections(document, source)
    return OrdealConfig(
        explorer=_section(ExplorerConfig, _table(document, "explorer", source), "explorer", source),
        tests=_tests(document, source),
        report=_section(ReportConfig, _table(document, "report", source), "report", source),
    )


def override[Section: (ExplorerConfig, BenchmarkConfig)](config: Section, options: Mapping[str, object]) -> Section:
    """Return ``config`` with the values of command line options, given by key; those that are ``None`` were not given.

    Raises ``ConfigError`` naming the option for a value that the file could not hold either.
    """
    checks = _checks(type(config))
    given = {key: value for key, value in options.items() if value is not None}
    values = {}
    for key, value in given.items():
        option = f"--{key.replace('_', '-')}"
        values[key] = _checked(
            checks[key], value, f"`{option}` is {_shown(value)}", f"`{option} {checks[key].example}`"
        )
    return dataclasses.replace(config, **values)


def _error(message: str, hint: str) -> ConfigError:
    # Keys, values and paths are quoted in messages, and any of them can hold a newline or a terminal escape.
    return ConfigError(one_line(message, limit=_ERROR_CHARS_MAX), hint=one_line(hint, limit=_ERROR_CHARS_MAX))


def _read(path: Path) -> str:
    try:
        # The BOM that some editors write is no part of the text.
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        hint = "create it with a `[[tests]]` entry, or name another file with `--config PATH`"
        raise _error(f"config file not found: {path}", hint) from None
    except IsADirectoryError:
        hint = f"name a file, for example `--config {path / DEFAULT_PATH}`"
        raise _error(f"config file is a directory: {path}", hint) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        hint = f"save the file as UTF-8; the first other byte is in line {line}"
        raise _error(f"config file is not valid UTF-8: {path}", hint) from None
    except (OSError, ValueError) as error:
        # ValueError: the path itself holds a NUL byte.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _error(f"config file cannot be read: {path}: {reason}", "check the path and its rights") from None


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _error(f"{source} is not valid TOML: {error}", _syntax_hint(text, str(error))) from None
    except RecursionError:
        raise _error(f"{source} nests brackets too deeply", "write fewer levels") from None
    except ValueError:
        # tomllib hands digits to int(), which refuses thousands of them.
        raise _error(f"{source} holds a number with too many digits", "write a shorter number") from None


def _syntax_hint(text: str, reason: str) -> str:
    found = re.search(r"at line (\d+)", reason)
    if found is None:
        return "look for a bracket or quote that is not closed, or a value that is not complete"
    # As tomllib counts them: splitlines() would also count form feeds and other separators.
    line = text.split("\n")[int(found[1]) - 1].strip()
    return f"line {found[1]} is: {line[:_VALUE_CHARS_MAX]}"


def _refuse_unknown_sections(document: Mapping[str, Any], source: str) -> None:
    for name in document:
        if name in _SECTIONS:
            continue
        home = next((section for section, cls in _SECTIONS.items() if name in _checks(cls)), None)
        if home is not None and not isinstance(document[name], dict):
            raise _error(f"key `{name}` in {source} is outside a section", f"put it below {_header(home)}")
        hint = _known_hint(name, [*_SECTIONS], "sections")
        raise _error(f"unknown section [{name}] in {source}", hint)


def _header(section: str) -> str:
    return "`[[tests]]`" if section == "tests" else f"`[{section}]`"


def _known_hint(name: str, known: list[str], what: str) -> str:
    close = get_close_matches(name, known, n=1)
    guess = f"did you mean `{close[0]}`? " if close else ""
    return f"{guess}valid {what}: {', '.join(known)}"


def _table(document: Mapping[str, Any], name: str, source: str) -> Mapping[str, Any]:
    table = document.get(name, {})
    if not isinstance(table, dict):
        raise _error(f"`{name}` in {source} is not a section", f"write `[{name}]` on a line of its own")
    return table


def _tests(document: Mapping[str, Any], source: str) -> tuple[TestConfig, ...]:
    entries = document.get("tests", [])
    example = '`[[tests]]` and below it `class = "tests.test_chaos:MyServiceChaos"`'
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _error(f"`tests` in {source} is not a list of sections", f"write {example}, with double brackets")
    if not entries:
        raise _error(f"no [[tests]] entries in {source}", f"add {example}")
    return tuple(_test(entry, f"tests.{number}", source) for number, entry in enumerate(entries))


def _test(entry: Mapping[str, Any], name: str, source: str) -> TestConfig:
    if "class" not in entry:
        hint = 'add a line such as `class = "tests.test_chaos:MyServiceChaos"`'
        raise _error(f"[{name}] in {source} has no `class` key", hint)
    return _section(TestConfig, entry, name, source)


def _section[Section](section: type[Section], table: Mapping[str, Any], name: str, source: str) -> Section:
    """Check every key of one table and build its dataclass."""
    checks = _checks(section)
    values = {}
    for key, value in table.items():
        if key not in checks:
            hint = _FOREIGN_KEYS.get((name, key)) or _known_hint(key, [*checks], "keys")
            raise _error(f"unknown key `{key}` in [{name}] of {source}", hint)
        problem = f"`{key}` in [{name}] of {source} is {_shown(value)}"
        values[_FIELD_OF_KEY.get(key, key)] = _checked(checks[key], value, problem, f"`{key} = {checks[key].example}`")
    return section(**values)


def _checked(check: _Check, value: object, problem: str, example: str) -> Any:
    accepted = check.accept(value)
    if accepted is None:
        raise _error(f"{problem}, not {check.expected}", f"write {check.expected}, for example {example}")
    return accepted


def _shown(value: object) -> str:
    """Return a value as TOML would write it where that differs from Python, cut to a readable length."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= _VALUE_CHARS_MAX else text[: _VALUE_CHARS_MAX - 3] + "..."
