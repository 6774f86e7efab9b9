"""treelib: a tree that is pruned and grafted, compared with lists of children."""

from hypothesis import strategies as st
from treelib import Tree

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "treelib==1.8.0 six", ["treelib.tree", "treelib.node"]
which = st.integers(0, 7)


class Grafted(Pair):
    count = 0

    def impl():
        tree = Tree()
        tree.create_node("n", 0)
        return tree

    def model():
        return {0: []}

    def pick(self, place):
        return sorted(self.model)[place % len(self.model)]

    def below(self, node):
        return [node] + [low for child in self.model[node] for low in self.below(child)]

    def parent(self, node):
        return next((parent for parent, children in self.model.items() if node in children), None)

    @op(place=which, weight=4)
    def create(self, place):
        parent = self.pick(place)
        self.count += 1
        self.impl.create_node("n", self.count, parent)
        self.model[parent].append(self.count)
        self.model[self.count] = []

    @op(place=which, other=which, weight=2)
    def move(self, place, other):
        node, target = self.pick(place), self.pick(other)
        if node and target not in self.below(node):
            self.impl.move_node(node, target)
            self.model[self.parent(node)].remove(node)
            self.model[target].append(node)

    @op(place=which)
    def remove(self, place):
        node = self.pick(place)
        if node:
            assert self.impl.remove_node(node) == len(self.below(node))
            gone = self.below(node)
            self.model[self.parent(node)].remove(node)
            for each in gone:
                del self.model[each]

    @op(place=which, other=which, deep=st.booleans(), weight=2)
    def graft(self, place, other, deep):
        node, target = self.pick(place), self.pick(other)
        if node and target not in self.below(node):
            cut = self.impl.remove_subtree(node)
            assert sorted(cut.expand_tree()) == sorted(self.below(node))
            self.impl.paste(target, cut, deep=deep)
            self.model[self.parent(node)].remove(node)
            self.model[target].append(node)

    @op(place=which)
    def link_past(self, place):
        node = self.pick(place)
        if node:
            self.impl.link_past_node(node)
            parent = self.parent(node)
            self.model[parent] += self.model.pop(node)
            self.model[parent].remove(node)

    @op(place=which)
    def rename(self, place):
        node = self.pick(place)
        if node:
            self.count += 1
            self.impl.update_node(node, identifier=self.count)
            around = self.model[self.parent(node)]
            around[around.index(node)] = self.count
            self.model[self.count] = self.model.pop(node)

    @op(place=which)
    def subtree(self, place):
        node = self.pick(place)
        assert sorted(self.impl.subtree(node).expand_tree()) == sorted(self.below(node))

    def view(self):
        tree = self.impl
        return {
            node: (sorted(child.identifier for child in tree.children(node)), tree.ancestor(node), tree.level(node))
            for node in sorted(tree.nodes)
        }, {node: (sorted(self.model[node]), self.parent(node), self.level(node)) for node in sorted(self.model)}

    def level(self, node):
        return self.level(self.parent(node)) + 1 if node else 0


def pastes():
    tree, other = Tree(), Tree()
    tree.create_node("root", "root")
    other.create_node("a", "a")
    tree.paste("root", other, deep=True)  # NodeIDAbsentError


TROPHIES = [
    Trophy(
        "treelib_paste",
        "`paste` with `deep=True` raises NodeIDAbsentError for any tree",
        "It pastes a deep copy of the tree.",
        Grafted,
        "is not in the tree",
        pastes,
        "NodeIDAbsentError",
        known="issue 83 of 2017, closed; it is back",
    ),
]
