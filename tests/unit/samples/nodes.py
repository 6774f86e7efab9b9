"""Programs of nodes for the tests of worlds: an echo server and its client, and a counter on disk."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path


async def echo(port: int = 80) -> None:
    """Answer each line with itself in capitals."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(line.upper())
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    await asyncio.start_server(answer, port=port)


async def ask(host: str, *lines: str, port: int = 80) -> list[str]:
    """Ask an echo server, once."""
    reader, writer = await asyncio.open_connection(host, port)
    answers = []
    try:
        for line in lines:
            writer.write(f"{line}\n".encode())
            await writer.drain()
            answers.append((await reader.readline()).decode().strip())
    finally:
        writer.close()
    return answers


async def count_up(counts: list[int], is_synced: bool = True) -> None:
    """Count in a file, once in a second, and go on where the file says."""
    path = Path("data/count")
    path.parent.mkdir(exist_ok=True)
    number = int(path.read_text()) if path.exists() else 0
    while True:
        number += 1
        new = path.with_suffix(".new")
        with new.open("w") as file:
            file.write(str(number))
            if is_synced:
                file.flush()
                os.fsync(file.fileno())
        new.replace(path)
        if is_synced:
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        counts.append(number)
        await asyncio.sleep(1)
