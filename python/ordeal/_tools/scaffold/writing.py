"""Writes the machine of a class that was tried: a file that a person keeps and goes on from."""

from __future__ import annotations

import keyword
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ordeal._base.formatting import one_line
from ordeal._base.limits import ITEMS_MAX, WIDTH
from ordeal._tools.scaffold.trying import NO_ROOM, ClassTry, TriedMethod, TriedParameter
from ordeal._tools.scaffold.values import CONSTANTS, PLACES, SYMBOLS, free, is_bundle

_NAMES = {
    "__getitem__": "look_up",
    "__setitem__": "store",
    "__delitem__": "delete",
    "__contains__": "ask_for",
    "__call__": "call",
    "__add__": "plus",
    "__sub__": "minus",
    "__or__": "unite",
    "__and__": "intersect",
    "__xor__": "differ",
    "__eq__": "equal",
    "__lt__": "less_than",
    "__le__": "at_most",
    "__mul__": "times",
}


def snake(name: str) -> str:
    """Return the name of a class as one of a variable: ``LRUCache`` as ``lru_cache``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().strip("_")


def machine_name(tried: ClassTry) -> str:
    """Return the name of the machine for a class."""
    name = tried.name.rpartition(".")[2].strip("_")
    return f"{name[:1].upper()}{name[1:]}Chaos"


def written(tried: ClassTry, file: str) -> str:
    """Return the text of the test file for a class; ``file`` is where it will be."""
    return _Writer(tried, file).text()


class _Writer:
    """The text of one file, and the imports that it turns out to need."""

    def __init__(self, tried: ClassTry, file: str) -> None:
        self._tried = tried
        self._file = file
        self._class: str = tried.name
        self._attribute = free(snake(self._class.rpartition(".")[2]))
        self._is_immutable = not any(
            method.passed and not method.gives_own and method.form != "property" and not method.name.startswith("__")
            for method in tried.methods
        )
        self._uses: set[str] = set()
        self._rule_names = {"create", "look"}
        self._imports: dict[str, set[str]] = {}
        self._bundles: list[str] = []

    def text(self) -> str:
        """Return the file."""
        kept = [each for each in self._tried.methods if not each.left_out]
        kept = sorted(kept, key=lambda each: (each.form == "property", each.name.startswith("__")))[:ITEMS_MAX]
        names = {each.name for each in kept}
        left_out = [each for each in self._tried.methods if each.name not in names]
        left_out = [msgspec.structs.replace(each, left_out=each.left_out or NO_ROOM) for each in left_out]
        given = {each.gives for each in kept}
        taken = [parameter.strategy for each in kept for parameter in each.parameters]
        self._bundles = sorted(given.intersection(taken) - {""})
        self._rule_names |= set(self._bundles)
        ungiven = [
            each
            for each in kept
            if any(is_bundle(one.strategy) and one.strategy not in given for one in each.parameters)
        ]
        kept = [each for each in kept if each not in ungiven]
        left_out += [msgspec.structs.replace(each, left_out="takes what no other call returns") for each in ungiven]
        read = [each.name for each in kept if each.form == "property" and not each.answers]
        rules = [self._rule(each) for each in kept if not (each.ends or each.name in read)]
        if read:
            asked = [f"_ = self.{self._attribute}.{name}" for name in read]
            rules.append(self._function("rule", "look", [], ['"""Read what can be read."""', *asked]))
        endings = [each.name for each in kept if each.ends]
        bundles = ["\n".join(f'{name} = Bundle("{name}")' for name in self._bundles)] if self._bundles else []
        body = [*bundles, self._create(), *rules, *self._teardown(endings), *self._invariants()]
        body = [textwrap.indent(part, "    ") for part in body]
        machine = (
            f'class {machine_name(self._tried)}(ChaosTest):\n    """{self._class} under any sequence of calls."""\n\n'
        )
        parts = [self._docstring(), "", self._import_lines(body), *self._definitions(), "", "", machine.rstrip()]
        text = "\n".join(parts) + "\n\n" + "\n\n".join(body) + "\n"
        name = machine_name(self._tried)
        return f"{text}{self._left_out(left_out)}\n\nTest{name.removesuffix('Chaos')} = {name}.TestCase\n"

    # parts

    def _docstring(self) -> str:
        return (
            f'"""Sequences of calls on {self._tried.module}.{self._class}.\n\n'
            "`ordeal init` wrote this file; it is yours to change.\n\n"
            "    ordeal explore    searches, guided by the coverage of the modules that ordeal.toml names\n"
            f"    python -m pytest {self._file}    runs a short search, and every failure that was found before\n"
            '"""'
        )

    def _import_lines(self, body: Sequence[str]) -> str:
        text = "\n".join([*body, *self._definitions()])
        needed = {"collections.abc": ["Callable"] if "Callable[" in text else []}
        needed["contextlib"] = ["suppress"] if "suppress(" in text else []
        needed["datetime"] = [name for name in ("datetime", "timedelta") if re.search(rf"\b{name}\b(?!s)", text)]
        needed["itertools"] = ["islice"] if "islice(" in text else []
        needed["typing"] = ["Any"] if "dict[str, Any]" in text else []
        needed["tempfile"] = ["TemporaryDirectory"] if "TemporaryDirectory(" in text else []
        for module, found in needed.items():
            if found:
                self._imports.setdefault(module, set()).update(found)
        standard = self._lines_of(lambda module: module.partition(".")[0] in sys.stdlib_module_names)
        names = ["ChaosTest"]
        names += [name for name in ("Bundle", "initialize", "invariant", "multiple", "rule") if f"{name}(" in text]
        other = ["reject"] if "reject()" in text else []
        other += ["strategies as st"] if re.search(r"\bst\.", text) else []
        other = [f"from hypothesis import {', '.join(other)}"] if other else []
        other.append(f"from ordeal import {', '.join(sorted(names, key=lambda name: (name.islower(), name)))}")
        self._imports.setdefault(self._tried.module, set()).add(self._class)
        own = self._lines_of(lambda module: module.partition(".")[0] not in sys.stdlib_module_names)
        return "\n".join([*standard, *[""] * bool(standard), *other, "", *own])

    def _lines_of(self, is_wanted: Callable[[str], bool]) -> list[str]:
        wanted = {module: names for module, names in self._imports.items() if is_wanted(module)}
        whole = [f"import {module}" for module, names in sorted(wanted.items()) if "" in names]
        named = [(module, sorted(names - {""})) for module, names in sorted(wanted.items())]
        return [*whole, *(f"from {module} import {', '.join(names)}" for module, names in named if names)]

    def _constants(self) -> list[str]:
        used = set(self._uses)
        for name in reversed(list(CONSTANTS)):
            if name in used:
                used |= set(re.findall(r"\b[A-Z]{3,}\b", CONSTANTS[name]))
        return [name for name in CONSTANTS if name in used]

    def _definitions(self) -> list[str]:
        parts = []
        constants = self._constants()
        if constants:
            parts += ["", "# Few values, so that calls meet again what earlier ones left. Widen them to look further."]
            parts += [f"{name} = {CONSTANTS[name]}" for name in constants if name not in ("CALLBACKS", "FUNCTIONS")]
        if called := [name for name in constants if name in ("CALLBACKS", "FUNCTIONS")]:
            parts += ["", "", "def callback(*_args: object, **_kwargs: object) -> int:"]
            parts += ['    """Stand in for the functions that the calls take."""', "    return 1", "", ""]
            if "FUNCTIONS" in called:
                parts += ["class CallbackError(Exception):", '    """What such a function may raise."""', "", ""]
                parts += ["def failing_callback(*_args: object, **_kwargs: object) -> int:"]
                parts += ['    """Fail, as any function may."""', "    raise CallbackError", "", ""]
            parts += [f"{name} = {CONSTANTS[name]}" for name in called]
        if "OTHERS" in self._uses:
            parameters = self._tried.parameters
            words = [self._class]
            words += [f"{each.name + '=' if each.keyword else ''}{self._strategy(each)}" for each in parameters]
            parts += [f"OTHERS = st.builds({', '.join(words)})"]
        return parts

    def _create(self) -> str:
        parameters = self._tried.parameters
        drawn = [each for each in parameters if each.strategy not in PLACES]
        body = [f"self.{self._attribute} = {_shown_call(self._class, parameters)}"]
        if self._tried.refusals:
            refusals = ", ".join(map(self._exception, self._tried.refusals))
            refusals = f"({refusals})" if len(self._tried.refusals) > 1 else refusals
            body = ["try:", f"    {body[0]}", f"except {refusals}:", "    reject()  # these arguments make no object"]
        if self._keeps_files:
            body.insert(0, "self.folder = TemporaryDirectory()  # for what it keeps in files")
        return self._function("initialize", "create", drawn, body)

    @property
    def _keeps_files(self) -> bool:
        return any(each.strategy in PLACES for each in self._tried.parameters)

    def _rule(self, method: TriedMethod) -> str:
        parameters = method.parameters
        target = f"self.{self._attribute}"
        call = _expression(target, method)
        if method.enters:
            call = f"with {call}:\n    pass"
        elif method.iterates:
            call = f"list(islice({call}, {ITEMS_MAX}))" if method.endless else f"list({call})"
        if method.gives_own and self._is_immutable and method.form == "call":
            call = f"{target} = {call}"
        elif method.form in ("operator", "property") or method.name in ("__getitem__", "__contains__"):
            call = f"_ = {call}"
        answers = sorted(self._exception(each) for each in method.answers)
        target = method.gives if method.gives in self._bundles and method.form == "call" else ""
        call = f"return {call}" if target else call
        body = [f"with suppress({', '.join(answers)}):", textwrap.indent(call, "    ")] if answers else [call]
        body += ["return multiple()"] * bool(target and answers)
        name = free(_rule_name(method))
        while name in self._rule_names:
            name += "_"
        self._rule_names.add(name)
        return self._function("rule", name, parameters, body, target=target)

    def _teardown(self, endings: Sequence[str]) -> Iterator[str]:
        """Yield the lines of teardown, which ends the object when no other call can follow."""
        last = [f"self.{self._attribute}.{name}()" for name in endings]
        last += ["self.folder.cleanup()"] * self._keeps_files
        if last:
            lines = "".join(f"        {line}\n" for line in last)
            yield (
                "def teardown(self) -> None:\n"
                f'    if hasattr(self, "{self._attribute}"):\n{lines}'
                "    super().teardown()"
            )

    def _function(
        self,
        decorator: str,
        name: str,
        parameters: Sequence[TriedParameter],
        body: Sequence[str],
        *,
        target: str = "",
    ) -> str:
        needed = [each for each in parameters if not each.optional]
        drawn = [f"{_argument(each)}={self._strategy(each)}" for each in needed]
        typed = [f"{_argument(each)}: {each.type}" for each in needed]
        if optional := [f'"{each.name}": {self._strategy(each)}' for each in parameters if each.optional]:
            drawn.append(f"{_options(parameters)}=st.fixed_dictionaries({{}}, optional={{{', '.join(optional)}}})")
            typed.append(f"{_options(parameters)}: dict[str, Any]")
        drawn = [f"target={target}", *drawn] if target else drawn
        returned = "object" if target else "None"
        lines = [
            _wrapped(f"@{decorator}(", drawn, ")"),
            _wrapped(f"def {name}(", ["self", *typed], f") -> {returned}:"),
        ]
        lines += [textwrap.indent(each, "    ") for each in body]
        return "\n".join(lines)

    def _strategy(self, parameter: TriedParameter) -> str:
        text: str = parameter.strategy
        self._uses |= set(re.findall(r"\b[A-Z]{3,}\b", text))
        for path in parameter.imports:
            self._exception(path)
        return text

    def _exception(self, path: str) -> str:
        module, _, name = path.partition(":")
        if not module:
            return name
        self._imports.setdefault(module, set()).add(name.partition(".")[0])
        return name

    def _invariants(self) -> Iterator[str]:
        thing, protocol = f"self.{self._attribute}", self._tried.protocol
        if protocol.get("counts"):
            yield _invariant("length_counts_items", f"assert len({thing}) == len(list({thing}))")
        elif protocol.get("len"):
            yield _invariant("length_is_a_number", f"assert len({thing}) >= 0")
        if protocol.get("contains"):
            yield _invariant("items_are_inside", f"assert all(item in {thing} for item in list({thing}))")
        if protocol.get("repr"):
            yield _invariant("has_a_text", f"assert isinstance(repr({thing}), str)")
        yield (
            "# Yours: what must always hold? For example, what a sequence of calls must leave as it was:\n#\n"
            "# @invariant()\n# def nothing_is_lost(self) -> None:\n"
            f"#     assert ...  # compare self.{self._attribute} with what the rules noted in a plain dict or list"
        )

    def _left_out(self, methods: Sequence[TriedMethod]) -> str:
        left_out = [each for each in methods if each.left_out]
        if not left_out:
            return ""
        lines = ["", "    # Left out, as each call failed or did what a test must not do; write these by hand:"]
        lines += [f"    #   {each.name}: {one_line(each.left_out, limit=WIDTH - 20)}" for each in left_out]
        return "\n".join(lines) + "\n"


