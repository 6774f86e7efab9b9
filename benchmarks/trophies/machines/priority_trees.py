"""priority: the order of HTTP/2 streams that are blocked and free, compared with a list of parents."""

import priority
from hypothesis import strategies as st

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "priority==2.0.0", ["priority"]
streams, weights = st.integers(1, 6), st.sampled_from([1, 16, 256])


class Model:
    def __init__(self):
        self.parent, self.blocked = {}, set()

    def under(self, stream):
        """Whether there is no free stream between it and the root."""
        above = self.parent[stream]
        return not above or (above in self.blocked and self.under(above))

    def below(self, stream):
        return {one for one in self.parent if self.has(one, stream)}

    def has(self, one, stream):
        return one == stream or (one and self.has(self.parent[one], stream))


class Streams(Pair):
    impl, model = priority.PriorityTree, Model
    rule_timeout = 1.0

    @op(stream=streams, above=st.integers(0, 6), share=weights, exclusive=st.booleans())
    def insert(self, stream, above, share, exclusive):
        parent = self.model.parent
        if stream in parent or (above and above not in parent):
            return
        self.impl.insert_stream(stream, above or None, share, exclusive)
        if exclusive:
            parent |= {one: stream for one, other in parent.items() if other == above}
        parent[stream] = above

    @op(stream=streams, above=st.integers(0, 6), share=weights, exclusive=st.booleans())
    def again(self, stream, above, share, exclusive):
        parent = self.model.parent
        if stream not in parent or stream == above or (above and above not in parent):
            return
        self.impl.reprioritize(stream, above or None, share, exclusive)
        if above in self.model.below(stream):
            parent[above] = parent[stream]
        parent[stream] = above
        if exclusive:
            parent |= {one: stream for one, other in parent.items() if other == above and one != stream}

    @op(stream=streams)
    def remove(self, stream):
        parent = self.model.parent
        if stream in parent:
            self.impl.remove_stream(stream)
            above = parent.pop(stream)
            parent |= {one: above for one, other in parent.items() if other == stream}
            self.model.blocked.discard(stream)

    @op(stream=streams)
    def block(self, stream):
        if stream in self.model.parent:
            self.impl.block(stream)
            self.model.blocked.add(stream)

    @op(stream=streams)
    def unblock(self, stream):
        if stream in self.model.parent:
            self.impl.unblock(stream)
            self.model.blocked.discard(stream)

    @op()
    def next(self):
        model = self.model
        ready = {one for one in model.parent if one not in model.blocked and model.under(one)}
        if ready:
            assert next(self.impl) in ready, "a stream that is blocked, or below one that is not"
        else:
            try:
                next(self.impl)
            except priority.DeadlockError:
                return
            raise AssertionError("a stream although none is ready")


def moves():
    tree = priority.PriorityTree()
    tree.insert_stream(3)
    tree.insert_stream(1, depends_on=3)
    tree.insert_stream(2, depends_on=1)
    tree.reprioritize(3, depends_on=1)  # 1 goes up, with 2, and 3 goes below it
    tree.reprioritize(2, depends_on=3)  # 1 has 3, and 3 has 2
    tree.block(1)
    assert next(tree) == 2  # expected 3, on which it depends


def loops():
    tree = priority.PriorityTree()
    tree.insert_stream(1)
    tree.insert_stream(3, depends_on=1)
    tree.insert_stream(2)
    tree.reprioritize(1, depends_on=2)
    tree.reprioritize(2, depends_on=1)
    tree.reprioritize(3, depends_on=1, exclusive=True)
    tree.reprioritize(1, depends_on=2)  # PriorityLoop


TROPHIES = [
    Trophy(
        "priority_below",
        "a stream that moves below one of its children keeps the children of that one, which are scheduled too soon",
        "The stream below is moved up first, together with all that depends on it, as RFC 7540 says.",
        Streams,
        "a stream that is blocked, or below|although none is ready",
        moves,
    ),
    Trophy(
        "priority_loop",
        "after such a move the tree can have a loop, so that later moves raise PriorityLoop or never end",
        "No order of moves makes a loop; only a stream that depends on itself is refused.",
        Streams,
        "is in a priority loop",
        loops,
        "PriorityLoop",
        known="no report found; from the same cause",
    ),
]
