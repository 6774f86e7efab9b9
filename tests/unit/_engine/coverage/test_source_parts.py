"""Parts of a source file compile to the code that the whole file has."""

from pathlib import Path
from types import CodeType

import pytest

from ordeal._engine.coverage.source_parts import WHOLE_CHARS_MAX, SourceParts, read_parts

FILLER = "#" * WHOLE_CHARS_MAX


def codes_in(code: CodeType) -> dict[tuple[str, int], CodeType]:
    found = {}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found[constant.co_qualname, constant.co_firstlineno] = constant
            found |= codes_in(constant)
    return found


def compiled(source: str) -> dict[tuple[str, int], CodeType]:
    return codes_in(compile(source, "program.py", "exec", dont_inherit=True))


def test_a_function_compiles_as_in_its_file() -> None:
    source = (
        f"import os\n{FILLER}\nclass C(os.PathLike):\n    '''A class.'''\n    x = 1\n\n"
        "    @property\n    def p(self):\n        return super().__init__\n\n"
        "    if os:\n        def q(self, a):\n            def inner(b):\n"
        "                return a == os.fspath(self.__b)\n"
        "            return inner\n\ndef f(): return 5\n"
    )
    parts = SourceParts(source)
    whole = compiled(source)
    for (name, line), code in whole.items():
        part = parts.part_at(line)
        if name == "C":
            continue
        assert part is not None
        again = compiled(parts.source_of(part))[name, line]
        assert again.co_code == code.co_code
        assert (again.co_freevars, again.co_names, again.co_firstlineno) == (
            code.co_freevars,
            code.co_names,
            code.co_firstlineno,
        )
    # What is nested belongs to the function around it.
    assert parts.part_at(13) == parts.part_at(12) != parts.part_at(7)


@pytest.mark.parametrize("module", ["argparse", "typing", "asyncio.base_events", "inspect"])
def test_large_modules_are_cut_into_functions_that_compile(module: str) -> None:
    path = str(__import__(module, fromlist=["x"]).__file__)
    parts = read_parts(path)
    assert parts is not None
    source = Path(path).read_text("utf-8")
    whole = {key: code for key, code in compiled(source).items() if not key[0].endswith(">")}
    seen = set()
    for (name, line), code in whole.items():
        part = parts.part_at(line)
        if part is None or part in seen:
            continue
        seen.add(part)
        assert compiled(parts.source_of(part))[name, line].co_code == code.co_code
        assert parts.chars_of(part) <= len(source)
    assert len(seen) > 50


def test_a_small_file_is_one_part() -> None:
    source = "f = lambda x: x == 1\n"
    parts = SourceParts(source)
    assert parts.part_at(1) == 0
    assert parts.source_of(0) == source
    assert parts.chars_of(0) == len(source) - 1


def test_a_function_that_the_source_does_not_have_is_in_no_part() -> None:
    assert SourceParts(f"{FILLER}\nf = lambda x: x == 1\n").part_at(2) is None


def test_a_file_that_is_gone_or_no_text_has_no_parts(tmp_path: Path) -> None:
    assert read_parts(str(tmp_path / "missing.py")) is None
    (tmp_path / "bytes.py").write_bytes(b"\xff")
    assert read_parts(str(tmp_path / "bytes.py")) is None
