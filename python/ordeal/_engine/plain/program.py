"""The plain program: which of the recorded operations it needs, how it ends, and its text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import msgspec.structs

from ordeal._engine.plain.expressions import TAKEN


class PlainStatement(msgspec.Struct, kw_only=True):
    """A statement: its source, and whether the program may be tried without it.

    ``raises`` is the name of the exception that it raises and that the test expects. ``faults`` are pairs of what is
    replaced while it runs and the exception that this raises.
    """

    text: str
    variable: str = ""
    uses: list[str] = msgspec.field(default_factory=list)
    raises: str = ""
    faults: list[tuple[str, str]] = msgspec.field(default_factory=list)
    optional: bool = False


class End(msgspec.Struct, kw_only=True):
    """How the program ends: by an exception of the library, or by a comparison that does not hold.

    ``text`` is the condition of an assertion, whose ``parts`` are compared; it is empty if the last statement raises
    ``error``. ``must_raise`` names an exception that the last statement should raise, and does not.
    """

    error: str = ""
    text: str = ""
    parts: list[str] = msgspec.field(default_factory=list)
    message: str = ""
    must_raise: str = ""
    uses: list[str] = msgspec.field(default_factory=list)


class Program(msgspec.Struct, kw_only=True):
    """A plain program in parts that can be left out one by one."""

    title: str
    imports: list[str] = msgspec.field(default_factory=list)
    definitions: list[str] = msgspec.field(default_factory=list)
    statements: list[PlainStatement] = msgspec.field(default_factory=list)
    end: End = msgspec.field(default_factory=End)

    def tidied(self) -> Program:
        """Return the program with short names, and with what is used once where it is used."""
        return _renamed(_inlined(self))

    def source(self, *, probes: bool = False) -> str:
        """Return the text of the program; one that ``probes`` leaves in ``__seen__`` what the assertion compares."""
        lines: list[str] = []
        for statement in self.statements:
            used = any(statement.variable in other.uses for other in self.statements)
            text = statement.text
            if statement.variable and (used or statement.variable in self.end.uses):
                text = f"{statement.variable} = {text}"
            is_last = statement is self.statements[-1]
            block = [text]
            if is_last and self.end.must_raise:
                block = ["try:", f"    {text}", f"except {self.end.must_raise}:", "    pass"]
            elif statement.raises and not (is_last and self.end.error):
                block = [f"with contextlib.suppress({statement.raises}):", f"    {text}"]
            for target, error in reversed(statement.faults):
                block = [f"with mock.patch({target!r}, side_effect={error}):", *(f"    {line}" for line in block)]
            lines += block
        if probes and self.end.parts:
            lines.append(f"__seen__ = [{', '.join(self.end.parts)}]")
        message = f", {self.end.message!r}" if self.end.message else ""
        if self.end.must_raise:
            missing = self.end.message or f"{self.end.must_raise} was not raised"
            lines += ["else:", f"    raise AssertionError({missing!r})"]
        elif self.end.text:
            lines.append(f"assert {self.end.text}{message}")
        text = "\n".join([*lines, *self.definitions])
        imports, renamed = _imports(self, text)
        if "contextlib.suppress(" in text:
            imports.add("import contextlib")
        if "itertools.islice(" in text:
            imports.add("import itertools")
        if "mock.patch(" in text:
            imports.add("from unittest import mock")
        body = "\n".join(renamed(line) for line in lines)
        definitions = [f"\n{renamed(each)}\n" if "\n" in each else renamed(each) for each in self.definitions]
        title = textwrap.fill(self.title.replace("\\", "\\\\").replace('"""', "'''"), 100)
        ordered = sorted(imports, key=lambda line: (line.startswith("from"), line))
        return "\n".join([f'"""{title}"""', "", *ordered, "", *definitions, body, ""])

    def without(self, numbers: Iterable[int]) -> Program:
        """Return the program without some statements."""
        left_out = set(numbers)
        kept = [each for number, each in enumerate(self.statements) if number not in left_out]
        return msgspec.structs.replace(self, statements=kept)


_STRING = re.compile(r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")""")


def _outside_strings(text: str, change: Callable[[str], str]) -> str:
    """Return ``text`` with what stands outside its string literals changed."""
    parts = _STRING.split(text)
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def _put(text: str, variable: str, value: str) -> tuple[str, int]:
    """Return ``text`` with ``value`` in place of a variable, and how often the variable was there."""
    count = 0

    def change(part: str) -> str:
        nonlocal count
        # As a whole word, which is neither an attribute nor the name of an argument.
        made, number = re.subn(rf"(?<![\w.]){re.escape(variable)}(?!\w)(?!=[^=])", lambda _: value, part)
        count += number
        return made

    return _outside_strings(text, change), count


