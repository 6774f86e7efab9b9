"""Round trips: what is dumped and loaded again must show what was there before."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis.stateful import precondition, rule

from ordeal.errors import DivergenceError, MachineError
from ordeal.model.call_result import Sides, is_shown_whole, shown
from ordeal.model.comparing_machine import ComparingMachine
from ordeal.model.definition import Hook
from ordeal.model.operation import PASSED_ON
from ordeal.model.oracle import VIEW, Oracle

DUMP = Hook("dump", ("impl",), "dump = json.dumps", "return impl.to_text()")
LOAD = Hook("load", ("dumped",), "load = json.loads", "return MyStore.from_text(dumped)")


class RoundTrip(ComparingMachine, Oracle):
    """Edits a system, dumps and loads it after each operation, and compares the two.

    Give ``impl``, ``dump`` and ``load`` in the class body, and write the operations under ``@op``. A rule
    ``reload_dumped`` puts what was loaded in the place of the system, so that it is edited on.
    """

    dump: Any
    """Returns the dumped form of a system: ``dump = json.dumps``, or ``def dump(self, impl):``."""

    load: Any
    """Returns a new system for a dumped form: ``load = json.loads``, or ``def load(self, dumped):``."""

    reload: ClassVar[bool] = True
    """Whether runs go on with what was loaded; False where ``load`` makes something else than ``impl`` does."""

    _hooks = (VIEW, DUMP, LOAD)
    _required = (DUMP, LOAD)
    _own_rules = ("reload_dumped",)
    _sides = Sides("the system", "what was loaded", "loaded as")

    @precondition(lambda self: self.reload)
    @rule()
    def reload_dumped(self) -> None:
        """Go on with what is loaded from the dumped form."""
        self._current_op = "reload_dumped"
        self.impl = self._loaded(self._dumped())

    def _compare_views(self) -> None:
        before = self._seen(self.impl)
        self._count_view(before)
        dumped = self._dumped()
        after = self._seen(self.impl)
        if not self.equal(before, after):
            sides = Sides("the system before", "the system after it", "afterwards")
            raise DivergenceError.after(
                self._current_op,
                f"after {self._current_op}, dump() changes the system: it shows {shown(before)} before, and "
                f"{shown(after)} after it{sides.describe_difference(before, after)}",
            )
        loaded = self._seen(self._loaded(dumped))
        if not self.equal(before, loaded):
            failure = self._differ(f"after {self._current_op}, dumped as {shown(dumped)}", before, loaded)
            # What is loaded depends on the dumped form alone. A text that was cut may hide a difference.
            failure.depends_on = str(failure) if all(map(is_shown_whole, (before, dumped, loaded))) else ""
            raise failure

    def _dumped(self) -> Any:
        dumped = self._called("dump", self.impl)
        if dumped is None:
            raise MachineError(
                f"{type(self).__name__}.dump() returned None",
                hint="return the dumped text or bytes; one that writes into a file is given an io.StringIO(), whose "
                "getvalue() is returned",
            )
        return dumped

    def _loaded(self, dumped: Any) -> Any:
        name = type(self).__name__
        try:
            loaded = self._called("load", dumped)
        except PASSED_ON:
            raise
        except Exception as error:
            failure = DivergenceError.after(
                self._current_op,
                f"after {self._current_op}, what was dumped cannot be loaded: {shown(dumped)} raises "
                f"{type(error).__name__}: {error}",
            )
            # The traceback of the error says where it was raised.
            raise failure.with_traceback(error.__traceback__) from error
        if loaded is None:
            raise MachineError(
                f"{name}.load() returned None", hint="make a new system, fill it from `dumped`, and return it"
            )
        if loaded is self.impl:
            raise MachineError(
                f"{name}.load() returned self.impl, which equals itself",
                hint="make a new system from `dumped`, and return it",
            )
        if self.reload and type(loaded) is not type(self.impl):
            raise MachineError(
                f"{name}.load() returned a {type(loaded).__name__}, and operations are written for a "
                f"{type(self.impl).__name__}",
                hint="write `reload = False` in the class body, so that it is compared alone",
            )
        return loaded
