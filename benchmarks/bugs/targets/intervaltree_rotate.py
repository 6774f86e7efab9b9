"""intervaltree 2.1.0: the removal of an interval may leave the tree out of balance.

Changelog of 3.0.0: "``Node.pop_greatest_child()`` sometimes forgot to ``rotate()`` when creating new child nodes".
"""

from intervaltree import IntervalTree

from bugs.intervals import Machine

__all__ = ["Machine", "reproduce"]


def reproduce() -> None:
    tree = IntervalTree()
    for begin, end, copies in ((860, 917, 4), (871, 917, 3), (961, 986, 1), (1047, 1064, 2)):
        for copy in range(copies):
            tree.addi(begin, end, copy)
    tree.removei(961, 986, 0)
    tree.removei(871, 917, 2)
