"""The shapes of the public shrinking challenge as rule machines: what is hard is to make the arguments small."""

import itertools
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ordeal.chaos import ChaosTest

from .known import Known, known


def wrapped(number: int) -> int:
    """The number as sixteen bits keep it."""
    return (number + 2**15) % 2**16 - 2**15


class Bound5(ChaosTest):
    """Adds up small sums in sixteen bits. Sums below 256 should not add up to five times as much so soon."""

    def __init__(self) -> None:
        super().__init__()
        self.sums: list[int] = []

    @rule(numbers=st.lists(st.integers(-(2**15), 2**15 - 1), max_size=5))
    def add(self, numbers: list[int]) -> None:
        part = wrapped(sum(numbers))
        if part < 256 and len(self.sums) < 5:
            self.sums.append(part)

    @rule()
    def start_over(self) -> None:
        self.sums.clear()

    @invariant()
    def stays_small(self) -> None:
        assert wrapped(sum(self.sums)) < 5 * 256


# Five sums below 256 reach 1280 by an overflow only: two numbers that add up to less than -2**15. One of them is then
# the least there is, the other -1.
BOUND5 = known(
    Bound5,
    ("state.add(numbers=[-1])", "state.add(numbers=[-32768])"),
    ("state.add(numbers=[-32768])", "state.add(numbers=[-1])"),
)


class Reverse(ChaosTest):
    """Claims that a list reads the same from both ends."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[int] = []

    @rule(item=st.integers())
    def append(self, item: int) -> None:
        self.items.append(item)

    @rule(count=st.integers(0, 100))
    def drop(self, count: int) -> None:
        del self.items[count:]

    @rule()
    def turn(self) -> None:
        assert self.items == self.items[::-1]


# Two different numbers, and the two simplest are 0 and 1.
REVERSE = known(
    Reverse,
    ("state.append(item=0)", "state.append(item=1)", "state.turn()"),
    ("state.append(item=1)", "state.append(item=0)", "state.turn()"),
)


class LargeUnionList(ChaosTest):
    """Collects lists of numbers, of which at most four may differ."""

    def __init__(self) -> None:
        super().__init__()
        self.lists: list[list[int]] = []

    @rule(numbers=st.lists(st.integers()))
    def collect(self, numbers: list[int]) -> None:
        self.lists.append(numbers)

    @rule()
    def forget(self) -> None:
        self.lists.clear()

    @invariant()
    def differs_little(self) -> None:
        assert len(set().union(*self.lists)) <= 4


# One list may hold all five, and the five numbers nearest to zero are these.
LARGE_UNION_LIST = known(
    LargeUnionList,
    *((f"state.collect(numbers={list(numbers)})",) for numbers in itertools.permutations([0, 1, -1, 2, -2])),
)


class LengthList(ChaosTest):
    """Takes lists whose length is drawn before their numbers, all of which are to be below 900."""

    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    @rule(
        numbers=st.integers(1, 100).flatmap(
            lambda length: st.lists(st.integers(0, 1000), min_size=length, max_size=length)
        )
    )
    def take(self, numbers: list[int]) -> None:
        self.largest = max(self.largest, *numbers)

    @rule()
    def look(self) -> None:
        assert self.largest < 900


# One list with one number, the least that is too large.
LENGTH_LIST = known(LengthList, ("state.take(numbers=[900])", "state.look()"))


class DifferenceNotZero(ChaosTest):
    """Loads a balance, both sides of which must never be equal once the left one is heavy."""

    def __init__(self) -> None:
        super().__init__()
        self.left = self.right = 0

    @rule(weight=st.integers(0, 500))
    def load_left(self, weight: int) -> None:
        self.left = weight

    @rule(weight=st.integers(0, 500))
    def load_right(self, weight: int) -> None:
        self.right = weight

    @invariant()
    def leans(self) -> None:
        assert self.left < 10 or self.left != self.right


# Both weights must be ten, so neither can become smaller alone.
DIFFERENCE_NOT_ZERO = known(
    DifferenceNotZero,
    ("state.load_left(weight=10)", "state.load_right(weight=10)"),
    ("state.load_right(weight=10)", "state.load_left(weight=10)"),
)


class DifferenceNotSmall(ChaosTest):
    """Compares two numbers, whose difference must be zero or large once the first one is large."""

    def __init__(self) -> None:
        super().__init__()
        self.heaviest = 0

    @rule(left=st.integers(0, 10_000), right=st.integers(0, 10_000))
    def weigh(self, left: int, right: int) -> None:
        assert left < 10 or not 1 <= abs(left - right) <= 4
        self.heaviest = max(self.heaviest, left, right)

    @rule()
    def clear(self) -> None:
        self.heaviest = 0


# The first number is at least ten, and the least number that is near to ten is six.
DIFFERENCE_NOT_SMALL = known(DifferenceNotSmall, ("state.weigh(left=10, right=6)",))


class Coupling(ChaosTest):
    """Points nodes at each other, but no two at each other both ways."""

    def __init__(self) -> None:
        super().__init__()
        self.target: dict[int, int] = {}

    @rule(node=st.integers(0, 99), to=st.integers(0, 99))
    def point(self, node: int, to: int) -> None:
        self.target[node] = to

    @rule(node=st.integers(0, 99))
    def detach(self, node: int) -> None:
        self.target.pop(node, None)

    @invariant()
    def is_one_way(self) -> None:
        assert all(node == to or self.target.get(to) != node for node, to in self.target.items())


# Two different nodes, the simplest of which are 0 and 1; each number stands in both steps.
COUPLING = known(
    Coupling,
    ("state.point(node=0, to=1)", "state.point(node=1, to=0)"),
    ("state.point(node=1, to=0)", "state.point(node=0, to=1)"),
)


class Deletion(ChaosTest):
    """Removes a number from a list once, and expects it to be gone."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[int] = []

    @rule(item=st.integers(0, 255))
    def append(self, item: int) -> None:
        self.items.append(item)

    @rule(item=st.integers(0, 255))
    def remove(self, item: int) -> None:
        if item in self.items:
            self.items.remove(item)
            assert item not in self.items


