"""intervaltree 2.0.0: a node stays in the tree although a rotation has taken the last interval that it had.

Changelog of 2.0.1: "Fix: Issue #26: failed to prune empty ``Node`` after a rotation promoted contents of ``s_center``".
What was left of the matter is the other target of this library, so 3.0.0 is taken as the repaired release.
"""

from intervaltree import IntervalTree

from bugs.intervals import Machine

__all__ = ["Machine", "reproduce"]


def reproduce() -> None:
    tree = IntervalTree()
    for begin, end in ((2, 3), (0, 2), (1, 2)):
        tree.addi(begin, end)
    tree.removei(0, 2)
    tree.removei(1, 2)
