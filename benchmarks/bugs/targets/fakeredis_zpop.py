"""fakeredis 2.37.0: a sorted set from which the last member was popped is still a key.

Changelog of 2.37.1: "`ZPOPMIN`/`ZPOPMAX`/... now delete the sorted set key once its last member is popped".
"""

import fakeredis
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

KEYS = 4
MEMBERS = 6

keys = st.integers(0, KEYS - 1)
members = st.integers(0, MEMBERS - 1)


class Machine(RuleBasedStateMachine):
    """A server of sorted sets beside a dictionary of dictionaries."""

    def __init__(self) -> None:
        super().__init__()
        self.server = fakeredis.FakeStrictRedis(server=fakeredis.FakeServer(), decode_responses=True)
        self.model: dict[str, dict[str, int]] = {}

    @rule(key=keys, member=members, score=st.integers(0, 9))
    def add(self, key: int, member: int, score: int) -> None:
        name, who = f"key{within(key, KEYS)}", f"m{within(member, MEMBERS)}"
        self.server.zadd(name, {who: score})
        self.model.setdefault(name, {})[who] = score

    @rule(key=keys, member=members)
    def remove(self, key: int, member: int) -> None:
        name, who = f"key{within(key, KEYS)}", f"m{within(member, MEMBERS)}"
        there = self.model.get(name, {})
        assert self.server.zrem(name, who) == (who in there), "another number of members was removed"
        there.pop(who, None)
        if not there:
            self.model.pop(name, None)

    @rule(key=keys)
    def pop(self, key: int) -> None:
        name = f"key{within(key, KEYS)}"
        there = self.model.get(name, {})
        lowest = min(((score, who) for who, score in there.items()), default=None)
        popped = self.server.zpopmin(name)
        assert popped == ([] if lowest is None else [(lowest[1], float(lowest[0]))]), "another member was popped"
        if lowest is not None:
            del there[lowest[1]]
        if not there:
            self.model.pop(name, None)

    @rule(key=keys)
    def count(self, key: int) -> None:
        name = f"key{within(key, KEYS)}"
        assert self.server.zcard(name) == len(self.model.get(name, {})), "another number of members"

    @rule()
    def list_keys(self) -> None:
        assert sorted(self.server.keys()) == sorted(self.model), "other keys"


def reproduce() -> None:
    server = fakeredis.FakeStrictRedis(server=fakeredis.FakeServer())
    server.zadd("key", {"member": 1})
    server.zpopmin("key")
    assert server.keys() == [], server.keys()
