"""Exhaustive generation: a test runs once for every combination of its choices, instead of for random ones.

A loop over ``Gen()`` runs its body for the first combination, then for the next, in lexicographic order, until there
is none left. Choices may depend on earlier ones. The first failure is small, because smaller ones came before it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn, cast, overload

from hypothesis.errors import UnsatisfiedAssumption
from hypothesis.strategies import SearchStrategy

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._base.limits import COUNT_MAX
from ordeal._hypothesis.draws import Draw, compile_draw
from ordeal._hypothesis.internals import REJECTED
from ordeal._hypothesis.run_context import RunContext
from ordeal.errors import GenerationError, Incomplete, InfiniteStrategyError, NonDeterministicGeneration
from ordeal.exhaustive.enumerable import EnumerableSource, make_enumerable
from ordeal.exhaustive.text import failing_case, report_cases

__all__ = ["Gen", "GenerationError", "Incomplete", "NonDeterministicGeneration", "test"]

LIMIT = 1_000_000
DONE, LIMIT_REACHED, FEWER = 1, 2, 3

HINTS = {
    "index": "write `g.index(n)` with a whole number n of at least 1, for a number from 0 to n - 1",
    "range": "write `g.range(low, high)` with whole numbers, low <= high; both ends are included",
    "pick": "write `g.pick(items)` with a list, a tuple or another sequence that is not empty",
    "choose": "write `g.choose(items)` with what can be iterated over, is not empty and has an order: sort a set first",
    "subset": "write `g.subset(items)` with what can be iterated over and has an order: sort a set first",
    "shuffle": "write `g.shuffle(items)` with a list, which is put into each of its orders",
}


class Gen(_native.Choices):
    """All combinations of the choices that the body of a loop makes: ``for g in Gen(): ...``.

    Choices: ``index(n)`` is a number from 0 to n - 1, ``range(low, high)`` one from low to high, ``bool()`` False or
    True, ``pick(sequence)`` and ``choose(iterable)`` one of the items, ``subset(iterable)`` a list of some of them,
    ``shuffle(list)`` puts the list into one of its orders, and ``of(strategy)`` is a value of a Hypothesis strategy.

    An exception that leaves the loop gets a note with the choices of its case, so that ``Gen.replay`` can run it alone.

    Args:
        limit: the number of cases after which it ends with ``Incomplete`` if there are more.

    Raises:
        GenerationError: an argument, or that of a choice, is invalid.
        Incomplete: there are more cases than the limit.
        NonDeterministicGeneration: a case made other choices than an earlier one with the same beginning.
    """

    __slots__ = ("_case", "_drops", "_limit", "_odometer", "_plain", "_replayed", "_run", "_source")

    def __init__(self, *, limit: int = LIMIT) -> None:
        if type(limit) is not int or not 1 <= limit <= COUNT_MAX:
            hint = f"write a number of cases of at least 1, as `limit={LIMIT}`"
            raise GenerationError(f"limit is {limit!r}", hint=hint)
        self._limit = limit
        self._odometer = _native.Odometer(limit=limit)
        self._replayed: list[int] | None = None
        self._drops = False  # a case may be dropped in its middle, because it is a function
        self._source = EnumerableSource(self.index)
        self._plain: Any = SimpleNamespace(source=self._source)  # what a draw without Hypothesis needs of a run
        super().__init__(self._odometer)

    @classmethod
    def replay(cls, path: Sequence[int]) -> Gen:
        """Run the one case with the choices ``path``, as a failure shows them; further choices are the first ones.

        Raises, when the case runs:
            GenerationError: the test no longer makes these choices.
        """
        gen = cls()
        gen._replayed = _checked_path(path)
        return gen

    @property
    def path(self) -> list[int]:
        """The choices of this case so far, each as a number from 0."""
        return self._odometer.path

    @property
    def cases(self) -> int:
        """How many cases have ended."""
        return self._odometer.cases

    @property
    def rejected(self) -> int:
        """How many cases of a test function ``assume`` or a filter of ``of`` has rejected."""
        return self._odometer.dropped

    def of[Value](self, strategy: SearchStrategy[Value]) -> Value:
        """Draw a value of a Hypothesis strategy with finitely many values; simpler ones come first.

        Values that a filter rejects are skipped.

        Raises:
            GenerationError: it is not a strategy, or none of its values passes its filters.
            InfiniteStrategyError: it has infinitely many values.
        """
        __tracebackhide__ = True
        if not isinstance(strategy, SearchStrategy):
            raise GenerationError(f"of({strategy!r}) is not a strategy", hint="write for example `g.of(st.booleans())`")
        draw, filters = compile_draw(strategy)
        self._odometer.speak_for(self._odometer.site(1))
        try:
            return cast(Value, self._draw_valid(strategy, draw) if filters else draw(self._plain))
        except InfiniteStrategyError as error:
            shown = one_line(repr(strategy))
            raise InfiniteStrategyError(f"{shown} is not finite: {error.message}", hint=error.hint) from None
        finally:
            self._odometer.speak_for(0)

    def assume(self, condition: object) -> None:
        """Reject this case when ``condition`` is false: only in test functions, which can be left.

        Raises:
            GenerationError: the case is the body of a loop.
        """
        __tracebackhide__ = True
        if not self._drops:
            raise GenerationError("assume() cannot leave the body of a loop", hint="write `continue` there")
        if not condition:
            raise UnsatisfiedAssumption

    # -- values of strategies -----------------------------------------------------------------------------------------

    def _draw_valid(self, strategy: SearchStrategy[Any], draw: Draw) -> Any:
        """Draw a value that no filter rejects. A loop cannot leave its body, so it looks ahead for another value."""
        __tracebackhide__ = True
        odometer = self._odometer
        begin = odometer.position
        found, value = self._search(draw, begin)
        if found and (self._drops or not odometer.is_new(begin)):
            return value
        if found:
            odometer.hold(begin)
            odometer.release(odometer.retry(begin) and self._search(draw, begin)[0])
            return value
        if self._drops:
            raise UnsatisfiedAssumption
        raise GenerationError(
            f"no value of {one_line(repr(strategy))} passes its filters",
            hint="drop the filter, or draw only values that pass it",
        )

    def _search(self, draw: Draw, begin: int) -> tuple[bool, Any]:
        """Return the first value from here on that no filter rejects, if there is one."""
        __tracebackhide__ = True
        while True:
            run = RunContext(self._source)
            make_enumerable(run, self._source)
            try:
                return True, run.draw(draw)
            except REJECTED:
                if not self._odometer.retry(begin):
                    return False, None

    # -- reports of the compiled part ----------------------------------------------------------------------------------
    # Errors raised here are shown at the line of the test.

    def _begin(self) -> None:
        if self._replayed is None:
            self._odometer.restart()
        else:
            self._odometer.replay(self._replayed)

    def _ended(self, turn: int) -> None:
        __tracebackhide__ = True
        odometer = self._odometer
        if turn == LIMIT_REACHED:
            raise Incomplete(
                f"{self._limit:,} cases ran, and more exist that did not run",
                hint=f"raise the limit (`limit={10 * self._limit}`), or choose among less",
            )
        if turn == FEWER:
            self._changed(
                f"the case ended after {odometer.position} choices, where one with the same beginning made more",
                odometer.missing_site,
                None,
            )
        if self._replayed is not None and odometer.unused:
            self._misfits(f"the case ended after {odometer.position} of {len(self._replayed)} choices of the path")

    def _failed(self, error: BaseException) -> None:
        error.add_note(failing_case(self._odometer.path, in_test=self._drops))

    def _refuse(self, method: str, arguments: tuple[object, ...]) -> NoReturn:
        __tracebackhide__ = True
        given = one_line(", ".join(map(repr, arguments)))
        raise GenerationError(f"{method}({given}) leaves nothing to choose from", hint=HINTS[method])

    def _outside(self) -> NoReturn:
        __tracebackhide__ = True
        raise GenerationError("a choice was made outside of a case", hint="choose in the loop: `for g in Gen(): ...`")

    def _changed(self, message: str, first: tuple[str, int] | None, now: tuple[str, int] | None) -> NoReturn:
        __tracebackhide__ = True
        places = [f"{when} in {place[0]}:{place[1]}" for when, place in (("first", first), ("now", now)) if place]
        where = f" ({', '.join(places)})" if places else ""
        raise NonDeterministicGeneration(
            f"{message}{where}",
            hint="a case must be decided by its choices alone: not by time, chance, hash order or what earlier cases "
            "left",
        )

    def _misfits(self, message: str) -> NoReturn:
        __tracebackhide__ = True
        raise GenerationError(message, hint="the test has changed since the path was recorded: run all cases again")


def _checked_path(path: object) -> list[int]:
    if not isinstance(path, Sequence) or not all(isinstance(each, int) and 0 <= each <= COUNT_MAX for each in path):
        raise GenerationError(f"{path!r} is not a path of choices", hint="copy it from the failure, as in [3, 1, 4]")
    return list(path)


# -- test functions ---------------------------------------------------------------------------------------------------


@overload
def exhaustive_test(function: Callable[..., object], /) -> Callable[..., None]: ...


@overload
def exhaustive_test(
    *, limit: int = LIMIT, path: Sequence[int] | None = None
) -> Callable[[Callable[..., object]], Callable[..., None]]: ...


def exhaustive_test(
    function: Callable[..., object] | None = None,
    /,
    *,
    limit: int = LIMIT,
    path: Sequence[int] | None = None,
) -> Any:
    """Decorate a test function to run once for every combination of the choices that it makes with its argument ``g``.

    To pytest it is one test. Other arguments are fixtures, which all cases share. A case that ``g.assume`` or a
    filter of ``g.of`` rejects does not count.

    Args:
        function: the test; it takes an argument ``g``.
        limit: the number of cases after which the test fails with ``Incomplete`` when there are more.
        path: the choices of a failing case, to run that case alone.

    Raises:
        GenerationError: an argument cannot be used, or the function takes no ``g``.
    """

    def make() -> Gen:
        gen = Gen(limit=limit)
        if path is not None:
            gen._replayed = _checked_path(path)
        gen._drops = True
        return gen

    def decorate(function: Callable[..., object]) -> Callable[..., None]:
        return _all_cases(function, make)

    return decorate if function is None else decorate(function)


test = exhaustive_test


def _all_cases(function: Callable[..., object], make: Callable[[], Gen]) -> Callable[..., None]:
    make()  # A wrong argument is reported where the test is defined.
    name = getattr(function, "__name__", repr(function))
    if not callable(function):
        raise GenerationError(f"{name} is not a function", hint="write `@exhaustive.test` above a test function")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise GenerationError(
            f"{name} is a coroutine or a generator, whose body a call does not run",
            hint="decorate a plain function, which may call asyncio.run()",
        )
    signature = inspect.signature(function)
    kept = [parameter for parameter in signature.parameters.values() if parameter.name != "g"]
    if len(kept) == len(signature.parameters):
        raise GenerationError(f"{name} takes no argument `g`, so it has no choices", hint=f"write `def {name}(g): ...`")
    kept = [parameter for parameter in kept if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    wants_request = "request" in signature.parameters

    @functools.wraps(function)
    def run_all_cases(*arguments: Any, **fixtures: Any) -> None:
        __tracebackhide__ = True
        request = fixtures.get("request") if wants_request else fixtures.pop("request", None)
        gen, total = make(), None
        try:
            for g in gen:
                try:
                    function(*arguments, g=g, **fixtures)
                except UnsatisfiedAssumption:
                    g._odometer.drop()
            total = gen.cases
        finally:
            report_cases(request, gen.cases, total)
        if not gen.cases and gen.rejected:
            rejected = f"all {gen.rejected:,} cases were rejected, so nothing was tested"
            raise GenerationError(rejected, hint="check what `g.assume` asks for")

    request = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY)
    parameters = [*kept, *([] if wants_request else [request])]
    run_all_cases.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run_all_cases
