"""fakeredis: what it answers, compared with a server (redis-server must be on the path)."""

import atexit
import functools
import socket
import subprocess
import time

import redis
from fakeredis import FakeServer, FakeStrictRedis
from hypothesis import strategies as st

from ordeal.model import TwoImplementations, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "fakeredis==2.40.0 redis==8.1.0 sortedcontainers==2.4.0", ["fakeredis"]
keys, names, digits = st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 3)
places, numbers = st.integers(-3, 3), st.integers(0, 6)


@functools.cache
def port():
    """Where a server listens that ends with this process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found = free.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--port", str(found), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    atexit.register(server.kill)
    for _ in range(100):
        try:
            redis.Redis(port=found).ping()
        except redis.ConnectionError:
            time.sleep(0.05)
    return found


class Commands(TwoImplementations):
    """Whatever fails on one fails on the other; the texts of errors are not compared."""

    def impl():
        return FakeStrictRedis(version=(7,), server=FakeServer(version=(7,)))

    def other():
        server = redis.Redis(port=port())
        server.flushall()
        return server

    def call(self, *words):
        try:
            return self.impl.execute_command(*words)
        except redis.ResponseError:
            return "an error"


class Streams(Commands):
    @op(number=numbers, weight=3)
    def add(self, number):
        return self.call("XADD", "s", f"{number}-0", "field", "value")

    @op(number=numbers)
    def delete(self, number):
        return self.call("XDEL", "s", f"{number}-0")

    @op(number=numbers)
    def group(self, number):
        return self.call("XGROUP", "CREATE", "s", "g", f"{number}-0", "MKSTREAM")

    @op(name=names, count=st.integers(1, 3), weight=2)
    def read(self, name, count):
        return self.call("XREADGROUP", "GROUP", "g", name, "COUNT", count, "STREAMS", "s", ">")

    @op(name=names, number=numbers)
    def read_again(self, name, number):
        return self.call("XREADGROUP", "GROUP", "g", name, "STREAMS", "s", f"{number}-0")

    @op(number=numbers)
    def acknowledge(self, number):
        return self.call("XACK", "s", "g", f"{number}-0")

    @op(name=names, number=numbers)
    def claim(self, name, number):
        return self.call("XCLAIM", "s", "g", name, 0, f"{number}-0", "JUSTID")

    @op(name=names, number=numbers, count=st.integers(1, 3))
    def claim_next(self, name, number, count):
        return self.call("XAUTOCLAIM", "s", "g", name, 0, f"{number}-0", "COUNT", count, "JUSTID")

    @op()
    def pending(self):
        told = self.call("XPENDING", "s", "g")
        if isinstance(told, dict):
            told["consumers"] = sorted(told["consumers"], key=str)
        return told

    @op(number=numbers)
    def trim(self, number):
        return self.call("XTRIM", "s", "MINID", f"{number}-0")

    @op(name=names)
    def leave(self, name):
        return self.call("XGROUP", "DELCONSUMER", "s", "g", name)

    @op(number=numbers)
    def set_last(self, number):
        return self.call("XGROUP", "SETID", "s", "g", f"{number}-0")

    def view(self, impl):
        return impl.xrange("s")


class Lists(Commands):
    @op(key=keys, name=names, how=st.sampled_from(["LPUSH", "RPUSH", "LPUSHX", "RPUSHX"]), weight=4)
    def push(self, key, name, how):
        return self.call(how, key, name)

    @op(key=keys, how=st.sampled_from(["LPOP", "RPOP"]), count=digits)
    def pop(self, key, how, count):
        return self.call(how, key, count)

    @op(key=keys, to=keys, one=st.sampled_from(["LEFT", "RIGHT"]), other=st.sampled_from(["LEFT", "RIGHT"]))
    def move(self, key, to, one, other):
        return self.call("LMOVE", key, to, one, other)

    @op(key=keys, name=names, pivot=names, where=st.sampled_from(["BEFORE", "AFTER"]))
    def insert(self, key, name, pivot, where):
        return self.call("LINSERT", key, where, pivot, name)

    @op(key=keys, count=places, name=names)
    def remove(self, key, count, name):
        return self.call("LREM", key, count, name)

    @op(key=keys, low=places, high=places)
    def trim(self, key, low, high):
        return self.call("LTRIM", key, low, high)

    @op(key=keys, name=names, rank=places, count=digits)
    def find(self, key, name, rank, count):
        return self.call("LPOS", key, name, "RANK", rank, "COUNT", count)

    @op(key=keys, side=st.sampled_from(["LEFT", "RIGHT"]), count=digits)
    def pop_many(self, key, side, count):
        return self.call("LMPOP", 1, key, side, "COUNT", count)

    @op()
    def copy(self):
        return self.call("COPY", "a", "b")

    def view(self, impl):
        return [impl.lrange(key, 0, -1) for key in "ab"], sorted(impl.keys())


class Sorted(Commands):
    @op(key=keys, name=names, score=digits, flag=st.sampled_from(["CH", "NX", "XX", "GT", "LT"]), weight=3)
    def add(self, key, name, score, flag):
        return self.call("ZADD", key, flag, score, name)

    @op(key=keys, name=names, by=places)
    def increase(self, key, name, by):
        return self.call("ZINCRBY", key, by, name)

    @op(key=keys, name=names)
    def remove(self, key, name):
        return self.call("ZREM", key, name)

    @op(key=keys, low=places, high=places)
    def remove_places(self, key, low, high):
        return self.call("ZREMRANGEBYRANK", key, low, high)

    @op(key=keys, low=digits, high=digits)
    def by_score(self, key, low, high):
        return self.call("ZREVRANGEBYSCORE", key, f"({high}", low, "LIMIT", 0, 2)

    @op(key=keys)
    def pop(self, key):
        return self.call("ZPOPMIN", key)

    @op(key=keys, how=st.sampled_from(["ZUNIONSTORE", "ZINTERSTORE"]), of=st.sampled_from(["SUM", "MIN", "MAX"]))
    def store(self, key, how, of):
        return self.call(how, key, 2, "a", "b", "AGGREGATE", of)

    @op(key=keys)
    def difference(self, key):
        return self.call("ZDIFFSTORE", key, 2, "a", "b")

    @op(key=keys, name=names)
    def rank(self, key, name):
        return self.call("ZREVRANK", key, name)

    def view(self, impl):
        return [impl.zrange(key, 0, -1, withscores=True) for key in "ab"]


def copies():
    server = FakeStrictRedis(version=(7,))
    server.rpush("a", "x")
    server.copy("a", "b")
    server.rpush("a", "y")
    assert server.lrange("b", 0, -1) == [b"x", b"y"]  # expected x alone


def pops():
    server = FakeStrictRedis(version=(7,))
    server.rpush("a", "x")
    assert server.lmpop(1, "a", direction="LEFT") == [b"a", [b"x"]]
    assert server.keys() == [b"a"]  # expected none: an empty list is not kept


TROPHIES = [
    Trophy(
        "fakeredis_copy",
        "after COPY both keys hold the same list, set or sorted set, and what changes one changes the other",
        "It does what a server does: the copy is a value of its own.",
        Lists,
        "after (push|pop|move|insert|remove|trim) the views differ",
        copies,
    ),
    Trophy(
        "fakeredis_lmpop",
        "LMPOP leaves the key of a list from which it has taken all",
        "A key whose list is empty is removed.",
        Lists,
        "after pop_many the views differ",
        pops,
    ),
]
CLEAN = [Streams, Sorted]
