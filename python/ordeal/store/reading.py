"""Reads what all members of a namespace have written, from where it stopped, in turns.

Searches read a part with each exchange, and a compaction reads everything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from ordeal.store.backend import Backend, ShardState, Span, Unreadable
from ordeal.store.records import Content, RecordError, decode
from ordeal.store.shard import FRAME_SIZE, ShardReader

#: How much is read by one command, in bytes.
_READ_SIZE = 8 * 2**20


class NamespaceReader:
    """Reads a namespace through its backend, which may be away. Owned by one thread.

    Attributes:
        shards: how far each shard was read.
    """

    def __init__(
        self,
        backend: Backend,
        learn: Callable[[str, bytes, Content], None],
        refuse: Callable[[str], None],
    ) -> None:
        """``learn`` takes the token of a shard, and a framed record of it with its content.

        It may raise ``RecordError``. ``refuse`` takes what is wrong with a shard or a record.
        """
        self._backend = backend
        self._learn = learn
        self._refuse = refuse
        self.shards: dict[str, ShardReader] = {}

    def read(self, states: Mapping[str, ShardState], size_max: float) -> bool:
        """Read at most this many bytes of these shards. Return whether there may be more."""
        left = size_max
        for token in sorted(states.keys() - self.shards.keys()):
            self.shards[token] = ShardReader()
        # In turns, so that no shard delays the others: the one read last comes last.
        turn = deque(
            token for token, reader in self.shards.items() if token in states and states[token].size > reader.offset
        )
        while left > 0 and (spans := self._next_spans(turn, states, min(left, _READ_SIZE))):
            for span, answer in zip(spans, self._backend.read(spans), strict=True):
                left -= len(answer) if isinstance(answer, bytes) else 0
                if self._goes_on(span.token, answer):
                    turn.append(span.token)
        return left <= 0

    def _next_spans(self, turn: deque[str], states: Mapping[str, ShardState], size_max: float) -> list[Span]:
        """Return what to read of the first shards, which are removed from ``turn``: at most one record too much."""
        spans: list[Span] = []
        while turn and size_max > 0:
            token = turn.popleft()
            reader = self.shards[token]
            size = reader.wanted(states[token].size)
            if size:
                spans.append(Span(token, reader.offset, size))
                size_max -= size
        return spans

    def _goes_on(self, token: str, answer: bytes | Unreadable) -> bool:
        """Learn what was read of a shard. Return whether to continue reading it."""
        reader = self.shards[token] = self.shards.pop(token)
        before = reader.offset, reader.needed
        frames: list[bytes] = []
        if isinstance(answer, Unreadable):
            refusal = reader.stop(answer.why)
        else:
            frames, refusal = reader.feed(answer)
        for frame in frames:
            try:
                self._learn(token, frame, decode(memoryview(frame)[FRAME_SIZE:]))
            except RecordError as error:
                self._refuse(f"a record of shard {token} {error}")
        if refusal:
            self._refuse(f"shard {token} is read no further: {refusal}")
        return (reader.offset, reader.needed) != before and not reader.damage
