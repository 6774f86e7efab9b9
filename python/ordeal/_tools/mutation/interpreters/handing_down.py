"""Lets the interpreters that tests start meet a mutant also where a test gives them another environment."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ordeal._tools.mutation.interpreters import sitecustomize
from ordeal._tools.mutation.interpreters.sitecustomize import LINES, MUTANT, TREE, WATCHED

_PATH = "PYTHONPATH"


def begins_with_ours(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that make interpreters run our ``sitecustomize``."""
    path = [str(Path(sitecustomize.__file__).parent), environment.get(_PATH, "")]
    return {_PATH: os.pathsep.join(filter(None, path))}


#: The functions that start a program, and which of their arguments is its environment. All others call one of these, or
#: leave the environment as it is.
_STARTS: tuple[tuple[Any, str, int], ...] = (
    (subprocess.Popen, "__init__", 11),
    (os, "execve", 2),
    (os, "posix_spawn", 2),
    (os, "posix_spawnp", 2),
)


def hand_down() -> None:
    """Make interpreters that this process and its forks start by ``subprocess`` or ``os`` run our ``sitecustomize``."""
    for place, name, at in _STARTS:
        if hasattr(place, name):
            setattr(place, name, _handing_down(getattr(place, name), at))


def _handing_down[**P, T](original: Callable[P, T], at: int) -> Callable[P, T]:
    """Return a function whose argument ``env``, the one at ``at``, gets what our ``sitecustomize`` needs."""

    @functools.wraps(original)
    def begin(*given: Any, **named: Any) -> Any:
        if len(given) > at:
            given = (*given[:at], environment_of(given[at]), *given[at + 1 :])
        else:
            named["env"] = environment_of(named.get("env"))
        return original(*given, **named)

    return begin


def environment_of(given: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    """Return an environment with what our ``sitecustomize`` needs; the given one if it has that, or needs none."""
    found = os.environ if given is None else given
    sent = {name: os.environ[name] for name in (LINES, WATCHED, MUTANT, TREE) if name in os.environ}
    if not sent or not all(isinstance(each, str) for pair in found.items() for each in pair):
        return given
    ours = str(Path(sitecustomize.__file__).parent)
    if ours in found.get(_PATH, "").split(os.pathsep) and all(found.get(name) == text for name, text in sent.items()):
        return given
    return {**found, **sent, **begins_with_ours(found)}
