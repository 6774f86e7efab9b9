"""h2 3.1.1: each DATA frame on a stream that was reset takes a piece of the connection's window for good.

Changelog of 3.2.0: "Receiving DATA frames on closed (or reset) streams now properly emit a WINDOW_UPDATE to keep the
connection flow window topped up."
"""

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded, StreamReset
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bugs.ranges import within

WINDOW = 65_535
FRAME_MAX = 16_384
STREAMS_MAX = 20
REQUEST = [(":method", "POST"), (":path", "/"), (":scheme", "https"), (":authority", "a")]


class Machine(RuleBasedStateMachine):
    """A client uploads to a server that acknowledges all it gets and resets some streams while data is on its way."""

    def __init__(self) -> None:
        super().__init__()
        self.client = H2Connection(H2Configuration(client_side=True))
        self.server = H2Connection(H2Configuration(client_side=False))
        self.upward = b""
        self.downward = b""
        self.opened = 0
        self.uploading: set[int] = set()
        self.serving: set[int] = set()
        self.client.initiate_connection()
        self.server.initiate_connection()
        for _ in range(2):
            self._send()
            self._arrive_down()
            self._arrive_up()

    def _send(self) -> None:
        self.upward += self.client.data_to_send()
        self.downward += self.server.data_to_send()

    def _arrive_up(self) -> None:
        data, self.upward = self.upward, b""
        for event in self.server.receive_data(data):
            if isinstance(event, RequestReceived):
                self.serving.add(event.stream_id)
            elif isinstance(event, DataReceived):
                self.server.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, StreamEnded | StreamReset):
                self.serving.discard(event.stream_id)
        self._send()

    def _arrive_down(self) -> None:
        data, self.downward = self.downward, b""
        for event in self.client.receive_data(data):
            if isinstance(event, StreamReset):
                self.uploading.discard(event.stream_id)
        self._send()

    @rule()
    def open(self) -> None:
        if self.opened < STREAMS_MAX and len(self.uploading) < 4:
            stream = 1 + 2 * self.opened
            self.client.send_headers(stream, REQUEST)
            self.opened += 1
            self.uploading.add(stream)
            self._send()

    @rule(place=st.integers(0, 3), kilobytes=st.integers(1, 16), end=st.booleans())
    def upload(self, place: int, kilobytes: int, end: bool) -> None:
        if not self.uploading:
            return
        stream = sorted(self.uploading)[within(place, len(self.uploading))]
        size = min(1024 * (1 + within(kilobytes - 1, 16)), self.client.local_flow_control_window(stream), FRAME_MAX)
        if size <= 0:
            return
        self.client.send_data(stream, b"x" * size, end_stream=bool(end))
        if end:
            self.uploading.discard(stream)
        self._send()

    @rule(place=st.integers(0, 3))
    def reset(self, place: int) -> None:
        if self.serving:
            stream = sorted(self.serving)[within(place, len(self.serving))]
            self.server.reset_stream(stream)
            self.serving.discard(stream)
            self._send()

    @rule()
    def deliver_up(self) -> None:
        self._arrive_up()

    @rule()
    def deliver_down(self) -> None:
        self._arrive_down()

    @invariant()
    def is_refilled(self) -> None:
        if not self.upward and not self.downward:
            assert self.client.outbound_flow_control_window >= WINDOW // 2, "the connection's window has leaked"


def reproduce() -> None:
    machine = Machine()
    for _ in range(4):
        machine.open()
        machine.deliver_up()
        machine.upload(place=0, kilobytes=16, end=False)
        machine.reset(place=0)
        machine.deliver_up()
        machine.deliver_down()
        machine.is_refilled()
