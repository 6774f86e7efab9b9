"""A log that three nodes agree on by Raft: datagrams between them, and on each disk what it must not forget."""

import asyncio
import json
import os
import random
from pathlib import Path

PORT = 7000
HEARTBEAT_S = 0.1
PATIENCE_S = (0.3, 0.6)
STATE = Path("raft.json")


class Raft(asyncio.DatagramProtocol):
    """One of the nodes. An entry of the log is a list of the term and a value."""

    def __init__(self, name: str, others: list[str]) -> None:
        self.name = name
        self.others = others
        self.term = 0
        self.voted_for: str | None = None
        self.log: list[list] = []
        self.role = "follower"
        self.leader: str | None = None
        self.committed = 0  # how many entries of the log
        self.votes: list[str] = []
        self.matches: dict[str, int] = {}  # how many entries each of the others has in common with the leader
        self.nexts: dict[str, int] = {}
        self.waiting: dict[int, tuple] = {}  # the address of the client whose entry has this index
        self.load()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: self, local_addr=("0.0.0.0", PORT))
        self.be_patient()
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            if self.role == "leader":
                self.replicate()
            elif loop.time() > self.deadline:
                self.stand()

    def be_patient(self) -> None:
        self.deadline = asyncio.get_running_loop().time() + random.uniform(*PATIENCE_S)

    # The disk

    def load(self) -> None:
        if STATE.exists():
            self.term, self.voted_for, self.log = json.loads(STATE.read_text())

    def save(self) -> None:
        new = STATE.with_suffix(".new")
        with new.open("w") as file:
            json.dump([self.term, self.voted_for, self.log], file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(STATE)
        folder = os.open("/", os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    # Messages

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self.transport = transport

    def send(self, to: str, kind: str, **fields: object) -> None:
        message = {"kind": kind, "by": self.name, "term": self.term, **fields}
        self.transport.sendto(json.dumps(message).encode(), (to, PORT))

    def datagram_received(self, data: bytes, address: tuple) -> None:
        message = json.loads(data)
        if message["kind"] == "put":
            self.take(message, address)
            return
        if message["term"] > self.term:
            self.term, self.voted_for = message["term"], None
            self.follow()
            self.save()
        getattr(self, message["kind"])(message)

    def follow(self) -> None:
        self.role = "follower"
        self.waiting.clear()

    # Elections

    @property
    def quorum(self) -> int:
        return (len(self.others) + 1) // 2 + 1

    @property
    def last_term(self) -> int:
        return self.log[-1][0] if self.log else 0

    def stand(self) -> None:
        self.term += 1
        self.role, self.leader = "candidate", None
        self.voted_for, self.votes = self.name, [self.name]
        self.save()
        self.be_patient()
        for other in self.others:
            self.send(other, "ask", last_term=self.last_term, length=len(self.log))

    def ask(self, message: dict) -> None:
        is_free = self.voted_for in (None, message["by"])
        is_ahead = [message["last_term"], message["length"]] >= [self.last_term, len(self.log)]
        if message["term"] == self.term and is_free and is_ahead:
            self.voted_for = message["by"]
            self.save()
            self.be_patient()
            self.send(message["by"], "vote")

    def vote(self, message: dict) -> None:
        if message["term"] != self.term or self.role != "candidate":
            return
        if message["by"] not in self.votes:
            self.votes.append(message["by"])
        if len(self.votes) >= self.quorum:
            self.role, self.leader = "leader", self.name
            self.matches = dict.fromkeys(self.others, 0)
            self.nexts = dict.fromkeys(self.others, len(self.log))
            # What earlier leaders left is agreed on only together with an entry of this term.
            self.log.append([self.term, None])
            self.save()
            self.replicate()

    # The log

    def take(self, message: dict, address: tuple) -> None:
        if self.role != "leader":
            answer = {"kind": "elsewhere", "whom": self.leader, "id": message["id"]}
            self.transport.sendto(json.dumps(answer).encode(), address)
            return
        self.waiting[len(self.log)] = address
        self.log.append([self.term, message["id"]])
        self.save()
        self.replicate()

    def replicate(self) -> None:
        for other in self.others:
            start = self.nexts[other]
            before = self.log[start - 1][0] if start else 0
            entries = self.log[start:]
            self.send(other, "append", start=start, before=before, entries=entries, committed=self.committed)

    def append(self, message: dict) -> None:
        if message["term"] < self.term:
            return
        self.follow()
        self.leader = message["by"]
        self.be_patient()
        start, entries = message["start"], message["entries"]
        if start > len(self.log) or (start and self.log[start - 1][0] != message["before"]):
            self.send(message["by"], "appended", has_gap=True, length=min(start - 1, len(self.log)))
            return
        for index, entry in enumerate(entries, start):
            if index < len(self.log) and self.log[index][0] != entry[0]:
                del self.log[index:]
            if index >= len(self.log):
                self.log.append(entry)
        if entries:
            self.save()
        length = start + len(entries)
        self.committed = max(self.committed, min(message["committed"], length))
        self.send(message["by"], "appended", has_gap=False, length=length)

    def appended(self, message: dict) -> None:
        if self.role != "leader" or message["term"] != self.term:
            return
        other, length = message["by"], message["length"]
        if message["has_gap"]:
            self.nexts[other] = max(self.matches[other], min(length, self.nexts[other] - 1))
            return
        self.matches[other] = max(self.matches[other], length)
        self.nexts[other] = max(self.nexts[other], length)
        self.commit()

    def commit(self) -> None:
        for length in range(len(self.log), self.committed, -1):
            copies = 1 + sum(match >= length for match in self.matches.values())
            if copies >= self.quorum and self.log[length - 1][0] == self.term:
                self.committed = length
                break
        for index in [index for index in self.waiting if index < self.committed]:
            answer = {"kind": "done", "id": self.log[index][1]}
            self.transport.sendto(json.dumps(answer).encode(), self.waiting.pop(index))


class Client(asyncio.DatagramProtocol):
    """Puts values into the log, one after another, and asks again until a node confirms it."""

    def __init__(self, nodes: list[str]) -> None:
        self.nodes = nodes
        self.guess = nodes[0]
        self.answers: dict[str, asyncio.Future] = {}

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("0.0.0.0", 0))

    def datagram_received(self, data: bytes, _address: tuple) -> None:
        message = json.loads(data)
        answer = self.answers.get(message["id"])
        if answer is not None and not answer.done():
            answer.set_result(message)

    async def put(self, value: str) -> None:
        while True:
            answer = self.answers[value] = asyncio.get_running_loop().create_future()
            self.transport.sendto(json.dumps({"kind": "put", "id": value}).encode(), (self.guess, PORT))
            try:
                async with asyncio.timeout(0.5):
                    message = await answer
            except TimeoutError:
                message = {"kind": "elsewhere", "whom": None}
            if message["kind"] == "done":
                return
            self.guess = message["whom"] or random.choice(self.nodes)
            await asyncio.sleep(0.1)
