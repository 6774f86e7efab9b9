"""Rewritten modules do what they did before."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import Any

import pytest

from ordeal._engine.plain.recorder import Recorder
from ordeal._engine.plain.rewriting import RECORDER, rewritten

PROGRAMS = """
x = [1, 2, 3]; y = x[0] + x[-1]; z = x[1:]; x[0], (y, *rest) = 5, [6, 7, 8]
---
a = b = {'k': 1}; a['k'] += 2; b['l'] = -a['k']; del a['k']; c = 'l' in b; d = not c
---
class A:
    __slots__ = ('__p', 'q')
    def __init__(self):
        self.__p = self.q = 1
    def get(self):
        self.__p += 1
        self.q -= 1
        return self.__p, self.q
x = A().get()
---
x = 0
for i, (j, k) in enumerate([(1, 2), (3, 4)]):
    x += i * j ** k
    if x > 3: break
else:
    x = -1
---
x = [i + j for i in range(3) if i for j in 'ab'.replace('a', '')] if False else {k: v for k, v in [(1, 2)]}
---
try:
    [].pop()
except IndexError as error:
    x = str(error)
else:
    x = 0
finally:
    y = 1
---
x = 1 < 2 < 3; y = 1 < 2 > 3; z = (1 and 0) or [] or 'last'; w = None is None
---
from contextlib import suppress
with suppress(KeyError):
    x = 1
    {}['a']
---
f = lambda *a, b=2, **k: (a, b, k)
x = f(1, *[2, 3], c=4, **{'d': 5})
---
match {'a': [1, 2]}:
    case {'a': [one, *more]} if one == 1:
        x = one, more
    case _:
        x = None
---
def g():
    got = yield 1
    yield got
it = g(); x = next(it), it.send(7)
it.close(); del it
---
class B:
    def __init__(self): super().__init__(); self.v = 1
    @property
    def p(self): return self.v
x = B().p
y = f'{x!r:>3}'
assert x == 1, 'no'
---
x = 5
while x and not x < 2:
    x -= 1
y: int = x
z = ~x, +x, -(x)
---
import math
x = math.floor(math.pi)
globals_ = sorted(globals().keys() & {'math'})
---
type X = list[int]
x = [*range(2), *map(str, [3])]
y = {**{'a': 1}}
x[0:1] = [9]
"""


def run(code: Any) -> dict[str, Any]:
    recorder = Recorder(lambda _: False)
    names: dict[str, Any] = {"__name__": "program", RECORDER: recorder}
    exec(code, names)
    kept = {}
    for name, value in names.items():
        if not name.startswith("__") and isinstance(value, int | str | list | dict | tuple | bool | type(None)):
            kept[name] = value
    return kept


@pytest.mark.parametrize("source", PROGRAMS.split("---\n"))
def test_a_program_ends_with_the_same_values(source: str) -> None:
    plain = compile(ast.parse(source), "<plain>", "exec")
    assert run(compile(rewritten(source, "<rewritten>"), "<rewritten>", "exec")) == run(plain)


def test_assertions_fail_with_their_message() -> None:
    with pytest.raises(AssertionError, match=r"^no$"):
        run(compile(rewritten("assert [] or 1 == 2, 'no'", "<rewritten>"), "<rewritten>", "exec"))


def test_coroutines_stay_what_they_are() -> None:
    source = dedent("""
        import asyncio
        async def f(x):
            await asyncio.sleep(0)
            return [each async for each in g(x)]
        async def g(x):
            async with asyncio.Lock():
                yield x
        x = asyncio.run(f(3))
    """)
    assert run(compile(rewritten(source, "<rewritten>"), "<rewritten>", "exec"))["x"] == [3]
