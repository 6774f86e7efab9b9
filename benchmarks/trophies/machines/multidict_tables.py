"""multidict: its dictionaries in Python and in C."""

from hypothesis import strategies as st
from multidict import _multidict, _multidict_py

from ordeal.model import TwoImplementations, op

REQUIREMENTS, MODULES = "multidict==7.2.1", ["multidict._multidict_py"]
keys, digits = st.sampled_from(["a", "A", "b", "B", "c"]), st.integers(0, 3)
pairs = st.lists(st.tuples(keys, digits), max_size=4)


class Exact(TwoImplementations):
    impl, other = _multidict_py.MultiDict, _multidict.MultiDict

    @op(key=keys, value=digits, weight=3)
    def add(self, key, value):
        self.impl.add(key, value)

    @op(key=keys, value=digits)
    def put(self, key, value):
        self.impl[key] = value

    @op(key=keys)
    def delete(self, key):
        del self.impl[key]

    @op(given=pairs)
    def extend(self, given):
        self.impl.extend(given)

    @op(given=pairs)
    def update(self, given):
        self.impl.update(given)

    @op(given=pairs)
    def merge(self, given):
        self.impl.merge(given)

    @op()
    def double(self):
        if len(self.impl) < 20:
            self.impl.extend(self.impl)

    @op()
    def update_itself(self):
        self.impl.update(self.impl)

    @op(key=keys, value=digits)
    def setdefault(self, key, value):
        return self.impl.setdefault(key, value)

    @op(key=keys)
    def popone(self, key):
        return self.impl.popone(key)

    @op(key=keys)
    def popall(self, key):
        return self.impl.popall(key)

    @op()
    def popitem(self):
        return self.impl.popitem()

    @op(given=pairs)
    def views(self, given):
        items, names = self.impl.items(), self.impl.keys()
        wanted = {key for key, _ in given}
        return [
            sorted(found)
            for found in (items & given, items | given, items - given, items ^ given, names & wanted, names | wanted)
        ] + [sorted(names - wanted), sorted(names ^ wanted), items.isdisjoint(given), names.isdisjoint(wanted)]

    @op()
    def copy(self):
        self.impl = self.impl.copy()

    def view(self, impl):
        return list(impl.items()), len(impl), {key: impl.getall(key) for key in impl}


class WithoutCase(Exact):
    impl, other = _multidict_py.CIMultiDict, _multidict.CIMultiDict


CLEAN = [Exact, WithoutCase]
