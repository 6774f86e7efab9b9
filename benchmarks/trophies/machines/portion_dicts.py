"""portion: a dictionary of intervals, compared with one of numbers."""

import portion
from hypothesis import strategies as st

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "portion==2.6.3 sortedcontainers==2.4.0", ["portion.dict", "portion.interval"]
ends, values = st.integers(0, 9), st.sampled_from("abc")


class Intervals(Pair):
    impl, model = portion.IntervalDict, dict

    @op(low=ends, high=ends, value=values, weight=3)
    def put(self, low, high, value):
        if low < high:
            self.impl[portion.closedopen(low, high)] = value
            self.model |= dict.fromkeys(range(low, high), value)

    @op(low=ends, high=ends)
    def delete(self, low, high):
        gone = {key for key in range(low, high) if key in self.model}
        if low < high and gone:
            self.impl.pop(portion.closedopen(low, high), None)
            self.model = {key: value for key, value in self.model.items() if key not in gone}

    @op(low=ends, high=ends, value=values)
    def setdefault(self, low, high, value):
        if low < high:
            self.impl.setdefault(portion.closedopen(low, high), value)
            self.model = dict.fromkeys(range(low, high), value) | self.model

    @op(low=ends, high=ends, value=values)
    def combine(self, low, high, value):
        if low < high:
            other = portion.IntervalDict({portion.closedopen(low, high): value})
            self.impl = self.impl.combine(other, how=max)
            for key in range(low, high):
                self.model[key] = max(self.model.get(key, value), value)

    @op(value=values)
    def find(self, value):
        found = self.impl.find(value)
        assert [key for key in range(9) if key in found] == sorted(k for k, v in self.model.items() if v == value), (
            "find"
        )

    @op()
    def popitem(self):
        if self.model:
            where, value = self.impl.popitem()
            gone = {key for key in range(9) if key in where}
            assert {self.model[key] for key in gone} == {value}
            self.model = {key: one for key, one in self.model.items() if key not in gone}

    @op(low=ends, high=ends)
    def cut(self, low, high):
        if low < high:
            self.impl = self.impl[portion.closedopen(low, high)]
            self.model = {key: value for key, value in self.model.items() if low <= key < high}

    def view(self):
        ours, theirs = self.impl, self.model
        return ({key: ours[key] for key in range(9) if key in ours}, len(ours)), (
            dict(sorted(theirs.items())),
            len(set(theirs.values())),
        )


CLEAN = [Intervals]