# The same number three times over.
DELETION = known(Deletion, ("state.append(item=0)", "state.append(item=0)", "state.remove(item=0)"))


class Distinct(ChaosTest):
    """Keeps numbers, of which at most two may differ."""

    def __init__(self) -> None:
        super().__init__()
        self.items: set[int] = set()

    @rule(item=st.integers())
    def keep(self, item: int) -> None:
        self.items.add(item)

    @rule(item=st.integers())
    def discard(self, item: int) -> None:
        self.items.discard(item)

    @invariant()
    def differs_little(self) -> None:
        assert len(self.items) < 3


# Three different numbers, and the three nearest to zero are these.
DISTINCT = known(
    Distinct,
    *(tuple(f"state.keep(item={item})" for item in items) for items in itertools.permutations([0, 1, -1])),
)


class NestedLists(ChaosTest):
    """Takes lists of lists with ten numbers altogether at most."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    @rule(lists=st.lists(st.lists(st.integers())))
    def take(self, lists: list[list[int]]) -> None:
        self.taken += 1
        assert sum(map(len, lists)) <= 10

    @rule()
    def rest(self) -> None:
        self.taken = 0


# Eleven zeros; one list around them is shorter than two.
NESTED_LISTS = known(NestedLists, (f"state.take(lists=[{[0] * 11}])",))


EXPRESSIONS: st.SearchStrategy[Any] = st.deferred(
    lambda: st.one_of(
        st.integers(),
        st.tuples(st.just("+"), EXPRESSIONS, EXPRESSIONS),
        st.tuples(st.just("/"), EXPRESSIONS, EXPRESSIONS),
    )
)


def divides_by_zero_plainly(expression: Any) -> bool:
    """Whether a quotient in the expression has the number zero as its divisor."""
    if isinstance(expression, int):
        return False
    operator, left, right = expression
    return (operator == "/" and right == 0) or divides_by_zero_plainly(left) or divides_by_zero_plainly(right)


def value_of(expression: Any) -> int:
    """What the expression comes to, rounded down."""
    if isinstance(expression, int):
        return expression
    operator, left, right = expression
    return value_of(left) + value_of(right) if operator == "+" else value_of(left) // value_of(right)


class Calculator(ChaosTest):
    """Works out expressions, and thinks that only a plain zero is one."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[int] = []

    @rule(expression=EXPRESSIONS.filter(lambda expression: not divides_by_zero_plainly(expression)))
    def evaluate(self, expression: Any) -> None:
        self.results.append(value_of(expression))

    @rule()
    def clear(self) -> None:
        self.results.clear()


# The divisor is not a plain zero, so it is an expression, and a sum is the simpler one.
CALCULATOR = known(Calculator, ("state.evaluate(expression=('/', 0, ('+', 0, 0)))",))


class Heap:
    """A binary heap that looks at the left child only when a number sinks."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def push(self, item: int) -> None:
        """Add a number at the end and let it rise."""
        self.items.append(item)
        at = len(self.items) - 1
        while at and self.items[at] < self.items[(at - 1) // 2]:
            above = (at - 1) // 2
            self.items[at], self.items[above] = self.items[above], self.items[at]
            at = above

    def pop(self) -> int:
        """Take the first number; the last one takes its place and sinks."""
        first, last = self.items[0], self.items.pop()
        if self.items:
            self.items[0] = last
            at = 0
            while (below := 2 * at + 1) < len(self.items) and self.items[below] < self.items[at]:
                self.items[at], self.items[below] = self.items[below], self.items[at]
                at = below
        return first


class BinaryHeap(ChaosTest):
    """Pushes and pops, and expects the least number each time."""

    def __init__(self) -> None:
        super().__init__()
        self.heap = Heap()
        self.expected: list[int] = []

    @rule(item=st.integers(0, 10**6))
    def push(self, item: int) -> None:
        self.heap.push(item)
        self.expected.append(item)

    @rule()
    def pop(self) -> None:
        if self.expected:
            least = min(self.expected)
            self.expected.remove(least)
            assert self.heap.pop() == least


# A right child matters when three numbers are left after a pop, and shows at the next one. It must be less than the
# left child, and the number that sinks no less than that: of four numbers in the array, r <= right < left <= last.
BINARY_HEAP = known(
    BinaryHeap,
    *(
        (*(f"state.push(item={item})" for item in items), "state.pop()", "state.pop()")
        for items in ([0, 1, 0, 1], [1, 0, 0, 1])
    ),
)

CHALLENGE: list[Known] = [
    BOUND5,
    REVERSE,
    LARGE_UNION_LIST,
    LENGTH_LIST,
    DIFFERENCE_NOT_ZERO,
    DIFFERENCE_NOT_SMALL,
    COUPLING,
    DELETION,
    DISTINCT,
    NESTED_LISTS,
    CALCULATOR,
    BINARY_HEAP,
]
