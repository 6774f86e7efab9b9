"""The store on a simulated disk, while the power goes out between any two operations."""

from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from store import Store

from ordeal.chaos import ChaosTest
from ordeal.simulate import FileSystem

keys = st.sampled_from(["apples", "pears"])


class StoreChaos(ChaosTest):
    """Values are put and removed, and the computer restarts; what was promised is there all the same."""

    def __init__(self) -> None:
        super().__init__()
        self.files = FileSystem()
        self.promised: dict[str, int] = {}
        self.open_store()
        self.files.sync()

    def open_store(self) -> None:
        with self.files.patch():
            self.store = Store(Path("/store"))

    @rule(key=keys, value=st.integers(0, 99))
    def put(self, key: str, value: int) -> None:
        with self.files.patch():
            self.store.put(key, value)
        self.promised[key] = value

    @rule(key=keys)
    def remove(self, key: str) -> None:
        with self.files.patch():
            self.store.remove(key)
        self.promised.pop(key, None)

    @rule()
    def cut_power(self) -> None:
        self.files.crash(torn=True)
        self.open_store()

    @invariant()
    def keeps_its_promises(self) -> None:
        assert self.store.values() == self.promised


TestStore = StoreChaos.TestCase
