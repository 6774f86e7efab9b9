"""dictdiffer: documents that are patched to others, and patches that are reverted."""

import dictdiffer
from hypothesis import strategies as st

from ordeal.model import Undo, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "dictdiffer==0.10.0", ["dictdiffer"]
leaves = st.one_of(st.integers(0, 3), st.none(), st.text("a.", max_size=2))
keys = st.text("ab", max_size=2)
values = st.recursive(leaves, lambda parts: st.lists(parts, max_size=3) | st.dictionaries(keys, parts, max_size=3))


class Patching(Undo):
    """A document that is patched to become another one; to revert the patch restores the first."""

    def impl():
        return {"document": {}}

    def view(self, impl):
        return impl["document"]

    def undo(self, done):
        self.impl["document"] = dictdiffer.revert(done, self.impl["document"])

    @op(new=st.dictionaries(keys, values, max_size=3))
    def change(self, new):
        patch = list(dictdiffer.diff(self.impl["document"], new))
        self.impl["document"] = dictdiffer.patch(patch, self.impl["document"])
        assert self.impl["document"] == new, "patched to another document"
        return patch


def reverts():
    whole, empty = {"a": [1, 2, 3]}, {"a": []}
    changes = dictdiffer.diff(whole, empty)
    assert dictdiffer.revert(changes, empty) == {"a": [1, 3, 2]}  # expected as it was


def patches():
    empty, whole = {"": []}, {"": [1]}
    changes = dictdiffer.diff(empty, whole)
    assert dictdiffer.patch(changes, empty) == {"": [], 0: 1}  # expected {"": [1]}


TROPHIES = [
    Trophy(
        "dictdiffer_revert",
        "to revert a patch that removed three or more items of a list restores them in another order",
        "A reverted patch leaves the document as it was.",
        Patching,
        "after undo of change",
        reverts,
        known="issue 178, open",
    ),
    Trophy(
        "dictdiffer_empty_key",
        "what changes in a list or dictionary whose key is the empty text is patched into the document around it",
        "A document that is patched with its difference to another one is that other one.",
        Patching,
        "patched to another document",
        patches,
    ),
]
