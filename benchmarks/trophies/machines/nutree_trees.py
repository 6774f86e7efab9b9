"""nutree: a tree in which data can be several times, compared with nested lists."""

from hypothesis import strategies as st
from hypothesis.stateful import invariant
from nutree import Tree

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "nutree==1.2.0 typing_extensions", ["nutree.tree", "nutree.node"]
which, words = st.integers(0, 7), st.sampled_from("abcd")


class Shape:
    """A node of the model."""

    def __init__(self, data="", parent=None):
        self.data, self.parent, self.children = data, parent, []

    def walk(self):
        return [low for child in self.children for low in (child, *child.walk())]

    def plain(self):
        return [(child.data, child.plain()) for child in self.children]


class Clones(Pair):
    model = Shape

    def impl():
        return Tree(check_dag=False)

    def pick(self, place):
        ours, theirs = [self.impl.system_root, *self.impl], [self.model, *self.model.walk()]
        place %= len(theirs)
        return ours[place], theirs[place]

    @op(place=which, data=words, weight=4)
    def add(self, place, data):
        node, shape = self.pick(place)
        node.add(data)
        shape.children.append(Shape(data, shape))

    @op(place=which, data=words)
    def prepend(self, place, data):
        node, shape = self.pick(place)
        node.prepend_child(data)
        shape.children.insert(0, Shape(data, shape))

    @op(place=which, data=words, after=st.booleans())
    def beside(self, place, data, after):
        node, shape = self.pick(place)
        if shape.parent:
            (node.append_sibling if after else node.prepend_sibling)(data)
            around = shape.parent.children
            around.insert(around.index(shape) + after, Shape(data, shape.parent))

    @op(place=which, other=which, weight=2)
    def move(self, place, other):
        (node, shape), (target, goal) = self.pick(place), self.pick(other)
        if shape.parent and goal is not shape and goal not in shape.walk():
            node.move_to(target)
            shape.parent.children.remove(shape)
            goal.children.append(shape)
            shape.parent = goal

    @op(place=which, keep=st.booleans())
    def remove(self, place, keep):
        node, shape = self.pick(place)
        if shape.parent:
            node.remove(keep_children=keep)
            around = shape.parent.children
            here = around.index(shape)
            around[here : here + 1] = shape.children if keep else []
            for child in shape.children:
                child.parent = shape.parent

    @op(place=which, data=words)
    def set_data(self, place, data):
        node, shape = self.pick(place)
        if shape.parent:
            node.set_data(data, with_clones=False)
            shape.data = data

    @op(data=words)
    def find(self, data):
        assert len(self.impl.find_all(data)) == sum(shape.data == data for shape in self.model.walk())

    @op(backwards=st.booleans())
    def sort(self, backwards):
        self.impl.sort(reverse=backwards)
        for shape in [self.model, *self.model.walk()]:
            shape.children.sort(key=lambda child: child.data, reverse=backwards)

    @invariant()
    def whole(self):
        self.impl._self_check()

    def view(self):
        return plain(self.impl.system_root), self.model.plain()


def plain(node):
    return [(child.data, plain(child)) for child in node.children]


def removes():
    tree = Tree(check_dag=False)
    first, last = tree.add("a"), tree.add("a")
    assert first is not last
    last.remove()
    assert tree.first_child() is last  # expected the one that was not removed
    assert last.data == "<deleted>"


TROPHIES = [
    Trophy(
        "nutree_equal",
        "to remove or move a node takes its first sibling with equal data out of the tree instead",
        "With `check_dag=False` a node can have children with equal data; each is a node of its own.",
        Clones,
        "the views differ|<deleted>|must be a child|recursion",
        removes,
    ),
]
