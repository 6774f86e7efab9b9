"""Puts failures into Hypothesis' example database, so that pytest finds them at once without the Explorer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import Phase, Verbosity, settings
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import DidNotReproduce, HypothesisException

import ordeal._native as _native
from ordeal._base.formatting import describe_error, one_line
from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal._base.untrusted import type_name
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.driver import Driver
from ordeal._engine.export.lowering import Lowered, LoweringDriver
from ordeal._hypothesis.buggify_choices import BUGGIFY_ARGUMENT
from ordeal._hypothesis.internals import database_key, failure_types, reproducing_test, skip_types
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal.chaos import ChaosTest
from ordeal.errors import OrdealError

IN_MEMORY = "its example database is in memory, where other processes do not find it"


class DatabaseOutcome(msgspec.Struct, frozen=True):
    """The result of saving failures.

    ``saved`` counts those that a later pytest finds. ``reasons`` are sentences that say why it does not find the
    others.
    """

    saved: int
    reasons: tuple[str, ...]


class _NotSavedError(Exception):
    """A failure cannot be expressed in Hypothesis' terms; the message is the second half of a sentence."""


def save_to_database(driver: Driver, tapes: Sequence[_native.Tape]) -> DatabaseOutcome:
    """Save the failing runs ``tapes`` where ``TestCase`` of the machine's class looks for its failures.

    Each is run again, natively and by Hypothesis' own test, and saved if both fail the same way. Existing entries stay.
    Do not call this during a run, as it makes machines and switches faults.
    """
    shelf = _Shelf(driver)
    saved = 0
    reasons: list[str] = []
    for tape in tapes:
        try:
            shelf.save(tape)
            saved += 1
        except _NotSavedError as why:
            reasons.append(f"Hypothesis alone does not find {shelf.failure}: {why}.")
        except KeyboardInterrupt:
            if not driver.isolated:
                raise
            reasons.append(f"Hypothesis alone does not find {shelf.failure}: KeyboardInterrupt ends it.")
    return DatabaseOutcome(saved, tuple(dict.fromkeys(reasons)))


class _Shelf:
    """The failures of one class in the database of its ``TestCase``. Not thread-safe, because its driver is not.

    Attributes:
        failure: describes the failure saved last.
    """

    def __init__(self, driver: Driver) -> None:
        self.failure = ""
        self._driver = driver
        self._cls = driver.definition.cls
        self._bucketer = Bucketer([])

    def save(self, tape: _native.Tape) -> None:
        """Save ``tape``. Raises _NotSavedError."""
        self.failure = f"what fails in {self._cls.__name__}"
        try:
            if self._driver.factory is not self._cls:
                raise _NotSavedError(
                    "a function makes the machines, and Hypothesis knows a failure by the class of a TestCase"
                )
            rules = (*self._driver.definition.rules, *self._driver.definition.initializers)
            if any(rule.is_coroutine for rule in rules) and not issubclass(self._cls, ChaosTest):
                raise _NotSavedError("it has coroutine rules, and without the Explorer only a ChaosTest runs those")
            database = self._settings.database
            if database is None:
                raise _NotSavedError("the settings of its TestCase have no example database")
            if Phase.reuse not in self._settings.phases:
                raise _NotSavedError("the settings of its TestCase leave out the phase that reads the example database")
            with GlobalRandoms().managed():
                lowered = LoweringDriver(self._driver).run(tape)
            self._check(lowered, tape)
            key = database_key(self._cls)
        except OrdealError as error:
            raise _NotSavedError(one_line(error.message)) from error
        except HypothesisException as error:
            raise _NotSavedError(one_line(str(error))) from error
        except skip_types() as error:
            raise _NotSavedError("it asks to be skipped") from error
        value = choices_to_bytes(lowered.choices)
        try:
            # The class of the database may be the user's own.
            database.save(key, value)
            # Hypothesis' databases raise no error when a folder cannot be written, so look for the entry.
            is_there = value in database.fetch(key)
        except Exception as error:
            raise _NotSavedError(f"its example database raised {describe_error(error)}") from error
        if not is_there:
            raise _NotSavedError("its example database cannot be written")
        if isinstance(database, InMemoryExampleDatabase):
            raise _NotSavedError(IN_MEMORY)

    def _check(self, lowered: Lowered, tape: _native.Tape) -> None:
        """Check that Hypothesis' own test fails the same way."""
        if lowered.error is None:
            number = self._driver.definition.argument_names.index(BUGGIFY_ARGUMENT)
            if any(argument == number and any(acts) for *_, drawn in tape.steps() for argument, acts in drawn):
                raise _NotSavedError("it needs a buggify point, and those act only under the Explorer")
            raise _NotSavedError("it does not fail each time")
        bucket = self._bucketer.bucket(lowered.error)
        self.failure = bucket
        steps_max = self._settings.stateful_step_count
        if lowered.steps > steps_max:
            raise _NotSavedError(
                f"it takes {lowered.steps} steps, and the settings of {self._cls.__name__}.TestCase end a run "
                f"after {steps_max} (stateful_step_count)"
            )
        if lowered.timed_out:
            # The run must also end under Hypothesis, where only a ChaosTest times its rules, and nothing else.
            definition, place = self._driver.definition, lowered.timed_out
            if place not in {rule.name for rule in (*definition.rules, *definition.initializers)}:
                raise _NotSavedError(f"{place} took too long, and without the Explorer only rules are timed")
            limit = self._cls.rule_timeout if issubclass(self._cls, ChaosTest) else 0.0
            if not 0 < limit <= self._driver.rule_timeout:
                seconds = f"{self._driver.rule_timeout:g} s"
                raise _NotSavedError(f"rule {place} took longer than {seconds}, which the class itself allows")
            if isinstance(lowered.error, RuleTimeoutError):
                # Not run again: it would only wait as long again.
                return
        unseen = settings(self._settings, verbosity=Verbosity.quiet)
        failed: BaseException | None = None
        try:
            reproducing_test(self._cls, lowered.choices, unseen)()
        except DidNotReproduce:
            pass  # it passes, or needs other choices
        except failure_types() as error:
            failed = error
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise _NotSavedError(f"{type_name(type(error))} ends Hypothesis itself") from error
        else:
            raise AssertionError("Hypothesis raises for every result of a reproduction")
        if failed is None or self._bucketer.bucket(failed) != bucket:
            raise _NotSavedError("it does not fail the same way when Hypothesis runs it")

    @property
    def _settings(self) -> settings:
        # Users may assign anything.
        found: object = self._cls.TestCase.settings
        if not isinstance(found, settings):
            raise _NotSavedError(f"{self._cls.__name__}.TestCase.settings is {found!r}, which is not a settings object")
        return found
