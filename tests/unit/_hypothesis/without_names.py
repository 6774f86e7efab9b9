"""Prints what a search finds while names of Hypothesis, given as ``module:name``, are hidden from ordeal alone."""

import importlib
import sys
import types

from hypothesis import event, note, strategies


class _Hiding(types.ModuleType):
    """A module of Hypothesis without some of its names, which it has all the same for Hypothesis itself."""

    def __init__(self, real: types.ModuleType) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(real=real, hidden=set())

    def __getattr__(self, name: str) -> object:
        if name in self.__dict__["hidden"] and sys._getframe(1).f_globals["__name__"].startswith("ordeal."):
            raise AttributeError(name)
        return getattr(self.__dict__["real"], name)


def hide(place: str) -> None:
    """Hide a name from modules of ordeal."""
    module, name = place.split(":")
    found = importlib.import_module(module)
    if not isinstance(found, _Hiding):
        sys.modules[module] = found = _Hiding(found)
    found.__dict__["hidden"].add(name)


for place in sys.argv[1:]:
    hide(place)

from ordeal import Bundle, ChaosTest, multiple, rule  # noqa: E402
from ordeal.explore import Explorer  # noqa: E402
from ordeal.trace import Trace, replay  # noqa: E402


class Machine(ChaosTest):
    """Draws by plans and through Hypothesis, and asks it for its context."""

    jars = Bundle("jars")

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @rule(target=jars, x=strategies.integers(0, 9), t=strategies.text(max_size=3), d=strategies.datetimes())
    def add(self, x: int, t: str, d: object) -> int:
        note(f"{t} {d}")
        event("added")
        self.count += 1
        return x

    @rule(jar=jars, data=strategies.data(), made=strategies.builds(dict, a=strategies.booleans()))
    def use(self, jar: int, data: strategies.DataObject, made: object) -> None:
        del made
        assert not (self.count > 3 and data.draw(strategies.integers(0, jar + 3)) > 5)

    @rule(target=jars)
    def two(self) -> object:
        return multiple(1, 2)


result = Explorer(Machine, target_modules=[], seed=1, workers=1).run(max_runs=300)
(failure,) = result.failures
assert isinstance(failure.trace, Trace)
steps = [step.name for step in failure.trace.steps if step.kind == "rule"]
print(steps, replay(failure.trace, Machine) is not None)  # noqa: T201
print(*(text for text in result.notes if "Hypothesis" in text))  # noqa: T201
