"""Prints each sentence that the program may say to a person, with its place: errors, hints, help, notes, warnings.

usage: python tools/messages.py [WORD]... prints all of them, or those with one of the words
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python/ordeal"
#: Arguments whose text a person reads, whatever is called.
NAMED = {"hint", "help", "reason", "text", "message", "note", "title", "epilog", "metavar"}
#: Calls that show their text to a person.
SAY = {
    "say",
    "echo",
    "warn",
    "write",
    "print",
    "add",
    "add_note",
    "note",
    "warning",
    "heading",
    "line",
    "style",
    "secho",
    "append",
    "Advice",
}


class Message(NamedTuple):
    """A text, what it is, and where it stands."""

    path: str
    line: int
    kind: str
    text: str


def text_of(node: ast.AST) -> str:
    """Return the text of an expression, with its values in braces; empty if it is not a text."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr():
            return "".join(text_of(part) or f"{{{ast.unparse(part.value)}}}" for part in node.values)  # type: ignore[attr-defined]
        case ast.BinOp(op=ast.Add()):
            return text_of(node.left) + text_of(node.right)
        case ast.IfExp():
            return " / ".join(filter(None, (text_of(node.body), text_of(node.orelse))))
    return ""


def called(node: ast.Call) -> str:
    """Return the last name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def messages_of(path: Path) -> Iterator[Message]:
    """Yield the messages of a module, in their order."""
    place = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = called(node)
        for keyword in node.keywords:
            if keyword.arg in NAMED and (text := text_of(keyword.value)):
                yield Message(place, keyword.value.lineno, str(keyword.arg), text)
        if name.endswith(("Error", "Warning", "Note")) or name in SAY:
            kind = "error" if name.endswith("Error") else "warning" if name.endswith("Warning") else "says"
            for argument in node.args:
                if " " in (text := text_of(argument)):
                    yield Message(place, argument.lineno, kind, text)


def help_of(path: Path) -> Iterator[Message]:
    """Yield the help of the commands, which is the docstring of a function."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and any("command" in ast.unparse(each) for each in node.decorator_list):
            yield Message(path.relative_to(ROOT).as_posix(), node.lineno, "help", ast.get_docstring(node) or "")


def all_messages() -> list[Message]:
    """Return all messages, by module and line."""
    found = [each for path in PACKAGE.rglob("*.py") for each in messages_of(path)]
    found += [each for path in PACKAGE.glob("cli/*.py") for each in help_of(path)]
    return sorted(set(found))


def main() -> int:
    """Print the messages with one of the words of the command line."""
    words = [word.lower() for word in sys.argv[1:]]
    for path, line, kind, text in all_messages():
        if not words or any(word in text.lower() for word in words):
            print(f"{path}:{line}  {kind}: {' '.join(text.split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
