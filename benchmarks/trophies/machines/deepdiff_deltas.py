"""deepdiff: documents that become others by a delta."""

from deepdiff import DeepDiff, Delta
from hypothesis import strategies as st

from ordeal.model import Undo, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "deepdiff==9.1.0 orderly-set==5.5.0 cachebox==5.2.3", ["deepdiff"]
leaves = st.one_of(st.integers(0, 3), st.none(), st.text("a'", max_size=2), st.sets(st.integers(0, 3)))
keys = st.text("a'", max_size=2)
values = st.recursive(
    leaves,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(keys, parts, max_size=3) | st.tuples(parts, parts),
    max_leaves=5,
)


class Changing(Undo):
    """A document that becomes another one by a delta; to subtract it restores the first."""

    def impl():
        return {"document": {}}

    def view(self, impl):
        return impl["document"]

    def undo(self, done):
        self.impl["document"] = self.impl["document"] - done

    @op(new=st.dictionaries(keys, values, max_size=3))
    def change(self, new):
        delta = Delta(DeepDiff(self.impl["document"], new), bidirectional=True, raise_errors=True)
        self.impl["document"] = self.impl["document"] + delta
        assert self.impl["document"] == new, "changed to another document"
        return delta


def changes_nothing():
    before, after = ({1},), ({2},)
    delta = Delta(DeepDiff(before, after))
    assert before + delta == ({1},)  # expected ({2},)


TROPHIES = [
    Trophy(
        "deepdiff_set_in_tuple",
        "a delta that changes a set within a tuple changes nothing, or raises DeltaError if errors are asked for",
        "A delta that is added to the first document makes the second, as it does for lists and numbers in tuples.",
        Changing,
        "'tuple' object does not support item assignment",
        changes_nothing,
    ),
]
