"""anyio's worker threads, on which starlette runs functions that are not coroutines."""

import anyio


async def main():
    assert await anyio.to_thread.run_sync(lambda: 3) == 3
