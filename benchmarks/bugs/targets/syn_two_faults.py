"""A commit is acknowledged and lost, if two of six faults are active while six commits are refused in a row."""

from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within
from bugs.synthetic import store
from bugs.synthetic.store import Store

KEYS = 4

FAULTS = [
    (name, partial(store.FAULTS.__setitem__, name, True), partial(store.FAULTS.__setitem__, name, False))
    for name in store.FAULTS
]


class Machine(RuleBasedStateMachine):
    """One writer beside a dictionary of what was acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store()
        self.staged: dict[int, int] = {}
        self.model: dict[int, int] = {}

    @rule(key=st.integers(0, KEYS - 1), value=st.integers(0, 99))
    def put(self, key: int, value: int) -> None:
        key = within(key, KEYS)
        if self.store.put(key, value):
            self.staged[key] = value

    @rule()
    def commit(self) -> None:
        if self.store.commit():
            self.model.update(self.staged)
            self.staged = {}

    @rule()
    def fail_over(self) -> None:
        self.store.fail_over()
        self.staged = {}

    @rule(key=st.integers(0, KEYS - 1))
    def get(self, key: int) -> None:
        key = within(key, KEYS)
        assert self.store.get(key) == self.model.get(key), "a write that was acknowledged is lost"


def reproduce() -> None:
    machine = Machine()
    store.FAULTS.update(replica_down=True, journal_full=True)
    try:
        machine.put(key=0, value=1)
        for _ in range(store.PATIENCE):
            machine.commit()
        machine.fail_over()
        machine.get(key=0)
    finally:
        store.FAULTS.update(replica_down=False, journal_full=False)
