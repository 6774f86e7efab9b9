"""A small program to put faults on, made anew for every test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

API = """
import functools

LIMIT = 5

def charge(amount=1):
    return amount

def receipt(amount=1):
    return "paid" * amount

async def charge_later(amount=1):
    return amount

@functools.lru_cache
def cached():
    return "cached"

class Client:
    retries = 3

    def send(self, text):
        return f"sent {text}"

    @staticmethod
    def ping():
        return "pong"

    @classmethod
    def make(cls):
        return cls()

    @property
    def size(self):
        return 10

    @functools.cached_property
    def limit(self):
        return 20

class Mobile(Client):
    pass

client = Client()
"""
ORDERS = "from shop_app.api import charge, charge as bill\nfrom time import sleep\n"


@contextmanager
def shop_app() -> Iterator[Any]:
    """The modules ``shop_app.api`` and ``shop_app.orders``, imported, as attributes ``api`` and ``orders``."""
    names = ["shop_app", "shop_app.api", "shop_app.orders"]
    modules = [ModuleType(name) for name in names]
    sys.modules.update(zip(names, modules, strict=True))
    package, api, orders = modules
    package.__path__ = []
    vars(package).update(api=api, orders=orders)
    exec(API, vars(api))
    exec(ORDERS, vars(orders))
    try:
        yield SimpleNamespace(api=api, orders=orders)
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "shop_app"]:
            del sys.modules[name]


def add_module(name: str, source: str) -> ModuleType:
    """Import one more module of the program while it runs."""
    module = ModuleType(f"shop_app.{name}")
    sys.modules[module.__name__] = module
    exec(source, vars(module))
    return module


def adding(amount: int) -> Callable[[Any], Any]:
    """A wrapper that adds to the result of a call."""
    return lambda original: lambda *args, **kwargs: original(*args, **kwargs) + amount


def adding_text(text: str) -> Callable[[Any], Any]:
    """The same for a method that returns a text."""
    return lambda original: lambda self, *args: original(self, *args) + text


def constant(value: Any) -> Callable[[Any], Any]:
    """A wrapper that returns ``value`` without a call."""
    return lambda _original: lambda *_args, **_kwargs: value
