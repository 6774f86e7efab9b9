"""Beautiful Soup: a tree that is edited, compared with the links that its nodes keep to each other."""

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ordeal import ChaosTest

REQUIREMENTS, MODULES = "beautifulsoup4==4.15.0 soupsieve typing_extensions", ["bs4.element"]
which, places = st.integers(0, 9), st.integers(0, 3)


class Linked(ChaosTest):
    """Going from node to node by any link must show the tree that its lists of children are."""

    def __init__(self):
        super().__init__()
        self.soup = BeautifulSoup("", "html.parser")
        self.free, self.count = [], 0

    def nodes(self):
        return [low for root in (self.soup, *self.free) for low in walk(root)]

    def tag(self, which):
        tags = [node for node in self.nodes() if isinstance(node, Tag)]
        return tags[which % len(tags)]

    def node(self, which):
        nodes = [node for node in self.nodes() if node is not self.soup]
        return nodes[which % len(nodes)] if nodes else None

    def taken(self, node):
        self.free = [each for each in self.free if each is not node]

    @rule(text=st.booleans())
    def new(self, text):
        self.count += 1
        name = f"n{self.count}"
        self.free.append(NavigableString(name) if text else self.soup.new_tag(name))

    @rule(which=which, other=which, place=places)
    def insert(self, which, other, place):
        node, tag = self.node(which), self.tag(other)
        if node is not None and not any(each is tag for each in walk(node)):
            self.taken(node)
            tag.insert(place, node)

    @rule(which=which, other=which, after=st.booleans())
    def beside(self, which, other, after):
        node, goal = self.node(which), self.node(other)
        if node is None or goal.parent is None or any(each is goal for each in walk(node)):
            return
        self.taken(node)
        (goal.insert_after if after else goal.insert_before)(node)

    @rule(which=which, other=which)
    def replace(self, which, other):
        node, new = self.node(which), self.node(other)
        if node is None or node.parent is None or any(each is node for each in walk(new)):
            return
        self.taken(new)
        self.free.append(node.replace_with(new))

    @rule(which=which)
    def extract(self, which):
        node = self.node(which)
        if node is not None and node.parent is not None:
            self.free.append(node.extract())

    @rule(which=which)
    def unwrap(self, which):
        node = self.node(which)
        if isinstance(node, Tag) and node.parent is not None:
            self.free.append(node.unwrap())

    @rule(which=which, other=which)
    def wrap(self, which, other):
        node, around = self.node(which), self.tag(other)
        if node is None or node.parent is None or around is self.soup:
            return
        if not any(each is around for each in walk(node)) and not any(each is node for each in walk(around)):
            self.taken(around)
            node.wrap(around)

    @rule(which=which)
    def text(self, which):
        tag = self.tag(which)
        self.free += [] if tag is self.soup else list(tag.contents)
        if tag is not self.soup:
            self.count += 1
            tag.string = f"t{self.count}"

    @rule()
    def smooth(self):
        self.soup.smooth()

    @rule(which=which)
    def clear(self, which):
        tag = self.tag(which)
        self.free += list(tag.contents)
        tag.clear()

    @rule(which=which, other=which)
    def extend(self, which, other):
        tag, source = self.tag(which), self.tag(other)
        if source is not self.soup and not any(each is tag for each in walk(source)):
            tag.extend(source)

    @invariant()
    def linked(self):
        for root in (self.soup, *self.free):
            order = list(walk(root))
            for one, after in zip(order, [*order[1:], None], strict=True):
                assert one.next_element is after, "next_element"
                assert after is None or after.previous_element is one, "previous_element"
            assert order[0].previous_element is None, "the first has a previous_element"
            for tag in order:
                inside = getattr(tag, "contents", [])
                for one, after in zip(inside, [*inside[1:], None], strict=False):
                    assert one.parent is tag, "parent"
                    assert one.next_sibling is after, "next_sibling"
                    assert after is None or after.previous_sibling is one, "previous_sibling"
                assert not inside or inside[0].previous_sibling is None, "the first has a previous_sibling"


def walk(node):
    yield node
    for child in getattr(node, "contents", []):
        yield from walk(child)


CLEAN = [Linked]
