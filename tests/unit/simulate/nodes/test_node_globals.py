"""Nodes have modules for themselves: what one writes there no other sees, and a new life begins anew."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate
from ordeal.simulate import SimulationError

_STATE = """
import contextvars, enum, logging, threading
leader = None
seen = []
alias = seen
lock = threading.Lock()
rlock = threading.RLock()
log = logging.getLogger("own")
variable = contextvars.ContextVar("variable")

class Registry:
    known = {}
    instance = None

    def __init__(self):
        self.names = []

registry = Registry()

class Colour(enum.Enum):
    RED = 1

def note(name):
    global leader
    leader = name
    seen.append(name)
    Registry.known[name] = True
    Registry.instance = name
    registry.names.append(name)

def told():
    return leader, list(alias), dict(Registry.known), Registry.instance, list(registry.names)
"""
_FRESH: Any = (None, [], {}, None, [])


def _after(name: str) -> Any:
    return name, [name], {name: True}, name, [name]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "own_state.py").write_text(_STATE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__("own_state")
    sys.modules.pop("own_state")


async def _leads(state: Any, name: str, told: dict[str, Any], *, begins: dict[str, Any]) -> None:
    begins.setdefault(name, []).append(state.told())
    state.note(name)
    try:
        while True:
            await asyncio.sleep(1)
            told[name] = state.told()
    finally:
        state.note("buried")


def test_no_node_sees_what_another_wrote(state: Any) -> None:
    told = dict[str, Any]()
    begins = dict[str, Any]()

    async def main(world: simulate.World) -> None:
        for name in ("a", "b"):
            world.node(name, lambda name=name: _leads(state, name, told, begins=begins), own=["own_state"])
        world.node("c", lambda: _leads(state, "c", told, begins=begins))
        await asyncio.sleep(3.5)
        assert state.told() == _after("c")
        world["a"].restart()
        await asyncio.sleep(3.5)

    for _ in range(2):
        state.leader = state.Registry.instance = None
        for holder in (state.seen, state.Registry.known, state.registry.names, told, begins):
            holder.clear()
        simulate.run(main)
        assert told == {name: _after(name) for name in ("a", "b", "c")}
        assert begins == {"a": [_FRESH, _FRESH], "b": [_FRESH], "c": [_FRESH]}
        # A node that shares the module writes to it, and what is left of the others does not.
        assert state.told() == _after("c")


def test_an_error_of_a_node_leaves_the_globals_of_the_test(state: Any) -> None:
    async def fails() -> None:
        state.note("a")
        raise ValueError("wrong")

    async def main(world: simulate.World) -> None:
        world.node("a", fails, own=["own_state"])
        await asyncio.sleep(1)

    with pytest.raises(ValueError, match="wrong"):
        simulate.run(main)
    assert state.told() == _FRESH


def test_a_node_may_restart_another(state: Any) -> None:
    async def kills(world: simulate.World) -> None:
        state.note("killer")
        world["a"].restart()
        assert state.told() == _after("killer")

    async def main(world: simulate.World) -> None:
        world.node("a", lambda: asyncio.sleep(100), own=["own_state"])
        world.node("b", kills, world, own=["own_state"])
        await asyncio.sleep(1)

    simulate.run(main)
    assert state.told() == _FRESH


def test_servers_are_called_on_their_node(state: Any) -> None:
    class Noting(asyncio.Protocol):
        def __init__(self) -> None:
            state.note("made")

        def data_received(self, data: bytes) -> None:
            assert "made" in state.seen
            state.note("received")

    async def serve() -> None:
        await asyncio.get_running_loop().create_server(Noting, port=80)

    async def main(world: simulate.World) -> None:
        world.node("a", serve, own=["own_state"])
        _, writer = await asyncio.open_connection("a", 80)
        writer.write(b"x")
        await asyncio.sleep(1)
        writer.close()

    simulate.run(main)
    assert state.told() == _FRESH


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("own_state", "own is 'own_state'"),
        (["no_such_module"], "no node can have a copy of no_such_module"),
        (["json"], "json is no module of the program"),
        (["ordeal.chaos"], "ordeal.chaos is no module of the program"),
        ([3], "3 is no name of a module"),
    ],
)
def test_what_cannot_be_had_is_refused(own: Any, said: str) -> None:
    async def main(world: simulate.World) -> None:
        world.node("a", lambda: asyncio.sleep(1), own=own)

    with pytest.raises(SimulationError, match=said) as caught:
        simulate.run(main)
    assert "hint: " in str(caught.value)


def test_what_cannot_be_copied_is_named(state: Any) -> None:
    state.numbers = (number for number in range(3))

    async def main(world: simulate.World) -> None:
        world.node("a", lambda: asyncio.sleep(1), own=["own_state"])

    with pytest.raises(SimulationError, match="the global numbers cannot be copied for the node a"):
        simulate.run(main)


def test_a_lock_that_is_held_is_named(state: Any) -> None:
    async def main(world: simulate.World) -> None:
        world.node("a", lambda: asyncio.sleep(1), own=["own_state"])

    with (
        state.lock,
        pytest.raises(SimulationError, match="the global lock cannot be copied for the node a: a lock that is held"),
    ):
        simulate.run(main)
    simulate.run(main)


def test_context_variables_are_kept_and_weak_references_lead_to_copies(state: Any) -> None:
    state.registry.variable = variable = contextvars.ContextVar[str]("inner")
    state.newest = weakref.ref(state.registry)
    seen = []

    async def node() -> None:
        seen.append((state.registry, state.newest(), state.registry.variable))

    async def main(world: simulate.World) -> None:
        world.node("a", node, own=["own_state"])
        await asyncio.sleep(1)

    simulate.run(main)
    ((registry, newest, inner),) = seen
    assert registry is newest is not state.registry
    assert inner is variable


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    text = "count = 0\nnames = {}\n\ndef note(name):\n    global count\n    count += 1\n    names[name] = count\n"
    (tmp_path / "shared_program.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__("shared_program")
    sys.modules.pop("shared_program")


async def _work(program: Any, name: str) -> None:
    program.note(name)


@pytest.mark.parametrize("is_own", [False, True])
def test_who_wrote_a_global_is_told(program: Any, is_own: bool) -> None:
    async def main(world: simulate.World) -> None:
        for name in ("b", "a"):
            world.node(name, _work, program, name, own=["shared_program"] if is_own else [])
        await asyncio.sleep(1)
        raise ValueError

    failure = simulate.explore(main, runs=3, check=False).failure
    assert failure is not None
    told = [line for line in str(failure).splitlines() if line.startswith("Shared: ")]
    expected = [
        f'Shared: a, b wrote shared_program.{name}; real machines each have their own: own=["shared_program"]'
        for name in ("count", "names")
    ]
    assert told == ([] if is_own else expected)


class _Hostile:
    """Fails whatever it is asked, as a proxy does that stands for nothing yet."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("working outside of a request")

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("working outside of a request")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_nothing_is_asked_of_what_globals_hold(program: Any) -> None:
    program.proxy = _Hostile()
    test_who_wrote_a_global_is_told(program, is_own=False)


def test_what_one_node_wrote_is_no_matter(program: Any) -> None:
    async def main(world: simulate.World) -> None:
        world.node("a", _work, program, "a")
        await asyncio.sleep(1)
        program.note("the test")
        raise ValueError

    failure = simulate.explore(main, runs=3, check=False).failure
    assert failure is not None
    assert failure.shared == {}
