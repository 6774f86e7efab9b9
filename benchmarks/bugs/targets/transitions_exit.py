"""transitions 0.8.1: a move of a parent state to one of its children does not leave the child that it was in.

Changelog of 0.8.2: "Bugfix: Child states may not have been exited when the executed transition had been defined on a
parent".
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from transitions.extensions import HierarchicalMachine

from bugs.ranges import within

STATES = [
    "idle",
    {
        "name": "play",
        "initial": "fast",
        "children": [{"name": "fast", "initial": "up", "children": ["up", "down"]}, "slow"],
    },
    {"name": "stop", "initial": "open", "children": ["open", "shut"]},
]
MOVES = [
    ("start", "idle", "play"),
    ("turn", "play_fast_up", "play_fast_down"),
    ("turn", "play_fast_down", "play_fast_up"),
    ("brake", "play_fast", "play_slow"),
    ("hurry", "play_slow", "play_fast"),
    ("halt", "play", "stop"),
    ("shut", "stop_open", "stop_shut"),
    ("rest", "stop", "idle"),
    ("slow", "play", "play_slow"),
]
EVENTS = sorted({event for event, _, _ in MOVES})


class Player:
    """A model that keeps the states that it has entered and not left."""

    def __init__(self) -> None:
        self.inside = ["idle"]
        machine = HierarchicalMachine(
            self, states=STATES, initial="idle", ignore_invalid_triggers=True, auto_transitions=False
        )
        for move in MOVES:
            machine.add_transition(*move)
        for name in machine.get_nested_state_names():
            state = machine.get_state(name)
            state.add_callback("enter", lambda name=name: self.inside.append(name))
            state.add_callback("exit", lambda name=name: self.inside.remove(name))

    def send(self, event: str) -> None:
        """Do what the event asks for in this state, if anything."""
        self.trigger(event)  # type: ignore[attr-defined]

    def path(self) -> list[str]:
        """The state with all its parents."""
        parts = self.state.split("_")  # type: ignore[attr-defined]
        return ["_".join(parts[: number + 1]) for number in range(len(parts))]


class Machine(RuleBasedStateMachine):
    """A player gets events; it is inside of its state and the parents of that alone."""

    def __init__(self) -> None:
        super().__init__()
        self.player = Player()

    @rule(event=st.integers(0, len(EVENTS) - 1))
    def send(self, event: int) -> None:
        self.player.send(EVENTS[within(event, len(EVENTS))])

    @rule()
    def look(self) -> None:
        assert sorted(self.player.inside) == self.player.path(), "other states were entered and left"


def reproduce() -> None:
    player = Player()
    player.send("start")
    player.send("slow")
    assert sorted(player.inside) == player.path(), player.inside