def _rule_name(method: TriedMethod) -> str:
    return f"read_{method.name}" if method.form == "property" else _NAMES.get(method.name, method.name)


def with_answers(tried: ClassTry, failures: Sequence[Mapping[str, Any]]) -> ClassTry:
    """Return the class with the errors as answers that its methods raised on purpose in an exploration."""
    methods, refusals = list(tried.methods), set(tried.refusals)
    for failure in failures:
        place, path = failure["place"] or {}, failure["bucket"].partition(" in ")[0].rpartition(".")
        wanted = place["name"].rstrip("_") if place.get("kind") == "rule" else ""
        number = next((index for index, each in enumerate(methods) if _rule_name(each).rstrip("_") == wanted), None)
        # What is not built in, a statement has raised. One in a class or function cannot be imported from there.
        is_raised = bool(re.fullmatch(r"[a-z_]\w*(\.[a-z_]\w*)*", path[0])) or str(
            (place.get("raised_at") or {}).get("code", "")
        ).startswith("raise")
        is_mistake = path[0].startswith(("ordeal", "hypothesis")) or path[2] in ("AssertionError", "RecursionError")
        if not is_raised or is_mistake:
            continue
        if place.get("kind") == "initialize":
            refusals.add(f"{path[0]}:{path[2]}")
        elif number is not None:
            answers = sorted({*methods[number].answers, f"{path[0]}:{path[2]}"})
            methods[number] = msgspec.structs.replace(methods[number], answers=answers)
    return msgspec.structs.replace(tried, methods=methods, refusals=sorted(refusals))


