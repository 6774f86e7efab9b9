"""A client that orders from a server, and tries again when it does not hear well."""

import json

ATTEMPTS = 3


class NotConfirmed(Exception):
    """No attempt was confirmed; whether there is an order is not known."""


class Server:
    """Takes orders. Stands for one in another process."""

    def __init__(self) -> None:
        self.orders: list[dict[str, object]] = []

    def answer(self, request: str) -> str:
        self.orders.append(json.loads(request))
        return json.dumps({"number": len(self.orders)})


def exchange(server: Server, request: str) -> str:
    """Send a request over the wire; what comes back is the response."""
    return server.answer(request)


class Client:
    """Orders once, and says under which number."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def order(self, item: str, count: int) -> int:
        request = json.dumps({"item": item, "count": count})
        for _ in range(ATTEMPTS):
            try:
                return int(json.loads(exchange(self.server, request))["number"])
            except (OSError, ValueError):
                # The connection is lost, or the response is damaged: try again.
                continue
        raise NotConfirmed(item)
