"""Lays out a statement of Python as ``ruff format`` does, so that written tests need no formatter."""

from __future__ import annotations

import ast
import unicodedata
from dataclasses import dataclass

WIDTH = 88
INDENT = "    "
#: Integers above this are written in hexadecimal: Python refuses to read long decimal ones.
DECIMAL_BITS_MAX = 1_024


@dataclass(frozen=True, slots=True)
class _Brackets:
    """Items between brackets. Those of a call may share one line after a break; others then get one line each."""

    before: str
    items: tuple[_Node, ...]
    after: str
    is_call: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """Parts that stand next to each other."""

    parts: tuple[_Node, ...]


type _Node = str | _Brackets | _Row


def lay_out(statement: str, indent: int) -> list[str]:
    """The lines of ``statement``: a call, or an assignment of one; ``indent`` counts levels."""
    (parsed,) = ast.parse(statement).body
    if isinstance(parsed, ast.Assign):
        (target,) = parsed.targets
        node: _Node = _Row((f"{_flat(_node(target))} = ", _node(parsed.value)))
    elif isinstance(parsed, ast.Expr):
        node = _node(parsed.value)
    else:
        raise TypeError(f"cannot lay out {type(parsed).__name__}")
    return _lines(node, indent, "", "")


def quoted(value: str | bytes) -> str:
    """A string or bytes literal in double quotes, unless single ones save escapes."""
    double: str | bytes = value + '"' if isinstance(value, str) else value + b'"'
    prefix = "b" if isinstance(value, bytes) else ""
    # With a double quote in it, repr() uses single quotes and escapes those alone.
    body = repr(double)[len(prefix) + 1 : -2].replace("\\'", "'")
    quote = "'" if body.count('"') > body.count("'") else '"'
    return f"{prefix}{quote}{body.replace(quote, f'\\{quote}')}{quote}"


def _lines(node: _Node, indent: int, before: str, after: str) -> list[str]:
    """The lines of ``node`` between two texts that stick to it."""
    pad = INDENT * indent
    flat = f"{pad}{before}{_flat(node)}{after}"
    if _width(flat) <= WIDTH or isinstance(node, str):
        return [flat]
    if isinstance(node, _Row):
        first, *middle, last = node.parts
        text = before + "".join(map(_flat, (first, *middle)))
        # The key of an entry is broken as well where not even the beginning of its value fits behind it.
        if middle and _can_break(first) and _width(f"{pad}{text}{_beginning(last, after)}") > WIDTH:
            *lines, end = _broken(first, indent, before, "")
            return [*lines, *_lines(last, indent, "".join((end.strip(), *map(_flat, middle))), after)]
        return _lines(last, indent, text, after)
    return _broken(node, indent, before, after) if node.items else [flat]


def _broken(node: _Node, indent: int, before: str, after: str) -> list[str]:
    """The lines of what can be broken, whether it has to be or not."""
    if isinstance(node, _Row):
        *heads, last = node.parts
        return _broken(last, indent, before + "".join(map(_flat, heads)), after)
    assert isinstance(node, _Brackets)
    pad = INDENT * indent
    return [f"{pad}{before}{node.before}", *_items(node, indent + 1), f"{pad}{node.after}{after}"]


def _can_break(node: _Node) -> bool:
    if isinstance(node, _Row):
        return _can_break(node.parts[-1])
    return isinstance(node, _Brackets) and bool(node.items)


def _beginning(node: _Node, after: str) -> str:
    """What comes before the first break that ``node`` can have."""
    if not _can_break(node):
        return f"{_flat(node)}{after}"
    if isinstance(node, _Row):
        *heads, last = node.parts
        return "".join(map(_flat, heads)) + _beginning(last, after)
    assert isinstance(node, _Brackets)
    return node.before


def _items(node: _Brackets, indent: int) -> list[str]:
    if node.is_call:
        together = INDENT * indent + ", ".join(map(_flat, node.items))
        if _width(together) <= WIDTH:
            return [together]
    return [line for item in node.items for line in _lines(item, indent, "", ",")]


def _width(text: str) -> int:
    """The columns that ``text`` takes on a terminal, which is what formatters count."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _flat(node: _Node) -> str:
    if isinstance(node, str):
        return node
    if isinstance(node, _Row):
        return "".join(map(_flat, node.parts))
    comma = "," if node.before == "(" and not node.is_call and len(node.items) == 1 else ""
    return f"{node.before}{', '.join(map(_flat, node.items))}{comma}{node.after}"


def _node(expression: ast.expr) -> _Node:
    match expression:
        case ast.Constant(value=value):
            return _constant(value)
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            return f"{_flat(_node(owner))}.{name}"
        case ast.Subscript(value=owner, slice=index):
            return f"{_flat(_node(owner))}[{_flat(_node(index))}]"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _Row(("-", _node(operand)))
        case ast.List(elts=items):
            return _Brackets("[", tuple(map(_node, items)), "]")
        case ast.Tuple(elts=items):
            return _Brackets("(", tuple(map(_node, items)), ")")
        case ast.Set(elts=items):
            return _Brackets("{", tuple(map(_node, items)), "}")
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            rows = tuple(_Row((_node(key), ": ", _node(value))) for key, value in pairs if key is not None)
            return _Brackets("{", rows, "}")
        case ast.Call(func=function, args=arguments, keywords=keywords):
            return _call(_flat(_node(function)), arguments, keywords)
        case _:
            raise TypeError(f"cannot lay out {type(expression).__name__}")


def _call(function: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> _Node:
    named = [_Row((f"{keyword.arg}=", _node(keyword.value))) for keyword in keywords]
    return _Row((function, _Brackets("(", (*map(_node, arguments), *named), ")", is_call=True)))


def _constant(value: object) -> str:
    if isinstance(value, str | bytes):
        return quoted(value)
    if isinstance(value, int) and value.bit_length() > DECIMAL_BITS_MAX:
        return f"0x{value:X}"
    if isinstance(value, float):
        return repr(value).replace("e+", "e")
    return "..." if value is ... else repr(value)
