"""The tables of characters that Hypothesis makes once for each project, in a second or two, for ``st.text()``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning
from hypothesis.strategies import SearchStrategy

from ordeal._hypothesis.private import private, unwrap

_CODEC = "utf-8"
#: Strategies that draw from others which cannot be seen before: ``st.data()``, ``@st.composite`` and ``flatmap``.
_OPEN = frozenset({"DataStrategy", "CompositeStrategy", "FlatMapStrategy"})


def make_character_tables(strategies: Iterable[SearchStrategy[Any]]) -> None:
    """Make the tables, unless the project has them, or nothing in these strategies may ask for them later.

    A text inside of ``@st.composite`` or ``st.data()`` is drawn in the middle of a step. That step would be ended as a
    hang, and so would each later one: the tables would never be finished.
    """
    if not any(map(_is_open, strategies)):
        return
    with _early():
        file = private("hypothesis.internal.charmap:charmap_file", None)
        if file is None or not any(file().parent.glob(f"codec-*{_CODEC}.json.gz")):
            st.text().validate()


def load_character_tables() -> None:
    """Make the tables, or read them, before a program cannot see the real files any more."""
    with _early():
        st.text().validate()


@contextmanager
def _early() -> Iterator[None]:
    """Let Hypothesis use its folder though no test has begun: it warns of that, as pytest is slower to start then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)
        yield


def _is_open(strategy: SearchStrategy[Any]) -> bool:
    seen = dict[int, SearchStrategy[Any]]()
    left = [strategy]
    while left:
        plain = unwrap(left.pop())
        if type(plain).__name__ in _OPEN:
            return True
        if id(plain) in seen:
            continue
        seen[id(plain)] = plain
        # The strategies among its attributes, and in its tuples, lists and tables.
        for value in list(vars(plain).values()):
            parts = list(value) if type(value) in (tuple, list) else [value]
            parts = list(value.values()) if type(value) is dict else parts
            left += [each for each in parts if isinstance(each, SearchStrategy)]
    return False
