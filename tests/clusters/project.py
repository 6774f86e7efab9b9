"""The project that fleets explore here: a cart with a planted bug, which every member meets within seconds."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

FILES = {
    "cart.py": """
        class Cart:
            def __init__(self):
                self.items, self.total = {}, 0

            def add(self, name, price):
                self.total += price - self.items.get(name, 0)
                self.items[name] = price

            def drop(self, name):
                price = self.items.pop(name, 0)
                if len(self.items) < 2:  # the bug: with more items, the total stays
                    self.total -= price
    """,
    "test_cart.py": """
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

        from cart import Cart


        class CartMachine(RuleBasedStateMachine):
            def __init__(self):
                super().__init__()
                self.cart = Cart()

            @rule(name=st.sampled_from("abcd"), price=st.integers(1, 5))
            def add(self, name, price):
                self.cart.add(name, price)

            @rule(name=st.sampled_from("abcd"))
            def drop(self, name):
                self.cart.drop(name)

            @invariant()
            def total_is_that_of_the_items(self):
                assert self.cart.total == sum(self.cart.items.values())
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["cart"]

        [[tests]]
        class = "test_cart:CartMachine"
    """,
}


def write(folder: Path) -> Path:
    """Write the project and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(dedent(text), encoding="utf-8")
    return folder
