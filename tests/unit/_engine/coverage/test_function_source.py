"""The source of a function compiles to the code that it has in the whole file."""

from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from ordeal._engine.coverage.function_source import SourceFile, codes_in


def compiled(source: str) -> list[CodeType]:
    return list(codes_in(compile(source, "program.py", "exec", dont_inherit=True)))[1:]


def outermost(source: str) -> Iterator[CodeType]:
    """Yield the functions that are in no other one, without lambdas and the like."""
    for code in compiled(source):
        is_class = code.co_name == code.co_qualname.rpartition(".")[2] and "__qualname__" in code.co_names
        if "<" not in code.co_qualname and not is_class:
            yield code


def same(code: CodeType, source: str) -> bool:
    facts = [
        (each.co_qualname, each.co_firstlineno, each.co_code, each.co_names, each.co_freevars)
        for each in codes_in(code)
    ]
    return any(
        [
            (each.co_qualname, each.co_firstlineno, each.co_code, each.co_names, each.co_freevars)
            for each in codes_in(found)
        ]
        == facts
        for found in compiled(source)
    )


@pytest.mark.parametrize("module", ["argparse", "typing", "asyncio.base_events", "inspect", "dataclasses", "textwrap"])
def test_functions_compile_as_in_their_file(module: str) -> None:
    source = Path(str(__import__(module, fromlist=["x"]).__file__)).read_text("utf-8")
    file = SourceFile(source)
    functions = list(outermost(source))
    assert len(functions) >= 5
    assert [code.co_qualname for code in functions if not same(code, file.source_of(code))] == []
    assert sum(end - first for first, end in map(file.lines_of, functions)) <= source.count("\n")


def test_what_a_function_needs_of_its_surroundings() -> None:
    source = (
        "import os\nclass C(os.PathLike):\n    '''A class.'''\n    x = 1\n\n"
        "    @property\n    def p(self):\n        return super().__init__\n\n"
        "    if os:\n        def q(self, a):\n            def inner(b):\n"
        "                return a == os.fspath(self.__b)\n"
        "            return inner\n\nif os:\n\tdef t(): return os.fspath(5)\ndef f(): return 5\n"
    )
    functions = list(outermost(source))
    assert [code.co_qualname for code in functions] == ["C.p", "C.q", "t", "f"]
    for code in functions:
        assert same(code, SourceFile(source).source_of(code))