def _invariant(name: str, body: str) -> str:
    return f"@invariant()\ndef {name}(self) -> None:\n{textwrap.indent(body, '    ')}"


def _argument(parameter: TriedParameter) -> str:
    name = str(parameter.name).strip("_") or "value"
    # A rule takes its targets by these names.
    return f"{name}_" if keyword.iskeyword(name) or name in ("self", "target", "targets") else name


def _options(parameters: Sequence[TriedParameter]) -> str:
    """Return what the dict of the arguments is called that a call may leave out."""
    return "options" if "options" not in map(_argument, parameters) else "options_"


def _shown_call(function: str, parameters: Sequence[TriedParameter]) -> str:
    needed = [(each, PLACES.get(each.strategy) or _argument(each)) for each in parameters if not each.optional]
    words = [f"{each.name}={value}" if each.keyword else value for each, value in needed]
    if len(needed) < len(parameters):
        words.append(f"**{_options(parameters)}")
    return f"{function}({', '.join(words)})"


def _expression(target: str, method: TriedMethod) -> str:
    name, parameters = method.name, method.parameters
    words = [_argument(each) for each in parameters]
    forms = {
        "__getitem__": "{0}[{1}]",
        "__setitem__": "{0}[{1}] = {2}",
        "__delitem__": "del {0}[{1}]",
        "__contains__": "{1} in {0}",
    }
    if name in forms and len(words) >= forms[name].count("{") - 1:
        return forms[name].format(target, *words)
    if method.form == "property":
        return f"{target}.{name}"
    if name in SYMBOLS and len(words) == 1:
        return f"{target} {SYMBOLS[name]} {words[0]}"
    return _shown_call(target if name == "__call__" else f"{target}.{name}", parameters)


def _wrapped(head: str, parts: Sequence[str], tail: str) -> str:
    flat = f"{head}{', '.join(parts)}{tail}"
    if len(flat) <= WIDTH - 4:
        return flat
    return "\n".join([head, *(f"    {part}," for part in parts), tail])
