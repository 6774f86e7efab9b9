"""Requests on a pool that waits for its one connection, some cancelled: it is never free again, and all wait."""

from concurrency.redis_pool import main as main
