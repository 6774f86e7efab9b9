"""The figures of a profile: measured in another process, and compared with a baseline."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted, one_line
from ordeal._base.interpreter import answer_of
from ordeal._base.limits import GRACE_SECONDS, INPUT_BYTES_MAX
from ordeal._base.regular_file import read_regular
from ordeal._base.trace_file import Trace, versions_now
from ordeal._engine.execution.class_path import is_trusted
from ordeal._tools.profile.growth import SHAPES, Growth
from ordeal.errors import ConfigError


class StepFigures(msgspec.Struct):
    """The totals of all calls of one step; ``latency`` is p50, p90 and p99 of the simulated seconds of a call.

    If the same runs give other figures when they are made again, only ``calls`` is set.
    """

    calls: int = 0
    instructions: int | None = None
    allocations: int | None = None
    latency: tuple[float, float, float] | None = None
    growth: Growth = Growth()


class Leak(msgspec.Struct, frozen=True):
    """Objects that the same runs leave behind each time: where they are made, how many, and how large they are."""

    place: str
    objects: int
    bytes: int


class TestProfile(msgspec.Struct):
    """The figures of one class or simulated test.

    Attributes:
        events: what the simulated loops did: callbacks, timers and steps of tasks.
        messages: what was sent over the simulated network.
        leaks: None if they were not looked for.
        error: why there are no figures, with a ``hint``.
    """

    __test__ = False

    test: str
    seed: int = 0
    runs: int = 0
    steps: int = 0
    events: int = 0
    messages: int = 0
    figures: dict[str, StepFigures] = {}
    leaks: list[Leak] | None = None
    error: str = ""
    hint: str = ""


class ProfileReport(msgspec.Struct):
    """A report of ``ordeal profile``, which is also the baseline of a later one; it cannot judge ``not_compared``."""

    profiles: list[TestProfile]
    findings: list[str] = []
    not_compared: list[str] = []
    versions: dict[str, str] = msgspec.field(default_factory=versions_now)
    schema_version: int = JSON_SCHEMA_VERSION
    tool: str = "profile"


def measured(test: str, trace: Trace | None, *, runs: int, seed: int, memory: bool, seconds: float) -> TestProfile:
    """Return the profile of a class or a simulated test, or of the ``trace`` of one; it runs in another process."""
    request: dict[str, Any] = {"test": test, "trace": trace.to_request() if trace else None, "runs": runs, "seed": seed}
    request |= {"memory": memory, "trusted": is_trusted(test)}
    # Sets get the same order each time.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    try:
        data = answer_of(
            "ordeal._tools.profile.child",
            request,
            seconds=seconds + GRACE_SECONDS,
            folder=Path.cwd(),
            environment=environment,
        )
        return msgspec.json.decode(data, type=TestProfile)
    except (OSError, ValueError) as error:
        return TestProfile(test, error=one_line(str(error)), hint=f"`ordeal explore {test}` shows what ends it")


def read_baseline(path: str) -> ProfileReport:
    """Return an earlier report.

    Raises:
        ConfigError: there is none, or its figures come from other versions of Python or Hypothesis.
    """
    name, hint = one_line(path), "name a file that `ordeal profile --json` printed"
    try:
        found = msgspec.json.decode(read_regular(Path(path), INPUT_BYTES_MAX), type=ProfileReport)
    except OSError as error:
        raise ConfigError(f"cannot read the baseline {name}: {error.strerror or error}", hint=hint) from None
    except (msgspec.MsgspecError, RecursionError):
        found = None
    if found is None or found.tool != "profile":
        raise ConfigError(f"{name} is not a report of `ordeal profile`", hint=hint)
    now = versions_now()
    if other := [each for each in ("python", "hypothesis") if found.versions.get(each) != now.get(each)]:
        message = f"the baseline {name} was made with another {' and '.join(other)}"
        raise ConfigError(message, hint="make it again: instructions differ between versions")
    return found


def findings(now: TestProfile, before: TestProfile | None, *, budget: float, slowest: str, leaks: int) -> Iterator[str]:
    """Yield what is wrong with a profile: errors, leaks, fast growth, and what exceeds an earlier one by ``budget`` %.

    As many ``leaks`` pass, and growth that was there before.
    """
    if now.error:
        yield f"{now.test}: {now.error}"
    tolerated = {each.place: each.objects for each in (before.leaks if before is not None else ()) or ()}
    found = [each for each in now.leaks or () if each.objects > tolerated.get(each.place, 0) * (1 + budget / 100)]
    for leak in found if len(found) > leaks else ():
        what = f"{counted(leak.objects, 'object')} ({leak.bytes:,} bytes)"
        yield f"{now.test}: the same runs leave {what} behind each time, made at {leak.place}"
    known = before.figures if before is not None else {}
    same = before is not None and _steps_of(before) == _steps_of(now)
    for name, figures in now.figures.items():
        old = known.get(name)
        grows, allowed = ((*SHAPES,).index(each) if each else -1 for each in (figures.growth.name, slowest))
        if grows > allowed and (old is None or old.growth.name != figures.growth.name):
            yield f"{now.test}: `{name}` is {figures.growth.name} in {figures.growth.of}"
        if not same or old is None:
            continue
        for what in ("instructions", "allocations"):
            least, most = getattr(old, what), getattr(figures, what)
            if most is not None and least is not None and most > least * (1 + budget / 100):
                yield f"{now.test}: `{name}` takes {most:,} {what}, {least:,} before"
        if old.latency and figures.latency and figures.latency[-1] > old.latency[-1] * (1 + budget / 100):
            yield f"{now.test}: `{name}` takes {figures.latency[-1]:g} simulated s at p99, {old.latency[-1]:g} before"


def unlike(now: Sequence[TestProfile], before: ProfileReport) -> Iterator[str]:
    """Yield the tests that an earlier report cannot judge: it lacks them, or they had other steps."""
    known = {each.test: _steps_of(each) for each in before.profiles}
    yield from (each.test for each in now if not each.error and known.get(each.test) != _steps_of(each))


def _steps_of(made: TestProfile) -> tuple[object, ...]:
    """Return what has to be the same in two profiles that are compared."""
    return made.seed, made.runs, frozenset(made.figures)
