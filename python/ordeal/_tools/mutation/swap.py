"""Put the code or default of a mutant into live functions, undo that, and find the lines that cover a mutant."""

from __future__ import annotations

import ast
import gc
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from ordeal._base.code_objects import codes_in, shape
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.mutants import Mutant, compiled_unit, lines_of
from ordeal._tools.mutation.source import Function, Source

Place = tuple[str, int]


class NotSwappable(Exception):  # noqa: N818 - no mistake, but a property of a mutant
    """A mutant cannot be put into the live functions: they do not exist, or are of another kind."""


class LiveFunctions:
    """The functions that are alive and come from some files, by where their code begins; found before any test."""

    def __init__(self, paths: set[str]) -> None:
        self._found: dict[str, dict[Place, list[types.FunctionType]]] = {path: {} for path in paths}
        self._compared: dict[types.FunctionType, tuple[types.CodeType, types.CodeType]] = {}
        gc.unfreeze()  # a conftest may have frozen all objects, and frozen ones are not listed
        for each in gc.get_objects():
            if type(each) is types.FunctionType:
                of_file = self._found.get(real_path(each.__code__.co_filename))
                if of_file is not None:
                    of_file.setdefault(_place(each.__code__), []).append(each)

    def at(self, path: str, code: types.CodeType) -> list[types.FunctionType]:
        """Return the live functions of a file that have a code object."""
        return self._found[path].get(_place(code), [])

    def has_code(self, function: types.FunctionType, code: types.CodeType) -> bool:
        """Return True if a function's code does the same as another. Results are cached."""
        known = self._compared.get(function, (None, None))
        if known[0] is function.__code__ and known[1] is code:
            return True
        if shape(function.__code__) != shape(code):
            return False
        self._compared[function] = function.__code__, code
        return True

    def all(self) -> Iterator[types.FunctionType]:
        """Yield every live function of the files."""
        for found in self._found.values():
            for functions in found.values():
                yield from functions


@lru_cache(maxsize=4096)
def original_unit(source: Source, function: tuple[int, int]) -> types.CodeType:
    """Return the code of a function of the original; it is compiled once for all of its mutants."""
    return compiled_unit(source, source.text, function)


def _place(code: types.CodeType) -> Place:
    return code.co_qualname, code.co_firstlineno


class Swap:
    """One mutant in the live functions, from construction to ``undo``. The functions stay the same objects."""

    def __init__(self, live: LiveFunctions, source: Source, mutant: Mutant) -> None:
        assert mutant.function is not None
        self._live, self._path = live, real_path(str(source.path))
        self._original = original_unit(source, mutant.function)
        self._changes: list[tuple[types.FunctionType, str, object, object]] = []
        default = source.default_at((mutant.start, mutant.end))
        try:
            if default is None:
                self._exchange_code(self._changed_unit(source, mutant), mutant)
            else:
                self._exchange_default(source, mutant, *default)
            if not self._changes:
                raise NotSwappable("its function is not alive")
        except NotSwappable:
            self.undo()
            raise

    def _changed_unit(self, source: Source, mutant: Mutant) -> types.CodeType:
        """Return the code of the mutant, which takes as much from the surroundings of its functions as before."""
        text = mutant.applied(source.text)
        changed = compiled_unit(source, text, mutant.function)
        now = {_place(code): code.co_freevars for code in codes_in(changed)}
        lost = {
            code.co_firstlineno: names
            for code in codes_in(self._original)
            if (names := sorted({*code.co_freevars}.difference(now.get(_place(code), code.co_freevars))))
        }
        return compiled_unit(source, text, mutant.function, lost) if lost else changed

    def _exchange_code(self, changed: types.CodeType, mutant: Mutant) -> None:
        assert mutant.function is not None
        news = {_place(code): code for code in codes_in(changed)}
        reached = False
        for code in codes_in(self._original):
            new = news.get(_place(code))
            for function in self._functions(code):
                if new is None or (new.co_freevars, new.co_flags) != (code.co_freevars, code.co_flags):
                    raise NotSwappable("the mutant needs other variables of its surroundings, or is not a generator")
                reached = reached or code.co_firstlineno == mutant.function[0]
                file = function.__code__.co_filename
                self._set(function, "__code__", new if new.co_filename == file else new.replace(co_filename=file))
        if not reached:
            raise NotSwappable("its function is not alive")

    def _exchange_default(self, source: Source, mutant: Mutant, node: Function, default: ast.expr) -> None:
        first, last = source.span(default)
        text = mutant.applied(source.text)[first : last + len(mutant.replacement.encode()) - mutant.end + mutant.start]
        before, new = ast.literal_eval(default), ast.literal_eval(text.decode().strip())
        for code in codes_in(self._original):
            for function in self._functions(code) if code.co_firstlineno == lines_of(node)[0] else ():
                defaults, named = function.__defaults__ or (), function.__kwdefaults__ or {}
                if default in node.args.defaults and len(defaults) == len(node.args.defaults):
                    at = node.args.defaults.index(default)
                    found, changed = defaults[at], (*defaults[:at], new, *defaults[at + 1 :])
                    self._set(function, "__defaults__", changed)
                else:
                    names = [each.arg for each in node.args.kwonlyargs]
                    name = names[node.args.kw_defaults.index(default)] if default in node.args.kw_defaults else ""
                    found = named.get(name)
                    self._set(function, "__kwdefaults__", {**named, name: new})
                if (type(found), found) != (type(before), before):
                    raise NotSwappable("the live function has other defaults than its file")

    def _functions(self, code: types.CodeType) -> list[types.FunctionType]:
        """Return the live functions of a piece of the original's code."""
        found = self._live.at(self._path, code) if code.co_name != "<module>" else []
        if not all(self._live.has_code(function, code) for function in found):
            raise NotSwappable("the live function has other code than its file")
        return found

    def _set(self, function: types.FunctionType, name: str, value: object) -> None:
        self._changes.append((function, name, getattr(function, name), value))
        setattr(function, name, value)

    def codes(self) -> Iterator[types.CodeType]:
        """Yield the code that the functions have now."""
        for function, *_ in self._changes:
            yield function.__code__

    def undo(self) -> None:
        """Restore the functions."""
        for function, name, before, _ in reversed(self._changes):
            setattr(function, name, before)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Restore the original functions during a block."""
        self.undo()
        try:
            yield
        finally:
            for function, name, _, value in self._changes:
                setattr(function, name, value)


class OwnLines:
    """Knows the lines that have code, of each function that was asked for."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._found: dict[tuple[str, tuple[int, int] | None], set[int]] = {}

    def of(self, mutant: Mutant) -> set[int]:
        """Return the lines of a mutant's statement that have code; where none has, all of its function."""
        key = mutant.place
        source, function = self._sources[mutant.shown], mutant.function
        if key not in self._found:
            unit = compiled_unit(source, source.text, None) if function is None else original_unit(source, function)
            self._found[key] = {
                line
                for code in codes_in(unit)
                # A function that is compiled alone is in an empty module.
                if function is None or code.co_name != "<module>"
                for *_, line in code.co_lines()
                if line
            }
        first, last = mutant.lines
        if function is not None and source.default_at((mutant.start, mutant.end)) is not None:
            # It matters wherever the function runs; its own line runs when the function is made.
            return {line for line in self._found[key] if line > last} or self._found[key]
        return {line for line in self._found[key] if first <= line <= last} or self._found[key]
