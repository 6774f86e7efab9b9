"""Copies of objects whose class says that they are made anew: they keep their structure, where they can."""

import copy
from typing import Any, cast

from ordeal._native import deep_copy


class Balanced:
    """Holds items in another order when it is made anew, as a tree that is balanced then."""

    def __init__(self, items: Any = ()) -> None:
        self.items = sorted(items)

    def __reduce__(self) -> Any:
        return Balanced, (tuple(self.items),)


def test_what_would_be_made_anew_keeps_its_structure() -> None:
    tree = Balanced()
    tree.items += [3, 1, 2]
    assert copy.deepcopy(tree).items == [1, 2, 3]
    copied, again = cast(Any, deep_copy([tree, tree], {}))
    assert copied is again
    assert copied is not tree
    assert copied.items == [3, 1, 2]


def test_what_leaves_out_what_cannot_be_copied_is_made_anew() -> None:
    shared = [1]
    tree, other = Balanced([2]), Balanced()
    vars(tree)["lines"] = iter("ab" for _ in range(2))
    other.items += [tree, shared]
    copied, of_shared = cast(Any, deep_copy([other, shared], {}))
    assert not hasattr(copied.items[0], "lines")
    assert copied.items[0].items == [2]
    assert copied.items[1] is of_shared
    assert of_shared is not shared
