"""networkx: a planar embedding that is edited, and two heaps."""

import networkx as nx
from hypothesis import strategies as st
from hypothesis.stateful import invariant
from networkx.utils.heaps import BinaryHeap, PairingHeap
from networkx.utils.mapped_queue import MappedQueue

from ordeal.model import Pair, TwoImplementations, op

REQUIREMENTS, MODULES = "networkx==3.7", ["networkx.algorithms.planarity", "networkx.utils"]
nodes, places, digits = st.integers(0, 4), st.integers(0, 4), st.integers(0, 9)


class Embedding(Pair):
    """Neighbours in their order around each node, beside a list for each."""

    impl, model = nx.PlanarEmbedding, dict

    @op(one=nodes, other=nodes, here=places, there=places, clockwise=st.booleans(), weight=4)
    def connect(self, one, other, here, there, clockwise):
        if one == other or other in self.model.get(one, []):
            return
        self.half(one, other, here, clockwise)
        self.half(other, one, there, clockwise)

    def half(self, one, other, place, clockwise):
        around = self.model.setdefault(one, [])
        if not around:
            self.impl.add_half_edge(one, other)
            around.append(other)
            return
        place %= len(around)
        if clockwise:
            self.impl.add_half_edge(one, other, cw=around[place])
            around.insert(place, other)
        else:
            self.impl.add_half_edge(one, other, ccw=around[place])
            around.insert(place + 1, other)

    @op(one=nodes, place=places)
    def disconnect(self, one, place):
        around = self.model.get(one)
        if around:
            other = around.pop(place % len(around))
            self.model[other].remove(one)
            self.impl.remove_edge(one, other)

    @op(one=nodes)
    def remove(self, one):
        if one in self.model:
            for other in self.model.pop(one):
                self.model[other].remove(one)
            self.impl.remove_node(one)

    @op()
    def copy(self):
        self.impl = self.impl.copy()

    def view(self):
        return {one: turned(list(around)) for one, around in self.impl.get_data().items()}, {
            one: turned(around) for one, around in self.model.items()
        }


def turned(around):
    """The cycle from its smallest member."""
    first = around.index(min(around)) if around else 0
    return around[first:] + around[:first]


class Heaps(TwoImplementations):
    """The two heaps that networkx has; ties are left out, as which of equals comes first is not promised."""

    impl, other = PairingHeap, BinaryHeap

    @op(key=digits, value=st.integers(0, 30), up=st.booleans(), weight=3)
    def insert(self, key, value, up):
        return self.impl.insert(key, value * 10 + key, up)

    @op()
    def pop(self):
        return self.impl.pop()

    @op()
    def least(self):
        return self.impl.min()

    @op(key=digits)
    def get(self, key):
        return self.impl.get(key)

    def view(self, impl):
        return len(impl), {key: impl.get(key) for key in range(10) if key in impl}


class Queue(Pair):
    """A heap from which anything can be removed, beside a set."""

    impl, model = MappedQueue, set

    @op(item=digits, weight=3)
    def push(self, item):
        assert self.impl.push(item) == (item not in self.model)
        self.model.add(item)

    @op()
    def pop(self):
        if self.model:
            least = min(self.model)
            self.model.remove(least)
            assert self.impl.pop() == least

    @op(item=digits)
    def remove(self, item):
        if item in self.model:
            self.model.remove(item)
            self.impl.remove(item)

    @op(item=digits, new=digits)
    def update(self, item, new):
        if item in self.model and new not in self.model:
            self.model.remove(item)
            self.model.add(new)
            self.impl.update(item, new)

    @invariant()
    def is_a_heap(self):
        heap = self.impl.heap
        assert all(heap[(place - 1) // 2] <= item for place, item in enumerate(heap[1:], 1))
        assert all(heap[place] == item for item, place in self.impl.position.items())

    def view(self):
        return sorted(self.impl.heap), sorted(self.model)


CLEAN = [Embedding, Heaps, Queue]