def _inlined(program: Program) -> Program:
    """Put each result that only the next statement uses where it is used."""
    statements, end = list(program.statements), program.end
    number = len(statements) - 1
    while number >= 0:
        each = statements[number]
        following = statements[number + 1] if number + 1 < len(statements) else None
        text = end.text if following is None else following.text
        users = sum(each.variable in other.uses for other in statements) + (each.variable in end.uses)
        plain = each.variable and not each.raises and not each.faults and users == 1
        is_last_call = following is None and not end.text
        put, count = _put(text, each.variable, each.text) if each.variable else ("", 0)
        # Longer calls stand in a separate line.
        if plain and not is_last_call and count == 1 and len(put) < 80:
            used = end.uses if following is None else following.uses
            uses = sorted({*each.uses, *used} - {each.variable})
            if following is None:
                parts = [_put(part, each.variable, each.text)[0] for part in end.parts]
                end = msgspec.structs.replace(end, text=put, uses=uses, parts=parts)
            else:
                statements[number + 1] = msgspec.structs.replace(following, text=put, uses=uses)
            del statements[number]
        number -= 1
    return msgspec.structs.replace(program, statements=statements, end=end)


def _renamed(program: Program) -> Program:
    """Number variables again, and leave the number out where a name is unique."""
    used = {name for each in program.statements for name in each.uses} | set(program.end.uses)
    bases: dict[str, list[str]] = {}
    for each in program.statements:
        if each.variable in used:
            bases.setdefault(re.sub(r"_\d+$", "", each.variable), []).append(each.variable)
    fixed = " ".join([*program.definitions, *(name.partition(".")[0] for name in program.imports)])
    names: dict[str, str] = {}
    for base, variables in bases.items():
        free = base not in TAKEN and not re.search(rf"\b{re.escape(base)}\b", fixed)
        for number, variable in enumerate(variables, start=1):
            names[variable] = base if free and number == 1 else f"{base}_{number}"

    def text_of(text: str) -> str:
        # In one go: the new name of one may be the old name of another.
        pattern = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w)(?!=[^=])")
        return _outside_strings(text, lambda part: pattern.sub(lambda found: names.get(found[0], found[0]), part))

    return msgspec.structs.replace(
        program,
        statements=[
            msgspec.structs.replace(
                each,
                text=text_of(each.text),
                variable=names.get(each.variable, ""),
                uses=[names.get(name, name) for name in each.uses],
            )
            for each in program.statements
        ],
        end=msgspec.structs.replace(
            program.end,
            text=text_of(program.end.text),
            parts=[text_of(part) for part in program.end.parts],
            uses=[names.get(name, name) for name in program.end.uses],
        ),
    )


def _imports(program: Program, text: str) -> tuple[set[str], Any]:
    """Return the imports, and what shortens ``module.Name`` to ``Name`` where no other thing has that name."""
    short: dict[str, str] = {}
    homes: dict[str, str] = {}
    defined = set(re.findall(r"^(?:class|def) (\w+)|^(\w+) =", text, re.MULTILINE))
    taken = {name for pair in defined for name in pair if name}
    bare = _STRING.sub("''", text)
    for module in sorted(program.imports, key=len, reverse=True):
        for name in set(re.findall(rf"(?<![\w.]){re.escape(module)}\.([A-Za-z_]\w*)", bare)):
            if f"{module}.{name}" in program.imports:
                continue
            if name not in taken and homes.setdefault(name, module) == module:
                short[f"{module}.{name}"] = name
    by_module: dict[str, list[str]] = {}
    for path, name in short.items():
        by_module.setdefault(path.rpartition(".")[0], []).append(name)
    imports = {f"from {module} import {', '.join(sorted(names))}" for module, names in by_module.items()}

    def renamed(line: str) -> str:
        for path, name in short.items():
            pattern = re.compile(rf"(?<![\w.]){re.escape(path)}(?!\w)")
            line = _outside_strings(line, lambda part, pattern=pattern, name=name: pattern.sub(name, part))  # type: ignore[misc]
        return line

    rest = "\n".join(_outside_strings(renamed(line), lambda part: part) for line in text.split("\n"))
    rest = _STRING.sub("''", rest)
    for module in program.imports:
        if re.search(rf"(?<![\w.]){re.escape(module)}(?!\w)", rest):
            imports.add(f"import {module}")
    return imports, renamed
