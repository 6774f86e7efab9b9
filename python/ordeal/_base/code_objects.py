"""Looks into code objects: what is defined within them, which lines they have, and which do the same."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType

#: The flag of a function with a docstring, from Python 3.14 on.
_HAS_DOCSTRING = 0x4000000
#: The bytes of an instruction that loads the first constant.
_FIRST_LOADED = [bytes((opcode, 0)) for opcode in dis.hasconst if opcode < 256]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def lines_in(code: CodeType) -> set[int]:
    """Return the lines with instructions, nested code included: others, such as ``global x``, can never be hit."""
    return {line for each in codes_in(code) for *_, line in each.co_lines() if line}


def shape(code: CodeType) -> tuple[object, ...]:
    """Return the instructions, names and constants of code, to be compared and hashed; positions do not matter."""
    constants = code.co_consts
    # The first constant stays though nothing loads it. It was the docstring, or None, until Python 3.14, where it may
    # be the condition of a loop without end.
    is_any = sys.version_info >= (3, 14) and not code.co_flags & _HAS_DOCSTRING
    if is_any and not any(first in code.co_code for first in _FIRST_LOADED):
        constants = constants[1:]
    return (
        *(code.co_code, code.co_exceptiontable, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        *(code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_name),
        tuple(shape(each) if isinstance(each, CodeType) else exact(each) for each in constants),
    )


def exact(value: object) -> tuple[object, ...]:
    """Return a constant such that equal ones are of equal type: 1, 1.0 and True differ."""
    if isinstance(value, tuple):
        return (tuple, *map(exact, value))
    if isinstance(value, frozenset):
        return (frozenset, *sorted(map(repr, map(exact, value))))
    return type(value), repr(value)
