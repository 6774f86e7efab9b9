"""Machines of released libraries that have several bugs each, and which of them a failure shows.

The versions are those in which the bugs were found: pyrsistent 0.20.0, tomlkit 0.15.2, ruamel.yaml 0.19.1.
"""

import copy
import io
import tomllib
from typing import Any, ClassVar

import pyrsistent
import tomlkit
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from ruamel.yaml import YAML

from ordeal.result import Failure


class Several(RuleBasedStateMachine):
    """What the machines share: the modules to watch, and the bugs."""

    modules: ClassVar[tuple[str, ...]]
    bugs: ClassVar[frozenset[str]]

    @staticmethod
    def bug(failure: Failure) -> str:
        """The bug that a failure shows."""
        raise NotImplementedError


class Deque(Several):
    """A persistent deque of at most three, beside a list."""

    modules = ("pyrsistent._pdeque",)
    bugs = frozenset({"slices", "rotate", "maxlen"})

    def __init__(self) -> None:
        super().__init__()
        self.deque: Any = pyrsistent.pdeque([], maxlen=3)
        self.plain: list[int] = []

    @rule(item=st.integers(0, 3))
    def add(self, item: int) -> None:
        self.deque = self.deque.append(item)
        self.plain = [*self.plain, item][-3:]

    @rule()
    def turn(self) -> None:
        self.deque = self.deque.reverse()
        self.plain.reverse()

    @rule(steps=st.integers(-4, 4))
    def rotate(self, steps: int) -> None:
        self.deque = self.deque.rotate(steps)
        by = steps % len(self.plain) if self.plain else 0
        self.plain = self.plain[-by:] + self.plain[:-by] if by else self.plain

    @rule(start=st.integers(0, 3), stop=st.integers(0, 3))
    def part(self, start: int, stop: int) -> None:
        assert list(self.deque[start:stop]) == self.plain[start:stop]

    @invariant()
    def is_alike(self) -> None:
        assert list(self.deque) == self.plain

    @staticmethod
    def bug(failure: Failure) -> str:
        """A failing slice, a rotation, or one item too many."""
        if failure.rule_log[-1] == "part":
            return "slices"
        return "rotate" if failure.rule_log[-1] == "rotate" else "maxlen"


class Document(Several):
    """A TOML document with tables out of order, beside a dict."""

    modules = ("tomlkit.items", "tomlkit.container")
    bugs = frozenset({"clear", "lost table"})
    TEXTS = ("[t.u]\nx = 1\n[v]\n[t.w]\ny = 2\n", "z = 0\n[v]\nx = 1\n")

    def __init__(self) -> None:
        super().__init__()
        self.read(self.TEXTS[0])

    @rule(text=st.sampled_from(TEXTS))
    def read(self, text: str) -> None:
        self.document: Any = tomlkit.parse(text)
        self.plain: dict[str, Any] = tomllib.loads(text)

    @rule(name=st.sampled_from("tv"))
    def clear(self, name: str) -> None:
        if name in self.plain:
            self.document[name].clear()
            self.plain[name].clear()

    @rule(name=st.sampled_from("tv"), key=st.sampled_from("uwx"))
    def drop(self, name: str, key: str) -> None:
        if key in self.plain.get(name, {}):
            del self.document[name][key]
            del self.plain[name][key]

    @invariant()
    def is_written(self) -> None:
        assert tomllib.loads(self.document.as_string()) == self.plain

    @staticmethod
    def bug(failure: Failure) -> str:
        """An IndexError, or a table that is not written."""
        return "clear" if isinstance(failure.error, IndexError) else "lost table"


class Comments(Several):
    """A YAML document that is edited and dumped with its comments, beside plain data."""

    modules = ("ruamel.yaml.comments", "ruamel.yaml.emitter")
    bugs = frozenset({"fold", "copy", "comment"})
    TEXTS = ("list:\n  # note\n  - 1\n", "text: >\n  one\n  two\n")

    def __init__(self) -> None:
        super().__init__()
        self.yaml = YAML()
        self.read(self.TEXTS[0])

    @rule(text=st.sampled_from(TEXTS))
    def read(self, text: str) -> None:
        self.data: Any = self.yaml.load(text)
        self.plain = YAML(typ="safe", pure=True).load(text)

    @rule()
    def copied(self) -> None:
        self.data = copy.deepcopy(self.data)

    @rule()
    def in_one_line(self) -> None:
        self.data.fa.set_flow_style()

    @rule(key=st.sampled_from(["list", "text"]))
    def comment(self, key: str) -> None:
        if key in self.data:
            self.data.yaml_add_eol_comment("why", key)

    @invariant()
    def is_dumped(self) -> None:
        out = io.StringIO()
        self.yaml.dump(self.data, out)
        assert YAML(typ="safe", pure=True).load(out.getvalue()) == self.plain

    @staticmethod
    def bug(failure: Failure) -> str:
        """A TypeError, other data, or a text that does not parse."""
        if isinstance(failure.error, TypeError):
            return "comment"
        return "fold" if isinstance(failure.error, AssertionError) else "copy"


MACHINES: tuple[type[Several], ...] = (Deque, Document, Comments)
