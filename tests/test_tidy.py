"""House rules that no linter knows: each a function from sources to findings, and each shown to catch its offence."""

from __future__ import annotations

import ast
import asyncio
import gc
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parent.parent

# The rooms of the core from the ground up: a room includes itself and the rooms of the lines above its own.
CORE_ROOMS = (
    ("base",),
    ("tape",),
    ("coverage", "draw", "schedule", "shrink"),
    ("corpus",),
    ("cmplog", "swarm"),
    ("search",),
)
TALKERS = (
    *("python/ordeal/_report/", "python/ordeal/cli/"),
    # The live line of an exhaustive test, what a `sometimes` that warns saw, and a seed that chance has given.
    *("python/ordeal/exhaustive/text.py", "python/ordeal/_base/property_text.py", "python/ordeal/seed.py"),
)
# Each run starts with the generators seeded, Hypothesis hands a Random to the strategies that ask for one, faults draw
# from one, and --chaos-seed is for the one of the program; all of them are seeded there. The seed of a session may be
# drawn by chance, and seeds all others. A simulated run seeds the generators of the program.
CHANCE_IN_PYTHON = {
    "python/ordeal/simulate/runtime/surroundings.py",
    # Tests of others draw from these, the same for each mutant.
    "python/ordeal/_tools/mutation/pytest_items.py",
    "python/ordeal/_hypothesis/randoms.py",
    "python/ordeal/faults/randomness.py",
    "python/ordeal/_pytest/global_generators.py",
    "python/_ordeal_pytest.py",  # the state before the project runs
    "python/ordeal/_pytest/plain_random.py",
    "python/ordeal/_pytest/chaos.py",
    "python/ordeal/seed.py",
    "python/ordeal/simulate/ticks/world.py",  # two programs draw the same: it sets back what one has drawn
    "python/ordeal/cli/dashboard.py",  # the token of its address, of which no search hears
}

# Runs the test functions that it has just written, from literals and the names of a class in memory, to see that they
# come true; no text of a file reaches it.
RUNS_WHAT_IT_WROTE = {
    "python/ordeal/_engine/export/generated_tests.py",
    "python/ordeal/_engine/plain/trying.py",  # plain programs, each in a separate process
    "python/ordeal/_engine/execution/where.py",  # the assertion of the test that has just failed
    "python/ordeal/_tools/mutation/machines/closing.py",  # a test of a mutant, on both, before anybody has it
}

UNSAFE_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "yaml"}
CHANCE_MODULES = {"random", "secrets"}
CHANCE_CALLS = {"hash", "os.urandom", "uuid.uuid1", "uuid.uuid4", "uuid1", "uuid4"}
CHANCE_IN_CPP = re.compile(
    r"std::(mt19937|minstd_rand|random_device|default_random_engine|uniform_\w+|normal_distribution|shuffle|sample)\b"
    r"|(?<![\w.>])s?rand(om)?\(|<random>"
)
FORBIDDEN_WORDS = re.compile(r"(?<![a-z])(manager|handler|helper|util|utils|misc)s?(?![a-z])")
MACHINE_PLACES = re.compile(
    r"(?<![\w.])/(wor[k]|roo[t]|home/\w+|tm[p]|Users/\w+|var/tm[p])/|py[p]i\.org|pythonhosted\.or[g]|npm[j]s\.(org|com)"
    r"|deb\.debia[n]\.org|localhost:\d+/simpl[e]"
)
UNFINISHED = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b")
FILE_WIDE_SILENCE = re.compile(r"#\s*(ruff:\s*noq[a]|flake8:\s*noq[a]|mypy:\s*ignore-error[s])")
HYPOTHESIS_INSIDE = re.compile(r"hypothesis\.(\w+\.)*(_(?!_)\w+|internal\b|core\b)")
CONTACT = "put the contact into ordeal/_hypothesis/ and call that"
CORE_MAY_INCLUDE = re.compile(r'"core/\w+/\w+\.h"|<tsl/robin_(map|set)\.h>|<zstd\.h>|<\w+>')


