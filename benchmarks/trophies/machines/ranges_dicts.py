"""python-ranges: sets and dictionaries of ranges of numbers, compared with the numbers themselves."""

from hypothesis import strategies as st
from ranges import Range, RangeDict, RangeSet

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "python-ranges==1.2.4", ["ranges"]
ends, values = st.integers(0, 9), st.sampled_from("abc")


class Set(Pair):
    impl, model = RangeSet, set

    @op(start=ends, end=ends)
    def add(self, start, end):
        if start < end:
            self.impl.add(Range(start, end))
            self.model |= set(range(start, end))

    @op(start=ends, end=ends)
    def discard(self, start, end):
        if start < end:
            self.impl.discard(Range(start, end))
            self.model -= set(range(start, end))

    @op(start=ends, end=ends)
    def toggle(self, start, end):
        if start < end:
            self.impl.symmetric_difference_update(Range(start, end))
            self.model ^= set(range(start, end))

    @op(start=ends, end=ends)
    def keep(self, start, end):
        if start < end:
            self.impl.intersection_update(Range(start, end))
            self.model &= set(range(start, end))

    @op(start=ends, end=ends)
    def holds(self, start, end):
        if start < end:
            assert (Range(start, end) in self.impl) == (set(range(start, end)) <= self.model), "holds"

    def view(self):
        return [number for number in range(9) if number in self.impl], sorted(self.model)


class Dictionary(Pair):
    impl, model = RangeDict, dict

    @op(start=ends, end=ends, value=values, weight=3)
    def add(self, start, end, value):
        if start < end:
            self.impl[Range(start, end)] = value
            self.model |= dict.fromkeys(range(start, end), value)

    @op(start=ends, end=ends, value=values)
    def default(self, start, end, value):
        if start < end:
            self.impl.adddefault(Range(start, end), value)
            self.model = dict.fromkeys(range(start, end), value) | self.model

    @op(start=ends, end=ends)
    def remove(self, start, end):
        if start < end:
            self.impl.remove(Range(start, end))
            self.model = {key: value for key, value in self.model.items() if not start <= key < end}

    @op(key=st.integers(0, 8))
    def pop(self, key):
        if key in self.model:
            value = self.model[key]
            assert self.impl.pop(key) == value
            self.model = {key: other for key, other in self.model.items() if other != value}

    @op(value=values)
    def pop_value(self, value):
        if value in self.model.values():
            self.impl.popvalue(value)
            self.model = {key: other for key, other in self.model.items() if other != value}

    @op(value=values, new=values)
    def set_value(self, value, new):
        if value in self.model.values():
            self.impl.setvalue(value, new)
            self.model = {key: new if other == value else other for key, other in self.model.items()}

    @op(start=ends, end=ends)
    def overlap(self, start, end):
        if start < end:
            found = {self.model[key] for key in range(start, end) if key in self.model}
            assert sorted(self.impl.getoverlap(Range(start, end))) == sorted(found), "overlap"

    def view(self):
        ours, theirs = self.impl, self.model
        return ({key: ours[key] for key in range(9) if key in ours}, sorted(ours.values()), len(ours)), (
            dict(sorted(theirs.items())),
            sorted(set(theirs.values())),
            len(set(theirs.values())),
        )


CLEAN = [Set, Dictionary]
