"""Nested states of one model, and a machine with two models that are sent the same event."""

from hypothesis import strategies as st
from transitions import Machine as Flat
from transitions.extensions import HierarchicalMachine

from ordeal import ChaosTest, rule


class Model:
    """Notes what it leaves; ``may`` decides whether an event succeeds."""

    state: str

    def __init__(self) -> None:
        self.left: list[str] = []
        self.may = True

    def on_exit_running_fast(self) -> None:
        self.left.append("running_fast")

    def on_exit_running_slow(self) -> None:
        self.left.append("running_slow")

    def is_allowed(self) -> bool:
        return self.may


class Machine(ChaosTest):
    """Sends events."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        states = ["idle", {"name": "running", "initial": "slow", "children": ["slow", "fast"]}]
        moves = [
            ["start", "idle", "running"],
            ["stop", "running", "idle"],
            ["hurry", "running_slow", "running_fast"],
            ["again", "running", "running_slow"],
        ]
        self.nested = HierarchicalMachine(
            self.model, states, transitions=moves, initial="idle", ignore_invalid_triggers=True
        )
        self.pair = [Model(), Model()]
        both = [
            {"trigger": "go", "source": "a", "dest": "b", "conditions": "is_allowed"},
            {"trigger": "back", "source": "b", "dest": "a"},
        ]
        self.flat = Flat(
            self.pair, ["a", "b"], transitions=both, initial="a", ignore_invalid_triggers=True, auto_transitions=False
        )

    @rule(event=st.sampled_from(["start", "stop", "hurry", "again"]))
    def send(self, event: str) -> None:
        self.answer = getattr(self.model, event)(), self.model.state, list(self.model.left)

    @rule(number=st.integers(0, 1), may=st.booleans())
    def allow(self, number: int, may: bool) -> None:
        self.pair[number].may = may

    @rule(event=st.sampled_from(["go", "back"]))
    def dispatch(self, event: str) -> None:
        self.answer = self.flat.dispatch(event), [model.state for model in self.pair]
