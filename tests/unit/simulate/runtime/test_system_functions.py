"""What `socket.socket` and `socket.getaddrinfo` are inside of a run, and that they are the real ones outside."""

from __future__ import annotations

import asyncio
import socket

from ordeal import simulate


def test_names_of_nodes_are_found_by_a_function_in_an_executor() -> None:
    async def serve() -> None:
        await asyncio.Event().wait()

    async def main(world: simulate.World) -> str:
        node = world.node("db", serve)
        found = await asyncio.get_running_loop().run_in_executor(None, socket.getaddrinfo, "db", 80)
        assert found[0][4][0] == node.address
        return node.address

    assert simulate.run(main) == "10.0.0.1"


def test_the_type_of_a_socket_stays_a_type_for_whoever_uses_it_as_one() -> None:
    async def main() -> type:
        class Derived(socket.socket):
            pass

        assert isinstance(socket.socket(), socket.socket)
        assert issubclass(Derived, socket.socket)
        assert (socket.socket | None) is not None
        return Derived

    real = socket.socket
    assert issubclass(simulate.run(main), real)
    assert socket.socket is real
