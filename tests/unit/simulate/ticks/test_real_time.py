"""Tests of programs in production: what is sent and logged, what fails, and the same commands in the world."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis.stateful import invariant

from ordeal import ChaosTest, simulate
from ordeal.errors import MachineError
from ordeal.simulate import SimulationError

pytest_plugins = ["pytester"]

QUIET = ("-p", "no:cacheprovider", "-p", "no:randomly", "-q")

SHOP = """
    from dataclasses import dataclass
    from ordeal import ChaosTest, invariant, simulate

    @dataclass(frozen=True)
    class Buy:
        order: int
        cents: int

    @dataclass(frozen=True)
    class Refund:
        order: int

    class Refused(Exception):
        pass

    class Shop:
        def __init__(self):
            self.orders = {}
            self.cash = 0

        def handle(self, command):
            if isinstance(command, Buy):
                if command.order in self.orders:
                    raise Refused(command.order)
                self.orders[command.order] = command.cents
                self.cash += command.cents
            else:
                self.cash -= self.orders.get(command.order, 0)

        def live_ids(self):
            return {"order": list(self.orders)}

    class ShopDST(ChaosTest):
        world = simulate.world(ticks=100)
        commands = [Buy, Refund]

        def start(self):
            self.shop = Shop()

        def tick(self, now): ...

        def perform(self, command):
            self.shop.handle(command)

        def live_ids(self):
            return self.shop.live_ids()

        @invariant()
        def adds_up(self):
            assert self.shop.cash == sum(self.shop.orders.values())
"""

PRODUCTION = (
    SHOP
    + """
    class Server(Shop):
        send = Shop.handle

    @simulate.e2e(ShopDST, duration=0.5, errors=(Refused,))
    def test_production(tmp_path):
        server = Server()
        yield server
        assert server.cash == sum(server.orders.values()), "the cash is wrong"
"""
)

ASYNC = (
    SHOP
    + """
    import asyncio

    @simulate.e2e(ShopDST, duration=0.2, errors=(Refused,))
    async def test_production():
        shop = Shop()

        async def send(command):
            await asyncio.sleep(0)
            if len(shop.orders) > 3:
                raise KeyError("full")
            shop.handle(command)

        yield send
"""
)


def test_it_is_skipped_without_the_option(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_shop=PRODUCTION)
    result = pytester.runpytest_inprocess("-rs", *QUIET)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*with --e2e*"])


def test_what_it_finds_is_found_again_in_the_world(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pytester.makepyfile(shop=SHOP)
    pytester.makepyfile(test_shop=PRODUCTION)
    result = pytester.runpytest_inprocess("--e2e", *QUIET)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*the cash is wrong*", "* commands in * s: *", "*half of them within *", "*buy *", "*The last commands:*"]
    )
    (log,) = (pytester.path / ".ordeal/e2e").iterdir()
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert len([row for row in rows if "command" in row]) == len([row for row in rows if "outcome" in row])
    assert {row["outcome"] for row in rows if "outcome" in row} == {"", "Refused"}
    monkeypatch.syspath_prepend(path.parent)
    machine = __import__("shop").ShopDST
    with pytest.raises(AssertionError) as caught:
        simulate.run_log(machine, log)
    assert f"of {log}, at tick 0 of the world" in caught.value.__notes__[-1]


def test_an_error_that_was_not_expected_ends_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_shop=ASYNC)
    result = pytester.runpytest_inprocess("--e2e", *QUIET)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*KeyError: 'full'*", "*The last commands:*"])
    (log,) = (pytester.path / ".ordeal/e2e").iterdir()
    assert json.loads(log.read_text("utf-8").splitlines()[-1]) == {"outcome": "KeyError: 'full'"}


@dataclass(frozen=True)
class Add:
    number: int
    data: bytes = b""


class SumDST(ChaosTest):
    world: ClassVar[Any] = simulate.world(ticks=10, settle=5, tick_length=0.5)
    commands: ClassVar[Any] = [Add]

    def start(self) -> None:
        self.seen: list[Any] = []

    def tick(self, now: float) -> None:
        self.seen.append(now)

    def perform(self, command: Add) -> None:
        self.seen.append(command)
        if command.number == 9:
            raise ValueError(command)

    @invariant()
    def is_short(self) -> None:
        assert len(self.seen) < 9

    def converged(self) -> bool:
        assert self.seen[:2] == [Add(1), 0.5], self.seen
        return True


def log_of(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def added(number: int, at: float, outcome: str = "") -> list[Any]:
    return [{"at": at, "command": "add", "fields": {"number": number}}, {"outcome": outcome}]


def test_time_passes_between_the_commands_of_a_log(tmp_path: Path) -> None:
    log = log_of(tmp_path / "log", *added(1, 0.2), *added(2, 0.7), *added(9, 1.1, "ValueError"))
    assert simulate.run_log(SumDST, log) == 3
    with pytest.raises(ValueError, match="number=9"):
        simulate.run_log(SumDST, log_of(log, *added(1, 0.2), *added(9, 0.7)))


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (["{"], "line 1 of the log .* is damaged"),
        ([[1]], "line 1 of the log .* is damaged"),
        ([{"at": "x", "command": "add", "fields": {}}], "is damaged"),
        ([{"at": 0, "command": "sub", "fields": {}}], "has a command 'sub'\nhint: the machine knows: add"),
        ([{"at": 0, "command": "add", "fields": {"other": 1}}], "line 1 of the log .* does not fit add any more"),
    ],
)
def test_a_log_is_not_trusted(tmp_path: Path, rows: list[Any], text: str) -> None:
    path = log_of(tmp_path / "log", *rows)
    if rows == ["{"]:
        path.write_text("{", "utf-8")
    with pytest.raises(SimulationError, match=text):
        simulate.run_log(SumDST, path)


def test_wrong_use() -> None:
    with pytest.raises(SimulationError, match="cannot be read"):
        simulate.run_log(SumDST, "/no/such/log")
    with pytest.raises(MachineError, match="no world with ticks"):
        simulate.run_log(ChaosTest, "log")
    with pytest.raises(MachineError, match="has no commands"):
        simulate.e2e(ChaosTest)
    for duration in ("soon", 0, "0s"):
        with pytest.raises(SimulationError, match="duration is"):
            simulate.e2e(SumDST, duration=duration)
    with pytest.raises(SimulationError, match="yields nothing"):
        simulate.e2e(SumDST)(lambda: None)
