"""Whether failing schedules fail again: each in a fresh process, and after harmless edits of the program.

usage: python benchmarks/schedule_replays.py [--failures N] [--save FILE | --load FILE]

Failures of the programs in `concurrency/deep.py` and `shallow.py` are found with seed after seed, and repeated by their
decisions in a process with another hash seed. Then the text of the programs is edited in twenty ways that leave their
bugs. With `--save` the failures are only found and written to a file, which `--load` repeats, in another version of
Python.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from concurrency.deep import commits, last_retry, late_pings, split_headers
from concurrency.shallow import greeting, pool
from harness.report import command, host, table

from ordeal import simulate

FOLDER = Path(__file__).parent / "concurrency"
PROGRAMS = {
    each.__name__: Path(each.__code__.co_filename).stem
    for each in (pool, greeting, commits, last_retry, late_pings, split_headers)
}
RUNS = 3_000


class _Before(ast.NodeTransformer):
    """Puts statements before each one that awaits, or only before the first of each coroutine function."""

    def __init__(self, text: str, *, is_first_only: bool = False) -> None:
        self.added = ast.parse(text).body
        self.is_first_only = is_first_only

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        if self.is_first_only:
            place = 1 if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) else 0
            node.body[place:place] = self.added
            return node
        body = list[ast.stmt]()
        for statement in node.body:
            awaits = any(isinstance(part, ast.Await) for part in ast.walk(statement))
            body += [*(self.added if awaits else []), statement]
        node.body = body
        return node


def _with(text: str, *, is_first_only: bool = False) -> Callable[[str], str]:
    def edit(source: str) -> str:
        tree = _Before(text, is_first_only=is_first_only).visit(ast.parse(source))
        return ast.unparse(ast.fix_missing_locations(tree))

    return edit


def _without_docstrings(source: str) -> str:
    return re.sub(r'^( +)"""[^"]*"""$', r"\1...", source, flags=re.MULTILINE)


def _at_awaits(added: str) -> Callable[[str], str]:
    return lambda source: re.sub(r"^( *(?:\w+ = )?await .*[^\[({,])$", rf"\1{added}", source, flags=re.MULTILINE)


def _renamed(old: str, new: str) -> Callable[[str], str]:
    return lambda source: re.sub(rf"\b{old}\b", new, source)


#: What is edited, and how. Nothing of it changes when what happens.
EDITS: dict[str, Callable[[str], str]] = {
    "lines above": lambda source: "# A comment.\n" * 7 + source,
    "an import": lambda source: "import collections\n" + source,
    "a function above": lambda source: source.replace("import asyncio\n", "import asyncio\n\ndef f(): return 1\n", 1),
    "a class below": lambda source: f"{source}\n\nclass Unused:\n    pass\n",
    "no docstrings": _without_docstrings,
    "formatted by another tool": lambda source: ast.unparse(ast.parse(source)),
    "a comment on lines that await": _at_awaits("  # a comment"),
    "blank lines": lambda source: source.replace("\n    ", "\n\n    "),
    "indented by two": lambda source: re.sub(r"^(?: {4})+", lambda m: m[0][::2], source, flags=re.MULTILINE),
    "an assertion before what awaits": _with("assert True"),
    "a call before what awaits": _with("len('')"),
    "a variable before what awaits": _with("unused = [1, 2]"),
    "a branch before what awaits": _with("if not __name__:\n    raise ValueError"),
    "a loop before what awaits": _with("for _ in range(2):\n    pass"),
    "an import in functions": _with("import math", is_first_only=True),
    "a variable in functions": _with("began = 1", is_first_only=True),
    "a function in functions": _with("def unused():\n    return 2", is_first_only=True),
    "a variable renamed": _renamed("writer", "out"),
    "another variable renamed": _renamed("turn|task|loop", "thing"),
    "texts changed": lambda source: source.replace("WrongError(", "WrongError('' or "),
}


def failures_of(name: str, wanted: int) -> list[dict[str, Any]]:
    """Find failures of a program, shrunk, with one seed after another."""
    module = __import__(f"concurrency.{PROGRAMS[name]}", fromlist=[name])
    main = getattr(module, name)
    faults = (module.DEEP if PROGRAMS[name] == "deep" else module.SHALLOW)[main]
    found: list[dict[str, Any]] = []
    seed = 1
    while len(found) < wanted:
        failure = simulate.explore(main, runs=RUNS, seed=seed, faults=faults, check=False).failure
        seed += 1
        if failure is not None:
            recorded = {"decisions": failure.decisions, "seed": failure.chance, "error": type(failure.error).__name__}
            found.append({"name": name, **recorded})
    return found


def repeated(failures: list[dict[str, Any]], edit: str | None) -> int:
    """Say how many failures fail again, in this process, with the text as it is or edited."""
    modules = dict[str, Any]()
    for name in dict.fromkeys(PROGRAMS.values()):
        source = (FOLDER / f"{name}.py").read_text("utf-8")
        text = source if edit is None else EDITS[edit](source)
        path = Path.cwd() / f"{name}.py"
        path.write_text(text, "utf-8")
        modules[name] = types.ModuleType(f"concurrency.{name}")
        exec(compile(text, str(path), "exec"), vars(modules[name]))
    again = 0
    for failure in failures:
        module = modules[PROGRAMS[failure["name"]]]
        main = getattr(module, failure["name"])
        faults = (module.DEEP if hasattr(module, "DEEP") else module.SHALLOW)[main]
        try:
            simulate.run(main, seed=failure["seed"], faults=faults, decisions=failure["decisions"])
        except Exception as error:  # noqa: BLE001 - whatever the program raises is what is counted
            again += type(error).__name__ == failure["error"]
    return again


def asked(failures: list[dict[str, Any]], edit: str | None) -> int:
    """The same in a fresh process with another hash seed."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--repeat", edit or "nothing"],
            input=json.dumps(failures),
            env=os.environ | {"PYTHONHASHSEED": "17", "PYTHONPATH": str(FOLDER.parent)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(done.stderr)
    return int(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--failures", type=int, default=1_000)
    parser.add_argument("--repeat", choices=["nothing", *EDITS], help=argparse.SUPPRESS)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--load", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.repeat:
        print(repeated(json.load(sys.stdin), None if options.repeat == "nothing" else options.repeat))
        return
    if options.load:
        saved = json.loads(options.load.read_text("utf-8"))
        again = asked(saved["failures"], None)
        print(host(), f"of {saved['python']}: {again:,} of {len(saved['failures']):,} fail again", sep="\n\n")
        return
    each = -(-options.failures // len(PROGRAMS))
    failures = [failure for name in PROGRAMS for failure in failures_of(name, each)][: options.failures]
    if options.save:
        saved = {"python": sys.version.partition(" ")[0], "failures": failures}
        options.save.write_text(json.dumps(saved), "utf-8")
        return
    count = len(failures)
    rows = [("nothing is edited", f"{asked(failures, None):,} of {count:,}")]
    after = {edit: asked(failures, edit) for edit in EDITS}
    rows += [(edit, f"{again:,} of {count:,}") for edit, again in after.items()]
    rows.append((f"**all {len(EDITS)} edits**", f"{sum(after.values()) / count / len(EDITS):.1%}"))
    print(host(), command(), table(("edit", "fail again"), rows), sep="\n\n")


if __name__ == "__main__":
    main()
