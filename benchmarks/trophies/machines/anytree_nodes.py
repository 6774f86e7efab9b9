"""anytree: nodes that move below others, compared with lists of children."""

from anytree import AnyNode, PostOrderIter, PreOrderIter
from hypothesis import strategies as st
from hypothesis.stateful import invariant

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "anytree==2.13.0", ["anytree.node"]
which = st.integers(0, 7)


class Moved(Pair):
    def impl():
        return [AnyNode(id=0)]

    def model():
        return {0: []}

    def below(self, node):
        return [node, *(low for child in self.model[node] for low in self.below(child))]

    def above(self, node):
        return next((one for one, children in self.model.items() if node in children), None)

    @op(place=which, weight=2)
    def new(self, place):
        parent = place % len(self.impl)
        self.impl.append(AnyNode(id=len(self.impl), parent=self.impl[parent]))
        self.model[parent].append(len(self.model))
        self.model[len(self.model)] = []

    @op(place=which, other=which)
    def move(self, place, other):
        node, goal = place % len(self.impl), other % len(self.impl)
        if goal not in self.below(node):
            self.impl[node].parent = self.impl[goal]
            if self.above(node) != goal:
                self.leave(node)
                self.model[goal].append(node)

    @op(place=which)
    def detach(self, place):
        node = place % len(self.impl)
        self.impl[node].parent = None
        self.leave(node)

    @op(place=which, others=st.lists(which, max_size=3, unique=True))
    def children(self, place, others):
        node, chosen = place % len(self.impl), [other for other in others if other < len(self.impl)]
        if not any(node in self.below(each) for each in chosen):
            self.impl[node].children = [self.impl[each] for each in chosen]
            self.model[node] = []
            for each in chosen:
                self.leave(each)
            self.model[node] = chosen

    def leave(self, node):
        if self.above(node) is not None:
            self.model[self.above(node)].remove(node)

    @invariant()
    def orders(self):
        for node in self.impl:
            assert [each.id for each in PreOrderIter(node)] == self.below(node.id), "order"
            assert {each.id for each in PostOrderIter(node)} == set(self.below(node.id)), "post order"
            assert node.height == self.height(node.id), "height"

    def height(self, node):
        return max((1 + self.height(child) for child in self.model[node]), default=0)

    def view(self):
        return [[child.id for child in node.children] for node in self.impl], list(self.model.values())


CLEAN = [Moved]
