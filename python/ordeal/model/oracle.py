"""The base of the oracles: machines that know what must hold, so that a user writes operations alone."""

from __future__ import annotations

from typing import Any, ClassVar

from ordeal._native import deep_copy
from ordeal.errors import DivergenceError, MachineError
from ordeal.model.call_result import Sides, materialized, same, shown
from ordeal.model.definition import Hook, maker
from ordeal.model.operation import PASSED_ON, OperationMachine, operations_of

VIEW = Hook("view", ("impl",), "view = list", "return impl.items()")
_IDENTITY: Any = object.__eq__
_OP_HINT = "write `@op(key=st.integers())` above `def put(self, key): self.impl.put(key)`"


def _itself(impl: Any) -> Any:
    return impl


class Oracle(OperationMachine):
    """A rule machine that decides without a model whether a system works, by rules for all systems of its kind.

    Set ``impl`` in the class body to what makes the system: a class or a function without arguments. During a run,
    ``self.impl`` is the system. Write each operation as a method under ``@op`` that does something to it.
    """

    impl: Any = None
    """Makes the system under test; on a machine, the system."""

    view: Any = staticmethod(_itself)
    """Returns what can be seen of a system, equal for equal ones: ``view = list``, or ``def view(self, impl):``.

    By default it is the system itself, which must then be equal to another one of the same content.
    """

    #: The functions that a user gives, and those that must be given.
    _hooks: ClassVar[tuple[Hook, ...]] = (VIEW,)
    _required: ClassVar[tuple[Hook, ...]] = ()
    #: The rules that the oracle adds. An operation of the same name would replace it.
    _own_rules: ClassVar[tuple[str, ...]] = ()
    _sides: ClassVar[Sides]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raise MachineError if an attribute of the class body cannot be used."""
        for hook in cls._hooks:
            hook.adopt(cls)
        for name in cls._own_rules:
            if name in vars(cls) and not cls.__module__.startswith("ordeal.model."):
                oracle = next(base for base in cls.__mro__ if base.__module__.startswith("ordeal.model."))
                raise MachineError(
                    f"{cls.__name__}.{name} would replace the rule of {oracle.__name__} with that name",
                    hint="give it another name",
                )
        super().__init_subclass__(**kwargs)

    @classmethod
    def _check_class(cls) -> None:
        """Raise MachineError if the system, a function or all operations are missing."""
        super()._check_class()
        maker(cls, "impl", "write for example `impl = MyStore` in the class body")
        for hook in cls._required:
            hook.require(cls)
        if not operations_of(cls):
            raise MachineError(f"{cls.__name__} has no operation", hint=_OP_HINT)

    def __init__(self) -> None:
        """Raise MachineError if the class lacks something."""
        self._check_class()
        impl = maker(type(self), "impl", "")()
        super().__init__()
        self.impl = impl

    def equal(self, ours: Any, theirs: Any) -> bool:
        """Return True if two views count as equal; by default, see ``same``."""
        return same(ours, theirs)

    # -----------------------------------------------------------------------------------------------------------------
    # Looking at the system

    def _called(self, hook: str, *args: Any) -> Any:
        return self._awaited(getattr(self, hook)(*args))

    def _seen(self, impl: Any) -> Any:
        """Return the view of a system, checked, as it is now: nothing that it does later changes it."""
        seen = materialized(self._called("view", impl))
        if seen is None:
            raise MachineError(f"{type(self).__name__}.view() returned None", hint="return what can be seen of `impl`")
        if type(self).view is _itself and type(seen).__eq__ is _IDENTITY:
            raise MachineError(
                f"{type(self).__name__}.impl makes a {type(seen).__name__}, which is equal to nothing but itself",
                hint=VIEW.hint,
            )
        try:
            return deep_copy(seen, {})
        except PASSED_ON:
            raise
        except Exception as error:  # noqa: BLE001 - a copy may raise anything; it is reported
            raise MachineError(
                f"{type(self).__name__}.view() returned {shown(seen)}, which cannot be copied: {error}",
                hint="return lists, dictionaries, texts and numbers",
            ) from None

    def _differ(self, what: str, ours: Any, theirs: Any, *, operation: str | None = None) -> DivergenceError:
        """Return the error for two views that differ."""
        return DivergenceError.after(
            self._current_op if operation is None else operation,
            f"{what}: {self._sides.ours} shows {shown(ours)}, but {self._sides.theirs} shows {shown(theirs)}"
            f"{self._sides.describe_difference(ours, theirs)}",
        )
