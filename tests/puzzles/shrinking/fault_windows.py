"""Machines with faults that fail in a window of time: what is hard is when a fault begins and ends."""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault, io

from .known import Known, known


class Wire:
    """What messages are sent over."""

    def __init__(self) -> None:
        self.arrived: list[int] = []

    def send(self, number: int) -> None:
        """Deliver a message."""
        self.arrived.append(number)


CUT_WIRE = io.error_on_call(f"{__name__}.Wire.send")


class Outbox(ChaosTest):
    """Sends messages, and those that could not be sent later; each is put back twice."""

    faults: ClassVar[list[Fault]] = [CUT_WIRE]

    def __init__(self) -> None:
        super().__init__()
        self.wire = Wire()
        self.waiting: list[int] = []
        self.sent = 0

    @rule(text=st.text(), urgent=st.booleans())
    def post(self, text: str, urgent: bool) -> None:
        self.sent += 1
        try:
            self.wire.send(self.sent)
        except OSError:
            self.waiting += [self.sent, self.sent]

    @rule()
    def send_waiting(self) -> None:
        try:
            for number in self.waiting:
                self.wire.send(number)
        except OSError:
            return
        self.waiting.clear()

    @invariant()
    def none_arrives_twice(self) -> None:
        assert len(self.wire.arrived) == len(set(self.wire.arrived))


# The wire must be cut while a message is posted, and whole again when the waiting ones are sent.
OUTBOX = known(
    Outbox,
    (
        f"state.fault('{CUT_WIRE.name}').activate()",
        "state.post(text='', urgent=False)",
        f"state.fault('{CUT_WIRE.name}').deactivate()",
        "state.send_waiting()",
    ),
)


class Replica:
    """One of two copies of a value, with the number of the write that it saw last."""

    def __init__(self) -> None:
        self.version = 0
        self.value: int | None = None


class East(Replica):
    """The first copy."""

    def reach(self) -> Replica:
        """The copy, when it can be reached."""
        return self


class West(Replica):
    """The second copy."""

    def reach(self) -> Replica:
        """The copy, when it can be reached."""
        return self


NO_EAST = io.error_on_call(f"{__name__}.East.reach")
NO_WEST = io.error_on_call(f"{__name__}.West.reach")


class StaleReplica(ChaosTest):
    """Writes to the copies in reach, and trusts the newest one in reach."""

    faults: ClassVar[list[Fault]] = [NO_EAST, NO_WEST]

    def __init__(self) -> None:
        super().__init__()
        self.replicas = (East(), West())
        self.version = 0
        self.written: int | None = None

    def in_reach(self) -> list[Replica]:
        """The copies that answer."""
        found = []
        for replica in self.replicas:
            try:
                found.append(replica.reach())
            except OSError:
                continue
        return found

    @rule(value=st.integers())
    def write(self, value: int) -> None:
        found = self.in_reach()
        if found:
            self.version += 1
            self.written = value
        for replica in found:
            replica.version, replica.value = self.version, value

    @rule()
    def read(self) -> None:
        found = self.in_reach()
        if found:
            assert max(found, key=lambda replica: replica.version).value == self.written


# One copy must miss a write, and the other one be out of reach when it is read; the second window may begin before the
# first one ends.
STALE_REPLICA = known(
    StaleReplica,
    *(
        (f"state.fault('{missing.name}').activate()", "state.write(value=0)", *between, "state.read()")
        for missing, lost in ((NO_EAST, NO_WEST), (NO_WEST, NO_EAST))
        for between in (
            (f"state.fault('{missing.name}').deactivate()", f"state.fault('{lost.name}').activate()"),
            (f"state.fault('{lost.name}').activate()", f"state.fault('{missing.name}').deactivate()"),
        )
    ),
)

FAULT_WINDOWS: list[Known] = [OUTBOX, STALE_REPLICA]
