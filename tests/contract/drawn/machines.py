"""Rule machines made by chance: what rules there are, what they take, do, hand on and when they fail."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from typing import Any

from hypothesis import assume, event, note, target
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes, initialize, invariant, multiple, precondition, rule

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault, LambdaFault

from .. import landmarks
from ..machines import LoggedMachine
from .strategies import Table

BUNDLES = ("jars", "keys", "lids")
LETTERS = "abcdefgh"
SWARMS = (False, False, True, "coins", "sizes")

# One run in a few ends with one of these, chosen by its history.
AUDIT_ERRORS: tuple[type[Exception], ...] = tuple(type(f"Failure{number}", (Exception,), {}) for number in range(64))


def lot(text: str) -> int:
    """A number that a history decides, the same in every process."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def fail_by_lot(history: str, one_in: int = 20) -> None:
    """Raise what the history decides, or nothing."""
    drawn = lot(history) % (one_in * len(AUDIT_ERRORS))
    if drawn < len(AUDIT_ERRORS):
        raise AUDIT_ERRORS[drawn]


def nothing() -> None:
    """What a fault does that is only looked at."""


class WrittenMachine(LoggedMachine):
    """Each entry of the history is a step with all that it was given; the entry may be the last."""

    one_in = 20

    def write(self, entry: str) -> None:
        self.history += f"{entry};"
        landmarks.reach(self.history.count(";"))
        fail_by_lot(self.history, self.one_in)


