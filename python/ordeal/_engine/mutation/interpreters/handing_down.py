"""Lets the interpreters that tests start meet a mutant also where a test gives them an environment of its own."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ordeal._engine.mutation.interpreters import sitecustomize
from ordeal._engine.mutation.interpreters.sitecustomize import LINES, MUTANT, WATCHED

_PATH = "PYTHONPATH"


def begins_with_ours(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return what has the interpreters of an environment begin with our ``sitecustomize``."""
    path = [str(Path(sitecustomize.__file__).parent), environment.get(_PATH, "")]
    return {_PATH: os.pathsep.join(filter(None, path))}


def hand_down() -> None:
    """Have what this process and its forks start begin with our ``sitecustomize``: by ``subprocess`` or ``os``."""
    original = subprocess.Popen.__init__

    @functools.wraps(original)
    def begin(self: Any, args: Any, *given: Any, **named: Any) -> None:
        if len(given) < _BEFORE_ENVIRONMENT:
            named["env"] = environment_of(named.get("env"))
        original(self, args, *given, **named)

    subprocess.Popen.__init__ = begin  # type: ignore[method-assign]
    # All others of ``os`` call one of these, or leave the environment as it is.
    for name in ("execve", "posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            setattr(os, name, _handing_down(getattr(os, name)))


#: How many arguments stand between the command and its environment; nobody gives that by its place.
_BEFORE_ENVIRONMENT = 10


def _handing_down[**P, T](original: Callable[P, T]) -> Callable[P, T]:
    """Return a function of ``os`` whose third argument, an environment, gets what our ``sitecustomize`` needs."""

    @functools.wraps(original)
    def begin(*given: Any, **named: Any) -> Any:
        if "env" in named:
            named["env"] = environment_of(named["env"])
        elif len(given) > 2:
            given = (*given[:2], environment_of(given[2]), *given[3:])
        return original(*given, **named)

    return begin


def environment_of(given: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    """Return an environment with what our ``sitecustomize`` needs; the given one if it has that, or needs none."""
    found = os.environ if given is None else given
    told = {name: os.environ[name] for name in (LINES, WATCHED, MUTANT) if name in os.environ}
    if not told or not all(isinstance(each, str) for pair in found.items() for each in pair):
        return given
    ours = str(Path(sitecustomize.__file__).parent)
    if ours in found.get(_PATH, "").split(os.pathsep) and all(found.get(name) == text for name, text in told.items()):
        return given
    return {**found, **told, **begins_with_ours(found)}
