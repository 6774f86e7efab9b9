"""The options that pytest gets to collect the judging tests, over those of the project."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

#: The options of plugins that are not loaded, and whether they take a word.
_OF_OTHERS = (
    *(("--randomly-seed", True), ("--randomly-dont-reset-seed", False), ("--randomly-dont-reorganize", False)),
    *(("--randomly-dont-shuffle-modules", False), ("--random-order", False), ("--random-order-bucket", True)),
    *(("--random-order-seed", True), ("--forked", False)),
)


def pytest_arguments(tests: Sequence[str], place: Path) -> list[str]:
    """Return the arguments for pytest to collect tests, in order, in this process; its cache is in ``place``."""
    # Without its plugin, pytest would not know the options and settings of the cache, and tests would have none.
    found = ["-o", f"cache_dir={place / 'cache'}", "-p", "no:randomly", "-p", "no:random_order"]
    # A plugin that runs each test in a fork sees failures there, and we would not.
    found += ["-p", "no:pytest_forked", "-q"]
    # This process has imported ordeal before pytest could rewrite it as a plugin. pytest warns of that, and a project
    # may turn the warning into an error.
    found += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return [*found, *tests]


def switched_off(words: Sequence[str]) -> list[str]:
    """Return the plugins that these arguments ask for, or that act without any, and that are switched off here."""
    asked = [*words, *os.environ.get("PYTEST_ADDOPTS", "").split()]
    found = {
        "pytest-xdist": ("-n", "--numprocesses"),
        "pytest-cov": ("--cov",),
        "pytest-random-order": ("--random-order",),
        "pytest-forked": ("--forked",),
    }
    off = [name for name, begins in found.items() if any(each.startswith(begins) for each in asked)]
    return off + (["pytest-randomly"] if importlib.util.find_spec("pytest_randomly") else [])


class OwnOptions:
    """Lets options of plugins that are not loaded pass, and gives each process its own cache.

    A test may keep something there, and what it kept with one mutant is not for the next one.
    """

    def __init__(self) -> None:
        self._cache: Any = None
        os.register_at_fork(after_in_child=self._move)

    @pytest.hookimpl(wrapper=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> Any:
        """Switch coverage off, if its plugin is installed: it begins here."""
        if hasattr(early_config.known_args_namespace, "no_cov"):
            early_config.known_args_namespace.no_cov = True
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_main(self, config: Any) -> Any:
        """Make tests run in this process, over the options of xdist."""
        if hasattr(config.option, "numprocesses"):
            config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []
        return (yield)

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        """Accept the options of plugins that are not loaded: a project may give them to each run of its tests."""
        for name, takes_word in _OF_OTHERS:
            with suppress(ValueError):  # another plugin has it
                parser.addoption(name, action="store" if takes_word else "store_true", help="not used")

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: Any) -> None:
        """Keep the cache, to move it, and accept the mark of a plugin that is not loaded."""
        config.addinivalue_line("markers", "forked: run in a fork, by a plugin that is not loaded")
        self._cache = getattr(config, "cache", None)
        self._move()

    def _move(self) -> None:
        if self._cache is not None:
            self._cache._cachedir = Path(tempfile.gettempdir(), f"cache-{os.getpid()}")


_SETTINGS = "_hypothesis_internal_use_settings"
_MACHINE = "_hypothesis_state_machine_class"


def quieten(items: Iterable[Any]) -> None:
    """Change the settings of collected tests, whichever profile or decorator they came from.

    This waits until the tests are collected: a project that does not use Hypothesis pays no import of it, and one that
    does finds it imported by pytest, in pytest's own order.
    """
    if "hypothesis" not in sys.modules:
        return
    from hypothesis import HealthCheck, Phase, settings  # noqa: PLC0415 - only a suite that uses it needs it

    from ordeal._hypothesis.randoms import give_own_generator  # noqa: PLC0415

    give_own_generator()

    def quiet(parent: Any) -> settings:
        return settings(
            parent,
            database=None,
            deadline=None,
            derandomize=True,
            phases=[each for each in parent.phases if each in (Phase.explicit, Phase.generate, Phase.target)],
            suppress_health_check=list(HealthCheck),
        )

    name = "ordeal mutate"
    settings.register_profile(name, quiet(settings.default))
    settings.load_profile(name)
    for item in items:
        function = getattr(item, "function", None)
        if isinstance(found := getattr(function, _SETTINGS, None), settings):
            setattr(function, _SETTINGS, quiet(found))
        machine: Any = getattr(item, "cls", None)
        if hasattr(function, _MACHINE) and isinstance(found := getattr(machine, "settings", None), settings):
            machine.settings = quiet(found)