@dataclass(frozen=True)
class Source:
    """A file of the project: its path from the root and its text."""

    path: str
    text: str

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def suffix(self) -> str:
        return Path(self.path).suffix

    @property
    def stem(self) -> str:
        return Path(self.path).stem

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    def is_python(self, folder: str = "") -> bool:
        return self.path.startswith(folder) and self.suffix == ".py"

    def is_cpp(self, folder: str = "") -> bool:
        return self.path.startswith(folder) and self.suffix in {".h", ".cpp"}

    def is_shell(self) -> bool:
        return self.text.startswith("#!/bin/bash")

    def find(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(self.lines, 1):
            if match := pattern.search(line):
                yield number, match.group()


@dataclass(frozen=True)
class Finding:
    """Where a rule is broken, and what to do instead."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


Rule = Callable[[list[Source]], Iterator[Finding]]


def imported(source: Source) -> Iterator[tuple[int, str, str]]:
    """Every import as (line, module, name); the name is empty for ``import module``."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, each.name, "") for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, node.module, each.name) for each in node.names)


def calls(source: Source) -> Iterator[tuple[int, str]]:
    """Every call of a plain or dotted name as (line, name)."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node.lineno, dotted(node.func)


def dotted(function: ast.expr) -> str:
    """The text of what is called."""
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute):
        return f"{dotted(function.value)}.{function.attr}"
    return ast.unparse(function)


@cache
def private_names_of_hypothesis() -> frozenset[str]:
    """The attributes with an underscore that Hypothesis sets or defines anywhere, read from its own source."""
    names = set()
    for path in Path(hypothesis.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
    return frozenset(name for name in names if re.match(r"_(?!_)", name))


def private_uses(source: Source) -> Iterator[tuple[int, str]]:
    """Where a private name of Hypothesis is taken from an object of another, or spelt out, as (line, what)."""
    own = {node.name for node in source.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    own |= {
        node.attr
        for node in source.nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
    }
    private = private_names_of_hypothesis() - own
    for node in source.nodes:
        if isinstance(node, ast.Attribute):
            if node.attr in private:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"getattr", "setattr"}:
            named = node.args[1] if len(node.args) > 1 else None
            if isinstance(named, ast.Constant) and named.value in private_names_of_hypothesis():
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and HYPOTHESIS_INSIDE.match(node.value):
            yield node.lineno, repr(node.value)


def hypothesis_internals_in_one_package(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        if not source.is_python("python/") or source.path.startswith("python/ordeal/_hypothesis/"):
            continue
        for line, module, name in imported(source):
            dotted = f"{module}.{name}".rstrip(".")
            if HYPOTHESIS_INSIDE.match(dotted):
                yield Finding(source.path, line, f"imports {dotted}: {CONTACT}")
        # Few files speak of it at all, and to spell out each attribute of all others takes seconds.
        for node in source.nodes if "hypothesis." in source.text else ():
            if isinstance(node, ast.Attribute) and HYPOTHESIS_INSIDE.fullmatch(ast.unparse(node)):
                yield Finding(source.path, node.lineno, f"reaches into Hypothesis with {ast.unparse(node)}: {CONTACT}")
        for line, use in private_uses(source):
            yield Finding(source.path, line, f"uses what is private to Hypothesis, {use}: {CONTACT}")


def core_knows_no_python(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        if not source.is_cpp("cpp/core/"):
            continue
        for number, line in enumerate(source.lines, 1):
            match = re.match(r"\s*#\s*include\s+(\S+)", line)
            if match and not CORE_MAY_INCLUDE.fullmatch(match.group(1)):
                yield Finding(
                    source.path,
                    number,
                    f"includes {match.group(1)}: the core may use the standard library, robin_map, zstd and core/*; "
                    "what needs Python belongs in cpp/bindings",
                )


def room_of(path: str) -> str | None:
    """The room of a file below ``cpp/core``, None where the path names none."""
    match = re.fullmatch(r"cpp/core/(\w+)/\w+\.(h|cpp)", path)
    return match.group(1) if match else None


def core_rooms_include_downward(sources: list[Source]) -> Iterator[Finding]:
    floor_of = {room: floor for floor, rooms in enumerate(CORE_ROOMS) for room in rooms}
    for source in sources:
        if not source.is_cpp("cpp/core/"):
            continue
        own = room_of(source.path)
        if own not in floor_of:
            yield Finding(source.path, 1, "is in no room of the core: move it, or add its folder to CORE_ROOMS")
            continue
        for number, line in enumerate(source.lines, 1):
            match = re.match(r'\s*#\s*include\s+"(core/\w+/\w+\.h)"', line)
            other = room_of(f"cpp/{match.group(1)}") if match else own
            if other != own and floor_of.get(other or "", len(CORE_ROOMS)) >= floor_of[own]:
                yield Finding(
                    source.path, number, f"includes {other}/, not a room below {own}/: move what both need down"
                )


def only_bindings_h_includes_pybind11(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        if source.is_cpp("cpp/") and source.path != "cpp/bindings/bindings.h":
            for line, _ in source.find(re.compile(r"#\s*include\s+<pybind11/")):
                yield Finding(
                    source.path, line, 'includes pybind11: include "bindings/bindings.h", so all see one set of casters'
                )


def loading_runs_no_code(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        if not source.is_python("python/"):
            continue
        for line, module, _ in imported(source):
            if module.split(".")[0] in UNSAFE_MODULES:
                yield Finding(source.path, line, f"imports {module}: read and write JSON or a versioned tape")
        for line, name in calls(source):
            if name in {"eval", "exec"} and source.path not in RUNS_WHAT_IT_WROTE:
                yield Finding(source.path, line, f"calls {name}(): parse the text, never run it")


def only_reporting_and_cli_talk(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        if not source.is_python("python/") or source.path.startswith(TALKERS):
            continue
        for line, name in calls(source):
            if name in {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}:
                yield Finding(source.path, line, f"calls {name}(): return a value and let reporting or cli/ write it")


def core_sources_have_tests(sources: list[Source]) -> Iterator[Finding]:
    paths = {source.path for source in sources}
    for source in sources:
        if source.is_cpp("cpp/core/") and source.suffix == ".cpp":
            test = source.path.replace("cpp/core/", "tests/core/").replace(".cpp", "_test.cpp")
            if test not in paths:
                yield Finding(source.path, 1, f"has no test: write {test}")


def first_sentence(source: Source) -> str | None:
    """What a file says it is for, None where no sentence is asked of it."""
    if source.is_python():
        return ast.get_docstring(source.tree) or ""
    if source.is_shell() or source.path == "Makefile":
        body = source.text.removeprefix("#!/bin/bash\n")
        return body.removeprefix("# ") if body.startswith("# ") else ""
    if source.is_cpp():
        return source.text.removeprefix("// ") if source.text.startswith("// ") else ""
    return None


def files_say_what_they_are_for(sources: list[Source]) -> Iterator[Finding]:
    headers = {source.path for source in sources if source.suffix == ".h"}
    for source in sources:
        if source.path.removesuffix(".cpp") + ".h" in headers and source.suffix == ".cpp":
            continue
        if source.path.endswith("__init__.py") and not source.path.startswith("python/") and not source.text.strip():
            continue
        sentence = first_sentence(source)
        if sentence is not None and not re.match(r"[^\n]{10,}?(\n[^\n]+?)*?[.:?]", sentence):
            yield Finding(source.path, 1, "does not open with a sentence that says what the file is for: write one")


def defined_names(source: Source) -> Iterator[tuple[int, str]]:
    if source.is_python():
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.lineno, node.name
    elif source.is_cpp():
        for number, line in enumerate(source.lines, 1):
            if match := re.match(r"\s*(?:class|struct|enum class)\s+(\w+)", line):
                yield number, match.group(1)


def names_say_something(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        named = [(1, Path(source.path).stem), *(defined_names(source))]
        for line, name in named:
            if hasattr(asyncio.AbstractEventLoop, name):
                continue  # asyncio has named it
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
            if match := FORBIDDEN_WORDS.search(words):
                yield Finding(source.path, line, f"{name}: '{match.group()}' says nothing, name what it is or does")


def texts_name_no_machine(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        for line, found in source.find(MACHINE_PLACES):
            yield Finding(source.path, line, f"names {found}: use a relative path, tmp_path or a setting")


def nothing_is_unfinished(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        for line, found in source.find(UNFINISHED):
            yield Finding(source.path, line, f"{found}: finish it, or leave it out")


def no_file_is_exempt_from_linting(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        if source.is_python():
            for line, found in source.find(FILE_WIDE_SILENCE):
                yield Finding(source.path, line, f"{found}: silence one line with the rule's name and the reason")


def chance_comes_from_rng(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        if source.is_cpp() and source.path != "cpp/core/base/rng.h":
            for line, found in source.find(CHANCE_IN_CPP):
                yield Finding(source.path, line, f"uses {found}: draw from an ordeal::Rng stream (core/base/rng.h)")
        if source.is_python("python/") and source.path not in CHANCE_IN_PYTHON:
            for line, module, _ in imported(source):
                if module.split(".")[0] in CHANCE_MODULES or module.startswith("numpy.random"):
                    yield Finding(
                        source.path, line, f"imports {module}: draw from the tape, so that a replay draws the same"
                    )
            for line, name in calls(source):
                if name in CHANCE_CALLS:
                    yield Finding(
                        source.path, line, f"calls {name}(): it differs between processes, use hashlib or the tape"
                    )


RULES: list[Rule] = [
    hypothesis_internals_in_one_package,
    core_knows_no_python,
    core_rooms_include_downward,
    only_bindings_h_includes_pybind11,
    loading_runs_no_code,
    only_reporting_and_cli_talk,
    core_sources_have_tests,
    files_say_what_they_are_for,
    names_say_something,
    texts_name_no_machine,
    nothing_is_unfinished,
    no_file_is_exempt_from_linting,
    chance_comes_from_rng,
]


@pytest.fixture(scope="module")
def sources() -> Iterator[list[Source]]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    paths = sorted(ROOT / name for name in set(names) if name and name != "LICENSE")
    written = [path for path in paths if path.is_file() and path.suffix != ".png"]
    # Millions of nodes stay until the end, and the collector would look through them again and again.
    gc.disable()
    try:
        yield [Source(str(path.relative_to(ROOT)), path.read_text("utf-8")) for path in written]
    finally:
        gc.enable()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_house_rule_holds(rule: Rule, sources: list[Source]) -> None:
    findings = [str(finding) for finding in rule(sources)]
    assert not findings, "\n".join(["", *findings])


OFFENCES: list[tuple[Rule, str, str, int]] = [
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "from hypothesis.internal.conjecture import data", 1),
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "from hypothesis import internal", 1),
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "import hypothesis.strategies._internal.lazy", 1),
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "from hypothesis.stateful import _RuleMarker", 1),
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "from hypothesis.core import encode_failure", 1),
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "import hypothesis\nhypothesis.core.run()", 2),
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "x = 1\nsys.modules.get('hypothesis.core')", 2),
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "def f(m):\n    m._initialize_rules_to_run = []", 2),
    (hypothesis_internals_in_one_package, "python/ordeal/x.py", "getattr(strategy, '_transformations', ())", 1),
    (hypothesis_internals_in_one_package, "python/_ordeal_x.py", "import hypothesis.internal.entropy", 1),
    (core_knows_no_python, "cpp/core/tape/x.h", "// X.\n#include <Python.h>", 2),
    (core_knows_no_python, "cpp/core/tape/x.h", '#include "bindings/monitor.h"', 1),
    (core_rooms_include_downward, "cpp/core/x.h", "", 1),
    (core_rooms_include_downward, "cpp/core/tape/x.h", '#include "core/draw/source.h"', 1),
    (core_rooms_include_downward, "cpp/core/shrink/x.cpp", '#include "core/tape/tape.h"\n#include "core/draw/y.h"', 2),
    (only_bindings_h_includes_pybind11, "cpp/bindings/x.cpp", "#include <pybind11/stl.h>", 1),
    (loading_runs_no_code, "python/ordeal/x.py", "import pickle", 1),
    (loading_runs_no_code, "python/ordeal/x.py", "x = 1\neval('x')", 2),
    (only_reporting_and_cli_talk, "python/ordeal/explore.py", "print('done')", 1),
    (core_sources_have_tests, "cpp/core/tape/x.cpp", "", 1),
    (files_say_what_they_are_for, "python/ordeal/x.py", "import os", 1),
    (files_say_what_they_are_for, "cpp/core/tape/x.h", "#pragma once", 1),
    (files_say_what_they_are_for, "tools/x", "#!/bin/bash\nset -e", 1),
    (names_say_something, "python/ordeal/fault_utils.py", "", 1),
    (names_say_something, "python/ordeal/x.py", "\nclass FaultManager: ...", 2),
    (names_say_something, "cpp/core/tape/x.h", "class EdgeHelper {", 1),
    (texts_name_no_machine, "docs/x.md", "see /" + "home/someone/ordeal", 1),
    (nothing_is_unfinished, "docs/x.md", "TO" + "DO: write", 1),
    (no_file_is_exempt_from_linting, "tests/x.py", "# ruff: " + "noqa", 1),
    (chance_comes_from_rng, "cpp/core/tape/x.h", "std::mt19937 engine;", 1),
    (chance_comes_from_rng, "tests/core/x_test.cpp", "int x = rand();", 1),
    (chance_comes_from_rng, "python/ordeal/x.py", "import random", 1),
    (chance_comes_from_rng, "python/ordeal/x.py", "import os\nkey = hash('name')", 2),
]


@pytest.mark.parametrize(("rule", "path", "text", "line"), OFFENCES)
def test_house_rule_catches(rule: Rule, path: str, text: str, line: int) -> None:
    findings = list(rule([Source(path, text)]))
    assert [(finding.path, finding.line) for finding in findings] == [(path, line)]


def test_every_rule_is_shown_to_catch_its_offence() -> None:
    assert {rule.__name__ for rule in RULES} == {rule.__name__ for rule, *_ in OFFENCES}


def test_lawful_source_passes() -> None:
    text = (
        '"""Draws edges from the map."""\n\nfrom ordeal.errors import OrdealError\nfrom hypothesis import strategies\n'
    )
    source = Source("python/ordeal/targets.py", text)
    assert [finding for rule in RULES for finding in rule([source])] == []
