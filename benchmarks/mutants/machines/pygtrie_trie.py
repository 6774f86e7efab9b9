"""pygtrie: a trie of texts beside a dictionary of them."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from pygtrie import CharTrie

texts = st.text("ab", max_size=4)
values = st.integers(0, 9)


class Machine(RuleBasedStateMachine):
    """All that a dictionary can do, and what only prefixes can."""

    def __init__(self) -> None:
        super().__init__()
        self.trie = CharTrie()
        self.plain: dict[str, int] = {}

    @rule(key=texts, value=values)
    def write(self, key: str, value: int) -> None:
        self.trie[key] = value
        self.plain[key] = value

    @rule(key=texts, value=values)
    def set_default(self, key: str, value: int) -> None:
        assert self.trie.setdefault(key, value) == self.plain.setdefault(key, value), "another default"

    @rule(key=texts)
    def pop(self, key: str) -> None:
        assert self.trie.pop(key, None) == self.plain.pop(key, None), "another value was popped"

    @rule(prefix=texts)
    def delete_below(self, prefix: str) -> None:
        below = [key for key in self.plain if key.startswith(prefix)]
        if below:
            del self.trie[prefix:]
        for key in below:
            del self.plain[key]

    @rule(key=texts)
    def look(self, key: str) -> None:
        assert self.trie.get(key) == self.plain.get(key), "another value"
        assert self.trie.has_key(key) == (key in self.plain), "a key is denied, or made up"
        longer = any(other != key and other.startswith(key) for other in self.plain)
        assert bool(self.trie.has_subtrie(key)) == longer, "what lies below is denied, or made up"

    @rule(key=texts)
    def prefixes(self, key: str) -> None:
        wanted = [(key[:end], self.plain[key[:end]]) for end in range(len(key) + 1) if key[:end] in self.plain]
        assert [(step.key, step.value) for step in self.trie.prefixes(key)] == wanted, "other prefixes"
        longest, shortest = self.trie.longest_prefix(key), self.trie.shortest_prefix(key)
        assert (longest.key, shortest.key) == ((wanted[-1][0], wanted[0][0]) if wanted else (None, None))

    @rule(prefix=texts)
    def below(self, prefix: str) -> None:
        wanted = {key: value for key, value in self.plain.items() if key.startswith(prefix)}
        assert dict(self.trie.items(prefix) if wanted else []) == wanted, "others lie below"

    @rule()
    def copy(self) -> None:
        other = self.trie.copy()
        assert other == self.trie, "a copy differs"
        self.trie = other

    @invariant()
    def equal(self) -> None:
        assert len(self.trie) == len(self.plain), "another number of keys"
        assert dict(self.trie.items()) == self.plain, "other items"
        assert bool(self.trie) == bool(self.plain), "empty, or not"
