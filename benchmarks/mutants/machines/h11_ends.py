"""h11: a client and a server that exchange requests and responses over bytes that arrive in pieces."""

import h11
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

chunks = st.lists(st.binary(min_size=1, max_size=6), max_size=4)
pieces = st.integers(1, 40)


class Machine(RuleBasedStateMachine):
    """What one end sends is what the other receives, until the connection ends as the headers say."""

    def __init__(self) -> None:
        super().__init__()
        self.connect()

    @rule()
    def connect(self) -> None:
        self.client = h11.Connection(h11.CLIENT)
        self.server = h11.Connection(h11.SERVER)
        self.closes = False

    def _send(self, sender: h11.Connection, receiver: h11.Connection, events: list[h11.Event], piece: int) -> None:
        data = b"".join(filter(None, map(sender.send, events)))
        received: list[h11.Event] = []
        for start in range(0, len(data), piece):
            receiver.receive_data(data[start : start + piece])
            while (event := receiver.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                received.append(event)
        assert isinstance(received[-1], h11.EndOfMessage), "the message does not end"
        first, sent = received[0], events[0]
        assert type(first) is type(sent), "another kind of event"
        # An end adds how its body ends, or that it will close.
        added = set(first.headers) - set(sent.headers)
        assert set(sent.headers) <= set(first.headers), "a header is lost"
        assert {name for name, _ in added} <= {b"connection", b"transfer-encoding"}, "a header came along"
        if isinstance(sent, h11.Request):
            assert (first.method, first.target) == (sent.method, sent.target), "another request"
        else:
            assert (first.status_code, first.reason) == (sent.status_code, sent.reason), "another response"
        body = [b"".join(bytes(e.data) for e in some if isinstance(e, h11.Data)) for some in (events, received)]
        assert body[0] == body[1], "another body"

    @rule(
        method=st.sampled_from(["GET", "POST", "HEAD", "PUT"]),
        body=chunks,
        answer=chunks,
        status=st.sampled_from([200, 204, 304, 404]),
        framing=st.tuples(st.booleans(), st.booleans()),
        close=st.booleans(),
        piece=pieces,
    )
    def exchange(
        self,
        method: str,
        body: list[bytes],
        answer: list[bytes],
        status: int,
        framing: tuple[bool, bool],
        close: bool,
        piece: int,
    ) -> None:
        if self.closes:
            return
        headers = [("host", "example"), *_framing(body, framing[0])]
        if close:
            headers.append(("connection", "close"))
        request = h11.Request(method=method, target="/a?b", headers=headers)
        self._send(self.client, self.server, [request, *map(_data, body), h11.EndOfMessage()], piece)
        bodiless = method == "HEAD" or status in (204, 304)
        answer = [] if bodiless else answer
        response = h11.Response(status_code=status, headers=[] if bodiless else _framing(answer, framing[1]))
        self._send(self.server, self.client, [response, *map(_data, answer), h11.EndOfMessage()], piece)
        ends = (self.client, self.server)
        if close:
            assert {end.our_state for end in ends} == {h11.MUST_CLOSE}, "the connection goes on"
            self.closes = True
        else:
            assert {end.our_state for end in ends} == {end.their_state for end in ends} == {h11.DONE}, "it is not done"
            for end in ends:
                end.start_next_cycle()

    @rule(length=st.integers(0, 8), body=st.binary(max_size=8))
    def lie(self, length: int, body: bytes) -> None:
        if self.closes:
            return
        request = h11.Request(method="POST", target="/", headers=[("host", "a"), ("content-length", str(length))])
        self.client.send(request)
        try:
            self.client.send(h11.Data(data=body))
            self.client.send(h11.EndOfMessage())
        except h11.LocalProtocolError:
            assert len(body) != length, "an honest length was refused"
        else:
            assert len(body) == length, "a wrong length was sent"
        self.connect()


def _framing(body: list[bytes], chunked: bool) -> list[tuple[str, str]]:
    return [("transfer-encoding", "chunked")] if chunked else [("content-length", str(sum(map(len, body))))]


def _data(chunk: bytes) -> h11.Data:
    return h11.Data(data=chunk)
