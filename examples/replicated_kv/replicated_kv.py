"""A key-value store on three replicas: each operation asks a majority, and nobody leads."""

import asyncio
import json
import os
from pathlib import Path

PORT = 6000
PATIENCE_S = 0.3
STATE = Path("values.json")
NOTHING = [[0, ""], None]


class Replica(asyncio.DatagramProtocol):
    """Keeps the newest version of each value. A version is a number and the name of the client that has chosen it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[str, list] = {}
        if STATE.exists():
            self.values = json.loads(STATE.read_text())

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: self, local_addr=("0.0.0.0", PORT))

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: tuple) -> None:
        message = json.loads(data)
        version, value = self.values.get(message["key"], NOTHING)
        if message["kind"] == "store" and message["version"] > version:
            version, value = self.values[message["key"]] = [message["version"], message["value"]]
            self.save()
        answer = {"id": message["id"], "by": self.name, "version": version, "value": value}
        self.transport.sendto(json.dumps(answer).encode(), address)

    def save(self) -> None:
        new = STATE.with_suffix(".new")
        with new.open("w") as file:
            json.dump(self.values, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(STATE)
        folder = os.open("/", os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


class Client(asyncio.DatagramProtocol):
    """Reads and writes, one operation after another."""

    def __init__(self, name: str, replicas: list[str]) -> None:
        self.name = name
        self.replicas = replicas
        self.asked = 0
        self.answers: dict[int, dict] = {}  # of each question that is open, by the replica that has given it
        self.enough = asyncio.Event()

    @property
    def majority(self) -> int:
        return len(self.replicas) // 2 + 1

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("0.0.0.0", 0))

    def datagram_received(self, data: bytes, _address: tuple) -> None:
        message = json.loads(data)
        answers = self.answers.get(message["id"])
        if answers is not None:
            answers[message["by"]] = message
            if len(answers) >= self.majority:
                self.enough.set()

    async def ask(self, **question: object) -> list[dict]:
        """Ask all replicas, and again until a majority has answered."""
        self.asked += 1
        self.enough.clear()
        answers = self.answers[self.asked] = {}
        message = json.dumps({"id": self.asked, **question}).encode()
        while not self.enough.is_set():
            for replica in self.replicas:
                self.transport.sendto(message, (replica, PORT))
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self.enough.wait()
            except TimeoutError:
                continue
        del self.answers[self.asked]
        return list(answers.values())

    async def newest(self, key: str) -> dict:
        return max(await self.ask(kind="load", key=key), key=lambda answer: answer["version"])

    async def put(self, key: str, value: str) -> None:
        number = (await self.newest(key))["version"][0] + 1
        await self.ask(kind="store", key=key, version=[number, self.name], value=value)

    async def get(self, key: str) -> str | None:
        found = await self.newest(key)
        # Whoever reads later must not read something older, though this value may be on one replica alone.
        await self.ask(kind="store", key=key, version=found["version"], value=found["value"])
        return found["value"]
