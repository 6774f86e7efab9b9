"""Every kind of argument comes back from a trace file with the value and the type it had, in another process."""

from __future__ import annotations

import json

import pytest

from .projects import Project, explore

MACHINES = '''
import enum
import hashlib
import struct
from dataclasses import dataclass

import hypothesis.extra.numpy as nps
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, multiple, rule


class Colour(enum.Enum):
    RED = 1
    BLUE = "blue"


@dataclass(frozen=True)
class Point:
    x: int
    y: float


class Plain:
    def __init__(self, name, size=3):
        self.name, self.size = name, size


def exact(value):
    """A text that two values share only when they have the same type and the same bits."""
    kind = type(value).__name__
    if isinstance(value, float):
        return f"{kind}:{struct.pack('>d', value).hex()}"
    if isinstance(value, (list, tuple)):
        return f"{kind}[{', '.join(map(exact, value))}]"
    if isinstance(value, (set, frozenset)):
        return f"{kind}{sorted(map(exact, value))}"
    if isinstance(value, dict):
        return f"{kind}{[(exact(key), exact(item)) for key, item in value.items()]}"
    if kind == "ndarray":
        return f"{kind}:{value.dtype}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, (Plain, Point)):
        return f"{kind}({exact(vars(value))})"
    return f"{kind}:{value!r}"


@st.composite
def ranges(draw):
    low = draw(st.integers(0, 50))
    return low, draw(st.integers(low, low + 9))


STRATEGIES = {
    "Arrays": nps.arrays(nps.scalar_dtypes(), nps.array_shapes(max_dims=2, max_side=3)),
    "Builds": st.builds(Plain, st.text(max_size=3), size=st.integers(0, 9)),
    "Characters": st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010, categories=["Cs", "Co", "Lo"])),
    "Composite": ranges(),
    "Dataclasses": st.builds(Point, st.integers(), st.floats()),
    "Dates": st.tuples(st.dates(), st.datetimes(), st.timedeltas()),
    "Decimals": st.decimals() | st.fractions(),
    "Dependent": st.integers(0, 5).flatmap(lambda size: st.lists(st.booleans(), min_size=size, max_size=size)),
    "Dictionaries": st.dictionaries(st.integers() | st.binary(max_size=3), st.none() | st.text(max_size=3), min_size=1),
    "Enums": st.sampled_from(Colour),
    "Floats": st.lists(st.floats(), min_size=3),
    "Integers": st.integers(min_value=2**200) | st.integers(max_value=-(2**70)),
    "NotANumber": st.just(float("nan")) | st.sampled_from([-float("nan"), -0.0]),
    "Records": st.fixed_dictionaries({"id": st.uuids(), "tags": st.frozensets(st.text())}, optional={"x": st.none()}),
    "Regexes": st.from_regex(r"[a-f]{2}-\\\\d+"),
    "Shared": st.tuples(st.shared(st.integers(), key="a"), st.shared(st.integers(), key="a")),
    "Trees": st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner)),
    "Tuples": st.tuples(st.integers(), st.tuples(st.text(max_size=3), st.binary(max_size=3)), st.none()),
}


def fail(*values):
    # A digest, because the message of a failure is cut.
    raise ValueError(hashlib.sha256(exact(values).encode("utf-8", "surrogatepass")).hexdigest())


def machine_of(name, strategy):
    @rule(value=strategy)
    def step(self, value):
        fail(value)

    return type(name, (RuleBasedStateMachine,), {"step": step, "__module__": __name__})


globals().update({name: machine_of(name, strategy) for name, strategy in STRATEGIES.items()})


class Drawn(RuleBasedStateMachine):
    @rule(data=st.data())
    def step(self, data):
        size = data.draw(st.integers(1, 4), label="size")
        fail(size, data.draw(st.lists(st.floats(), min_size=size, max_size=size)), data.draw(st.dates()))


class Bundled(RuleBasedStateMachine):
    whole, parts = Bundle("whole"), Bundle("parts")

    @rule(targets=(whole, parts), name=st.text(max_size=3), size=st.integers(0, 9))
    def make(self, name, size):
        return multiple(Plain(name, size), Plain(name, size + 1))

    @rule(one=whole, other=consumes(parts), several=st.lists(whole, min_size=2, max_size=3))
    def join(self, one, other, several):
        if other.size > one.size:
            fail(one, other, several)
'''

REPLAY = """
import json, sys
from ordeal.trace import Trace, replay

print(json.dumps({path: str(replay(Trace.load(path))) for path in sys.argv[1:]}))
"""


@pytest.mark.parametrize(
    "suffixes",
    [[".json.zst", ".json"], pytest.param([".json", ".json.gz", ".json.zst", ".json"], marks=pytest.mark.nightly)],
    ids=["two", "four"],
)
def test_finding_09_every_kind_of_value_comes_back_in_a_fresh_process(project: Project, suffixes: list[str]) -> None:
    project.write({"chaos.py": MACHINES})
    recorded = {}
    for name in [*project.load("chaos:STRATEGIES"), "Drawn", "Bundled"]:
        for seed, suffix in enumerate(suffixes):
            (failure,) = explore(project.load(f"chaos:{name}"), runs=20, shrink=False, seed=seed).failures
            assert failure.trace is not None
            path = f"{name}-{seed}{suffix}"
            failure.trace.save(project.root / path)
            recorded[path] = str(failure.error)
    done = project.python("-c", REPLAY, *recorded, hash_seed="7")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == recorded
    assert len(set(recorded.values())) > len(recorded) / 2, "the values hardly differ"
