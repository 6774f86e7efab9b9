"""Beginnings of tests for what no test noticed: where, what changed, and the nearest test. A person writes the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ordeal._base.formatting import one_line
from ordeal._report.mutation import difference
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Function, Source
from ordeal._tools.mutation.verdicts import Verdict, weakest_first

_HEAD = '''"""What no test notices, written by `ordeal mutate`: none of these passes until somebody writes it."""

import pytest
'''
_NOT_NAME = re.compile(r"\W+")


def mutation_stubs(sources: Sequence[Source], judgement: Judgement) -> str:
    """Return a file of pytest with a test for each line where nothing noticed, which is expected to fail.

    So it neither passes for done, nor keeps the other tests from judging mutants.
    """
    by_name = {source.shown: source for source in sources}
    uncovered = [each for each in judgement.verdicts if each.word == "uncovered"]
    seen: dict[tuple[str, int], Verdict] = {}
    for each in [*weakest_first(judgement.verdicts), *uncovered]:
        seen.setdefault((each.mutant.shown, each.mutant.line), each)
    return "\n\n".join([_HEAD, *(_stub(by_name[each.mutant.shown], each) for each in seen.values())])


def _stub(source: Source, verdict: Verdict) -> str:
    mutant = verdict.mutant
    name = _NOT_NAME.sub("_", f"{mutant.name or 'module'}_{mutant.line}_{mutant.id}").strip("_").lower()
    ran = "no test runs it" if verdict.word == "uncovered" else f"nearest: {verdict.nearest or 'none'}"
    lines = [
        f"def test_{name}():",
        f"    # {one_line(f'{mutant.shown}:{mutant.line} {mutant.name or "module"}, {mutant.operator}; {ran}')}",
        *(f"    #   {one_line(line)}" for line in difference(source, mutant).split("\n")),
    ]
    called = _called(source, mutant)
    lines += [f"    # {one_line(called)}"] if called else []
    told = f"write what {mutant.name or mutant.shown} does here, and not with this change"
    return "\n".join([*lines, f"    pytest.xfail({told!r})", ""])


def _called(source: Source, mutant: Mutant) -> str:
    """Return how the function of a mutant is called, as far as its arguments tell; nothing outside of functions."""
    node = source.named(mutant.name)
    if not isinstance(node, Function):
        return ""
    arguments = node.args
    named = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    shown = ", ".join(f"{each}=..." for each in named if each not in ("self", "cls"))
    return f"{mutant.name}({shown}) == ..."
