"""bidict: an ordered dictionary that can be read from both sides, beside two ordered lists of pairs."""

from bidict import KeyAndValueDuplicationError, KeyDuplicationError, OrderedBidict, ValueDuplicationError
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

COUNT = 7

numbers = st.integers(0, COUNT - 1)


class Machine(RuleBasedStateMachine):
    """Pairs in the order in which they came, no key and no value twice."""

    def __init__(self) -> None:
        super().__init__()
        self.both = OrderedBidict()
        self.pairs: list[tuple[int, int]] = []

    def _at(self, side: int, number: int) -> int | None:
        return next((index for index, pair in enumerate(self.pairs) if pair[side] == number), None)

    @rule(key=numbers, value=numbers)
    def put(self, key: int, value: int) -> None:
        by_key, by_value = self._at(0, key), self._at(1, value)
        wanted: type[Exception] | None = None
        if by_key is not None and by_value is not None and by_key != by_value:
            wanted = KeyAndValueDuplicationError
        elif by_key is None and by_value is not None:
            wanted = ValueDuplicationError
        elif by_key is not None and by_key != by_value:
            wanted = KeyDuplicationError
        try:
            self.both.put(key, value)
        except (KeyAndValueDuplicationError, KeyDuplicationError, ValueDuplicationError) as error:
            refused: type[Exception] | None = type(error)
        else:
            refused = None
        assert refused is wanted, "refused for another reason, or taken where it must be refused"
        if by_key is None and by_value is None:
            self.pairs.append((key, value))

    @rule(key=numbers, value=numbers)
    def force(self, key: int, value: int) -> None:
        self.both.forceput(key, value)
        by_key, by_value = self._at(0, key), self._at(1, value)
        if by_key is None and by_value is None:
            self.pairs.append((key, value))
        elif by_key is not None and by_value is not None and by_key != by_value:
            self.pairs[by_key] = (key, value)
            del self.pairs[by_value]
        else:
            self.pairs[by_key if by_key is not None else by_value or 0] = (key, value)

    @rule(key=numbers)
    def pop(self, key: int) -> None:
        at = self._at(0, key)
        assert self.both.pop(key, None) == (None if at is None else self.pairs.pop(at)[1]), "another value was popped"

    @rule(value=numbers)
    def pop_inverse(self, value: int) -> None:
        at = self._at(1, value)
        found = self.both.inverse.pop(value, None)
        assert found == (None if at is None else self.pairs.pop(at)[0]), "another key was popped"

    @rule(last=st.booleans())
    def pop_end(self, last: bool) -> None:
        if self.pairs:
            assert self.both.popitem(last=last) == self.pairs.pop(-1 if last else 0), "another pair was popped"

    @rule(key=numbers, last=st.booleans())
    def move(self, key: int, last: bool) -> None:
        at = self._at(0, key)
        if at is not None:
            self.both.move_to_end(key, last=last)
            pair = self.pairs.pop(at)
            self.pairs.insert(len(self.pairs) if last else 0, pair)

    @rule()
    def copy(self) -> None:
        other = self.both.copy()
        assert other == self.both, "a copy differs"
        self.both = other

    @rule()
    def clear(self) -> None:
        self.both.clear()
        self.pairs.clear()

    @invariant()
    def equal(self) -> None:
        assert list(self.both.items()) == self.pairs, "other pairs, or in another order"
        assert list(self.both.inverse.items()) == [(value, key) for key, value in self.pairs], "the inverse differs"
        assert list(reversed(self.both)) == [key for key, _ in reversed(self.pairs)], "another order backwards"
