"""kdtree: points that come and go, compared with a list."""

import kdtree
from hypothesis import strategies as st
from hypothesis.stateful import invariant

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "kdtree==0.17", ["kdtree"]
points = st.tuples(st.integers(0, 5), st.integers(0, 5))


class Points(Pair):
    model = list

    def impl():
        return kdtree.create(dimensions=2)

    @op(point=points, weight=3)
    def add(self, point):
        if point not in self.model:
            self.impl.add(point)
            self.model.append(point)

    @op(which=st.integers(0, 9), weight=2)
    def remove(self, which):
        if self.model:
            point = self.model.pop(which % len(self.model))
            self.impl = self.impl.remove(point)

    @op(point=points)
    def nearest(self, point):
        if self.model:
            assert self.impl.search_nn(point)[1] == min(distance(point, one) for one in self.model), "nearest"

    @op(point=points, limit=st.integers(1, 9))
    def within(self, point, limit):
        found = sorted(self.impl.search_nn_dist(point, limit)) if self.model else []
        assert found == sorted(one for one in self.model if distance(point, one) < limit), "within"

    @op()
    def rebalance(self):
        if self.model:
            self.impl = self.impl.rebalance()

    @invariant()
    def valid(self):
        assert self.impl.is_valid(), "valid"

    def view(self):
        return sorted(node.data for node in self.impl.inorder() if node.data is not None), sorted(self.model)


def distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


CLEAN = [Points]
