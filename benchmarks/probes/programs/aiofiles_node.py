"""aiofiles writes and reads a file on the disk of a node."""

import asyncio

import aiofiles


async def main(world):
    read = []

    async def work():
        async with aiofiles.open("notes.txt", "w") as file:
            await file.write("one\ntwo\n")
        async with aiofiles.open("notes.txt") as file:
            read.extend([line async for line in file])

    world.node("one", work)
    await asyncio.sleep(10)
    assert read == ["one\n", "two\n"], read
