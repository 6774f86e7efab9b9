"""Hypothesis settings that can be changed one by one, as in ``TestTrees.settings.max_examples = 100``."""

from __future__ import annotations

import inspect
import math
import warnings
from difflib import get_close_matches

from hypothesis import settings

from ordeal.errors import ConfigError

_TIMEOUT = "timeout"


class MutableSettings(settings):
    """Settings that accept assignments. A run uses them ``frozen``.

    Attributes:
        timeout: seconds after which no new example begins, unless one has failed; 0 or less is no limit. Hypothesis
            itself no longer has this setting.
    """

    timeout: float = 0.0

    def __init__(self, parent: settings) -> None:
        super().__init__(parent)
        self._frozen = parent

    def __setattr__(self, name: str, value: object) -> None:
        """Set one of the settings.

        Raises:
            ConfigError: there is no such setting, or the timeout is no number.
            hypothesis.errors.InvalidArgument: the value cannot be used.
        """
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif name == _TIMEOUT:
            vars(self)[_TIMEOUT] = _checked_timeout(value)
        elif name not in _names():
            close = get_close_matches(name, [*_names(), _TIMEOUT], n=1)
            raise ConfigError(
                f"`{name}` is no setting", hint=f"did you mean `{close[0]}`?" if close else f"one of {_listed()}"
            )
        else:
            # Not of this object: settings ask their parent for what they leave out.
            self._frozen = settings(self._frozen, **{name: value})  # type: ignore[arg-type]
            vars(self).update(vars(self._frozen))

    @property
    def frozen(self) -> settings:
        """Return the present settings, which nothing changes any more."""
        return self._frozen


def _names() -> list[str]:
    return [name for name in inspect.signature(settings).parameters if name != "parent"]


def _listed() -> str:
    return ", ".join(f"`{name}`" for name in _names())


def _checked_timeout(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ConfigError(f"timeout is {value!r}, which is no number of seconds", hint="write `settings.timeout = 60`")
    warnings.warn(
        "settings.timeout is no setting of Hypothesis any more; here no new example begins once the time is up. "
        "Set max_examples instead, or explore for a time: Explorer(...).run(max_time=60)",
        DeprecationWarning,
        # The line of the assignment, above __setattr__.
        stacklevel=3,
    )
    return float(value)
