"""A queue of jobs with leases: a worker has a job for some seconds, and a job is paid once, whoever works on it."""

import asyncio
import json
import os
from pathlib import Path

PORT = 5000
LEASE_S = 3.0
STATE = Path("queue.json")


class Queue:
    """The node that has the jobs. Whoever takes a job gets a token, and only the newest token may finish it."""

    def __init__(self) -> None:
        self.jobs: dict[str, dict] = {}
        self.paid: list[str] = []
        self.tokens = 0
        self.ends: dict[str, float] = {}  # of the leases; a restart ends all of them
        if STATE.exists():
            self.jobs, self.paid, self.tokens = json.loads(STATE.read_text())

    def save(self) -> None:
        new = STATE.with_suffix(".new")
        with new.open("w") as file:
            json.dump([self.jobs, self.paid, self.tokens], file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(STATE)
        folder = os.open("/", os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    async def serve(self) -> None:
        await asyncio.start_server(self.answer, port=PORT)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                request = json.loads(line)
                answer = getattr(self, request.pop("do"))(**request)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    def put(self, job: str) -> dict:
        if job not in self.jobs:
            self.jobs[job] = {"token": 0, "done": False}
            self.save()
        return {"is_there": True}

    def take(self) -> dict:
        now = asyncio.get_running_loop().time()
        for name, job in self.jobs.items():
            if not job["done"] and self.ends.get(name, 0.0) <= now:
                self.tokens += 1
                job["token"] = self.tokens
                self.ends[name] = now + LEASE_S
                self.save()
                return {"job": name, "token": job["token"]}
        return {"job": None}

    def finish(self, job: str, token: int) -> dict:
        if self.jobs[job]["token"] != token:
            return {"is_yours": False}
        if not self.jobs[job]["done"]:
            self.jobs[job]["done"] = True
            self.paid.append(job)
            self.save()
        return {"is_yours": True}


class Client:
    """Asks the queue, and asks again until it is answered."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, **request: object) -> dict:
        while True:
            try:
                async with asyncio.timeout(2.0):
                    return await self.once(request)
            except (OSError, TimeoutError):
                self.hang_up()
            await asyncio.sleep(0.2)

    async def once(self, request: dict) -> dict:
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, PORT)
        reader, writer = self.streams
        writer.write(json.dumps(request).encode() + b"\n")
        line = await reader.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the queue has hung up")
        return json.loads(line)

    def hang_up(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


async def work(host: str, seconds: float, told: list[str]) -> None:
    """Take jobs and finish them; ``told`` gets those that the queue says are paid."""
    client = Client(host)
    while True:
        taken = await client.ask(do="take")
        if taken["job"] is None:
            await asyncio.sleep(0.5)
            continue
        await asyncio.sleep(seconds)
        answer = await client.ask(do="finish", job=taken["job"], token=taken["token"])
        if answer["is_yours"]:
            told.append(taken["job"])
