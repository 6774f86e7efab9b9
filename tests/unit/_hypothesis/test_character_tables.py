"""A text that only a step asks for is not a hang in a project that is new, nor where files are simulated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import warnings
import _hypothesis_globals
from hypothesis import strategies as st
from hypothesis.internal import charmap
from ordeal import ChaosTest, rule
from ordeal._hypothesis.machines import define_machine

@st.composite
def word(draw):
    return draw(st.text())

class Plain(ChaosTest):
    @rule(numbers=st.lists(st.integers().map(str)), pair=st.tuples(st.floats(), st.recursive(st.none(), st.lists)))
    def put(self, numbers, pair): ...

class Words(ChaosTest):
    @rule(words=st.one_of(st.none(), st.dictionaries(st.integers(), word())))
    def put(self, words): ...

# As it is until pytest has read conftest.py: Hypothesis warns of who evaluates strategies, or uses its folder.
_hypothesis_globals.in_initialization = 1
warnings.simplefilter("ignore")
define_machine(Plain)
assert charmap.intervals_from_codec.cache_info().currsize == 0
define_machine(Words)
assert charmap.intervals_from_codec.cache_info().currsize == 1
# Where the strategies are known already, nothing is left to warn of.
warnings.simplefilter("error")
define_machine(Words)
"""

COMMANDS = """
import dataclasses
from ordeal import ChaosTest, simulate
from hypothesis.internal import charmap

@dataclasses.dataclass
class Say:
    text: str

class Talk(ChaosTest):
    world = simulate.world(ticks=10)
    commands = [Say]
    def start(self): ...
    def tick(self, now): ...
    def perform(self, command): ...

assert charmap.intervals_from_codec.cache_info().currsize == 1
"""


def run(program: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_tables_are_made_before_the_first_step_that_may_need_them(tmp_path: Path) -> None:
    run(PROGRAM, tmp_path)
    assert list(tmp_path.glob(".hypothesis/unicode_data/*/codec-*utf-8.json.gz"))
    run(COMMANDS, tmp_path)
