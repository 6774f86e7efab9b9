"""jsonpatch: the patch from one document to another, made and applied."""

import copy

import jsonpatch
from hypothesis import strategies as st

from ordeal.model import Incremental, op

REQUIREMENTS, MODULES = "jsonpatch==1.47 jsonpointer", ["jsonpatch"]
values = st.recursive(
    st.sampled_from([0, 1, True, None, "x", "y/~"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c/~"]), inner, max_size=3),
    max_leaves=5,
)


class Patched(Incremental):
    """A document that only patches change, beside the one that they lead to."""

    def impl():
        return {"a": [], "b": {}}

    def source():
        return {"a": [], "b": {}}

    def scratch(self, source):
        return source

    def lead(self, goal):
        patch = jsonpatch.make_patch(self.impl, goal)
        text = jsonpatch.JsonPatch.from_string(patch.to_string())
        before = copy.deepcopy(self.impl)
        self.impl = text.apply(self.impl)
        assert patch.apply(before) == self.impl
        self.source = copy.deepcopy(goal)

    @op(value=values)
    def append(self, value):
        goal = copy.deepcopy(self.source)
        goal["a"].append(value)
        self.lead(goal)

    @op(place=st.integers(0, 5), value=values)
    def insert(self, place, value):
        goal = copy.deepcopy(self.source)
        goal["a"].insert(place, value)
        self.lead(goal)

    @op(place=st.integers(0, 5))
    def remove(self, place):
        goal = copy.deepcopy(self.source)
        del goal["a"][place : place + 1]
        self.lead(goal)

    @op()
    def reverse(self):
        goal = copy.deepcopy(self.source)
        goal["a"].reverse()
        self.lead(goal)

    @op(one=st.sampled_from("ab"))
    def move(self, one):
        goal = copy.deepcopy(self.source)
        if goal["a"]:
            goal["b"][one] = goal["a"].pop(0)
        self.lead(goal)

    @op(key=st.sampled_from(["a", "b", "c/~"]), value=values)
    def put(self, key, value):
        goal = copy.deepcopy(self.source)
        goal["b"][key] = value
        self.lead(goal)


CLEAN = [Patched]