class MachineMaker:
    """Makes one class from a seed. The same seed makes the same class, in every process."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.body: dict[str, Any] = {}
        names = self.rng.sample(BUNDLES, self.rng.randint(0, len(BUNDLES)))
        self.bundles: dict[str, Bundle[Any]] = {name: Bundle(name) for name in names}
        self.body |= self.bundles

    def make(self) -> type[WrittenMachine]:
        """The class."""
        rng = self.rng
        for _ in range(rng.choice([0, 0, 1, 2, 3])):
            self.add_rule(starts=True)
        # One rule that can always run, so that no run is stuck.
        self.add_rule(always=True)
        for _ in range(rng.randint(0, 5)):
            self.add_rule()
        for _ in range(rng.choice([0, 0, 1, 2])):
            self.add_invariant()
        self.body["one_in"] = rng.choice([5, 20, 20, 100])
        bases: tuple[type, ...] = (WrittenMachine,)
        if rng.random() < 0.5:
            bases = (WrittenMachine, ChaosTest)
            count = rng.randint(0, 3)
            faults: list[Fault] = [LambdaFault(f"fault{number}", nothing, nothing) for number in range(count)]
            self.body |= {"faults": faults, "swarm": rng.choice(SWARMS)}
        return type(f"Random{self.seed}", bases, {**self.body, "__module__": __name__, "__qualname__": "made.<locals>"})

    def add_rule(self, *, starts: bool = False, always: bool = False) -> None:
        """Add a rule, or one that initializes."""
        rng = self.rng
        name = self._free_name()
        own = {} if always else {letter: self._argument(starts) for letter in rng.sample("pqrs", rng.randint(0, 3))}
        draws = None if rng.random() < 0.8 else Table(rng, []).any()
        if draws is not None and not always:
            own["data"] = st.data()
        targets = rng.sample(sorted(self.bundles), rng.randint(0, len(self.bundles))) if rng.random() < 0.6 else []
        function = self._function(name, draws if "data" in own else None, has_targets=bool(targets))
        options: dict[str, Any] = dict(own)
        if len(targets) == 1 and rng.random() < 0.5:
            options["target"] = self.bundles[targets[0]]
        elif targets:
            options["targets"] = tuple(self.bundles[each] for each in targets)
        decorator: Any = initialize if starts else rule
        decorated = decorator(**options)(function)
        if not always and not starts and rng.random() < 0.4:
            decorated = precondition(self._condition())(decorated)
        self.body[name] = decorated

    def add_invariant(self) -> None:
        """Add an invariant that fails now and then."""
        rng = self.rng
        name = self._free_name()

        def check(self: WrittenMachine) -> None:
            fail_by_lot(f"{name} {self.history}", 60)

        check.__name__ = name
        decorated = invariant(check_during_init=rng.random() < 0.5)(check)
        self.body[name] = precondition(self._condition())(decorated) if rng.random() < 0.3 else decorated

    def _free_name(self) -> str:
        # The order of rules goes by their names, and by what they take and give.
        return next(
            name
            for name in iter(lambda: "".join(self.rng.choices(LETTERS, k=4)), None)
            if name not in self.body and not hasattr(ChaosTest, name)
        )

    def _argument(self, starts: bool) -> st.SearchStrategy[Any]:
        rng = self.rng
        bundles = [] if starts else list(self.bundles.values())
        if bundles and rng.random() < 0.4:
            bundle: Any = rng.choice(bundles)
            made: list[Callable[[], st.SearchStrategy[Any]]] = [
                lambda: bundle,
                lambda: bundle,
                lambda: consumes(bundle),
                lambda: st.lists(bundle, max_size=3),
                lambda: st.lists(consumes(bundle), max_size=2),
                lambda: bundle | st.integers(0, 3),
                lambda: bundle.map(repr),
                lambda: bundle.filter(lambda value: lot(repr(value)) % 4 != 0),
                lambda: bundle.flatmap(lambda value: st.tuples(st.just(value), st.booleans())),
                lambda: st.tuples(bundle, consumes(bundle)),
            ]
            return rng.choice(made)()
        return Table(rng, [] if rng.random() < 0.7 else list(bundles)).any()

    def _condition(self) -> Callable[[Any], bool]:
        modulus, rest = self.rng.choice([(2, 0), (2, 1), (3, 1), (5, 0)])
        return lambda machine: lot(machine.history) % modulus == rest

    def _function(self, name: str, draws: st.SearchStrategy[Any] | None, *, has_targets: bool) -> Callable[..., Any]:
        rng = self.rng
        how_many = rng.choice([1, 1, 0, 2, 3])
        result = rng.choice(["depth", "list", "arguments"])
        extra = rng.choice(["", "", "", "note", "event", "target", "assume", "random", "mutate"])

        def run(self: WrittenMachine, **arguments: Any) -> Any:
            data = arguments.pop("data", None)
            if data is not None and draws is not None:
                arguments["drawn"] = [data.draw(draws) for _ in range(lot(self.history) % 3)]
            _do_extra(extra, self, arguments)
            faults = sorted(fault.name for fault in getattr(self, "active_faults", ()))
            self.write(f"{name} {sorted(arguments.items(), key=lambda item: item[0])} {faults}")
            if not has_targets:
                return None
            values = [_result(result, self, arguments, number) for number in range(how_many)]
            return values[0] if how_many == 1 else multiple(*values)

        run.__name__ = run.__qualname__ = name
        return run


def _do_extra(extra: str, machine: WrittenMachine, arguments: dict[str, Any]) -> None:
    if extra == "note":
        note(machine.history)
    elif extra == "event":
        event(f"depth {len(machine.history)}")
    elif extra == "target":
        target(float(len(machine.history)), label=f"depth {len(machine.history)}")
    elif extra == "assume":
        assume(lot(machine.history) % 8 != 0)
    elif extra == "random":
        arguments["chance"] = random.random()
    elif extra == "mutate":
        for value in arguments.values():
            if type(value) is list:
                value.append(len(machine.history))


def _result(kind: str, machine: WrittenMachine, arguments: dict[str, Any], number: int) -> Any:
    if kind == "depth":
        return len(machine.history) + number
    if kind == "list":
        return [number]
    return list(arguments.values())


def random_machine(seed: int) -> type[WrittenMachine]:
    """The class that ``seed`` stands for."""
    return MachineMaker(seed).make()
