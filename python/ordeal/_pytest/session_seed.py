"""Makes all chance in a pytest run follow one seed, each test by its node id, and says how to replay a failure.

All tests follow it if a seed was given, or with --chaos; otherwise only those that use ``ordeal_rng``. With -v, see
``plain_random``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from ordeal import seed
from ordeal._base.limits import SEED_MAX
from ordeal.buggify import DEFAULT_PROBABILITY
from ordeal.errors import ConfigError

if TYPE_CHECKING:
    from types import ModuleType

    from ordeal._pytest.global_generators import GlobalGenerators

# The key under which a controller of xdist sends its workers the seed, and they report whether they used it.
_KEY = "ordeal_seed"
_LAST = "ordeal/seed"
_OPTION = "--ordeal-seed"
_INI_KEY = "ordeal_seed"


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A seed, its source if that is worth reporting, and whether every test follows it."""

    seed: int
    origin: str
    every_test: bool


class SessionSeed:
    """The plugin of a pytest run that draws from a seed."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._worker_input: dict[str, Any] | None = getattr(config, "workerinput", None)
        self._chosen = _choose(config, self._worker_input)
        self._shown = self._used = False
        self._item: pytest.Item | None = None
        self._undo = ExitStack()
        self.notice_use()
        self._session = seed.enter_session(self._chosen.seed)
        # pytest-randomly, if it was given no seed, orders and seeds the tests from this one.
        is_free = getattr(config.known_args_namespace, "randomly_seed", None) == "default"
        if self._worker_input is None and self._chosen.every_test and is_free:
            config.option.randomly_seed = self._chosen.seed % 2**32

    # What follows the seed

    @property
    def every_test(self) -> bool:
        """Whether each test begins from the seed."""
        return self._chosen.every_test

    @cached_property
    def _generators(self) -> GlobalGenerators:
        module = importlib.import_module("ordeal._pytest.global_generators")
        options = self._config.option
        leave: set[str] = set()
        if options.chaos and options.chaos_seed is not None:
            leave |= module.CHAOS_SEEDED
        if getattr(options, "hypothesis_seed", None) is not None:
            leave.add("hypothesis")
        if _randomly_seed(self._config) is not None and getattr(options, "randomly_reset_seed", False):
            leave.add(module.REGISTERED)
        generators: GlobalGenerators = module.GlobalGenerators(leave=leave)
        return generators

    @property
    def seed(self) -> int:
        """The seed of this run."""
        return self._chosen.seed

    @staticmethod
    def own_name(item: pytest.Item) -> str:
        """Return the node id without the group that xdist appends in its workers."""
        marks = item.iter_markers("xdist_group")
        groups = {str(mark.args[0] if mark.args else mark.kwargs.get("name")) for mark in marks}
        return item.nodeid.removesuffix(f"@{'_'.join(sorted(groups))}")

    @contextmanager
    def _seeded(self, name: str) -> Iterator[None]:
        with self._generators.seeded(lambda generator: seed.derive(self._chosen.seed, generator, name)):
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Let a test module draw the same values on each import, so that the workers of xdist find the same tests."""
        if not self._chosen.every_test:
            return (yield)
        with self._seeded(f"collect {collector.nodeid}"):
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Start all generators for the test, so that it does not matter which tests ran before it, or where."""
        self._undo.close()
        self._item = None
        if self._chosen.every_test or "ordeal_rng" in getattr(item, "fixturenames", ()):
            self._begin(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, object, object]:
        """Restore all generators after the test: others may not be meant to follow the seed."""
        try:
            return (yield)
        finally:
            self._undo.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> Generator[None, object, object]:
        """Let a fixture shared by several tests draw by its own name, whichever test comes first."""
        if self._item is None or fixturedef.scope == "function":
            return (yield)
        with self._seeded(self.fixture_name(fixturedef, request)):
            return (yield)

    @staticmethod
    def fixture_name(fixturedef: pytest.FixtureDef[Any], request: Any) -> str:
        """Return the name by which a fixture draws that several tests share."""
        parameter = getattr(request, "param_index", 0)
        return f"fixture {request.node.nodeid} {fixturedef.argname} {parameter} {fixturedef.baseid}"

    def rng(self, item: pytest.Item) -> Any:
        """Return a ``random.Random`` for the test; from here on, all other generators follow the seed too."""
        if self._item is not item:
            self._begin(item)
        return seed.derived_rng(self._chosen.seed, "ordeal_rng", self.own_name(item))

    def _begin(self, item: pytest.Item) -> None:
        self._item = item
        self._undo.enter_context(self._seeded(f"test {self.own_name(item)}"))
        self._note_use()

    # Workers

    def send_to(self, node: Any) -> None:
        """Send the seed to an xdist worker."""
        node.workerinput[_KEY] = {"seed": f"{self._chosen.seed:#x}", "every_test": self._chosen.every_test}
        if self._chosen.every_test:
            self._note_use()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Receive whether a worker has used the seed; one that crashed does not say."""
        if getattr(node, "workeroutput", {}).get(_KEY):
            self._note_use()

    def pytest_sessionfinish(self) -> None:
        """Let a worker report whether it has used the seed."""
        self.notice_use()
        if self._worker_input is not None:
            self._config.workeroutput[_KEY] = self._used  # type: ignore[attr-defined]

    def notice_use(self) -> None:
        """Check whether a program has asked for the seed without a fixture."""
        if seed.asked() is not None:
            self._note_use()

    def _note_use(self) -> None:
        """Keep the seed for ``last`` at once: even a run that is killed may be repeated."""
        if self._used:
            return
        self._used = True
        cache = getattr(self._config, "cache", None)
        if cache is not None and self._worker_input is None:
            cache.set(_LAST, f"{self._chosen.seed:#x}")

    # Reports

    @cached_property
    def _words(self) -> ModuleType:
        # A run with nothing to report should not wait for this import.
        return importlib.import_module("ordeal._report.pytest_lines")

    def _line(self) -> str:
        return str(self._words.session_seed_line(self._chosen.seed, origin=self._chosen.origin))

    def pytest_report_header(self) -> str | None:
        """Say which seed the run follows, if all of it does."""
        if not self._chosen.every_test:
            return None
        self._shown = True
        return self._line()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add to a failure how to replay it."""
        report = yield
        if report.failed and item is self._item:
            self.add_replay(report, item)
        return report

    def add_replay(self, report: pytest.TestReport, item: pytest.Item) -> None:
        """Add to the failure of ``item`` how to repeat it. A saved seed says so itself."""
        if getattr(item, "says_how_to_replay", False):
            return
        path, *names = self.own_name(item).split("::")
        place = os.path.relpath(self._config.rootpath / path, self._config.invocation_params.dir)
        from_here = "::".join([place, *names])
        line = self._words.session_seed_replay(from_here, self._chosen.seed, options=self._options())
        # As part of the failure it is always shown, and written to JUnit's XML, even if captured output is not.
        add = getattr(report.longrepr, "addsection", lambda *section: report.sections.append(section))
        add("ordeal seed", line)

    def _options(self) -> list[str]:
        """Return the other options that the test must be run with."""
        options = self._config.option
        words = ["--chaos"] if options.chaos else []
        if options.buggify_prob != DEFAULT_PROBABILITY:
            words.append(f"--buggify-prob={options.buggify_prob:g}")
        seeds = {"chaos": options.chaos_seed, "hypothesis": getattr(options, "hypothesis_seed", None)}
        randomly = _randomly_seed(self._config)
        if randomly != self._chosen.seed % 2**32:
            seeds["randomly"] = randomly
        return words + [f"--{name}-seed={number}" for name, number in seeds.items() if number is not None]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which seed was used if the header did not, except in a quiet run in which nothing failed."""
        failed = terminalreporter.stats.get("failed") or terminalreporter.stats.get("error")
        if self._used and not self._shown and (failed or self._config.get_verbosity() >= 0):
            terminalreporter.line(self._line())

    def pytest_unconfigure(self) -> None:
        """Restore everything."""
        self._undo.close()
        seed.leave_session(self._session)


make_plugin = SessionSeed


# Where the seed is from


def _choose(config: pytest.Config, worker_input: dict[str, Any] | None) -> _Chosen:
    """Return the seed of the run; a worker of xdist uses its controller's.

    Raises:
        UsageError: the given text is not a seed, or no earlier one is known.
    """
    sent = None if worker_input is None else worker_input.get(_KEY)
    if sent is not None:
        return _Chosen(int(sent["seed"], 16), "", sent["every_test"])
    given = _given(config)
    if given is None or given[1] == seed.FRESH:
        # That of another option for the whole run, else a new one.
        options = config.option
        known = [seed.asked(), options.chaos_seed if options.chaos else None, _randomly_seed(config)]
        number = next((each % (SEED_MAX + 1) for each in known if each is not None), None)
        chosen = seed.fresh() if number is None else number
        return _Chosen(chosen, "", every_test=given is not None or bool(options.chaos))
    source, text = given
    try:
        number = _last(config) if text == seed.LAST else seed.parse(text)
    except ConfigError as error:
        wrong = seed.wrong_variable(source, error) if source in seed.VARIABLES else error
        raise pytest.UsageError(f"{'' if wrong is not error else f'{source}: '}{wrong}") from None
    origin = "" if source == _OPTION else source
    if text == seed.LAST:
        origin = "the last run"
    elif seed.is_commit(text):
        origin = f"commit {text.strip().lower()}"
    return _Chosen(number, origin, every_test=True)


def _given(config: pytest.Config) -> tuple[str, str] | None:
    """Return what was given as a seed, as (where, text)."""
    option = config.option.ordeal_seed
    if option is not None:
        return _OPTION, option
    setting = str(config.getini(_INI_KEY)).strip()
    return seed.environment() or ((_INI_KEY, setting) if setting else None)


def _last(config: pytest.Config) -> int:
    cache = getattr(config, "cache", None)
    if cache is None:
        raise ConfigError(
            "`last` is kept in pytest's cache, which is switched off",
            hint="leave out `-p no:cacheprovider`, or write the seed that the last run has printed",
        )
    kept = cache.get(_LAST, None)
    if not isinstance(kept, str):
        raise ConfigError("no last seed is known", hint=f"write `{_OPTION}={seed.FRESH}` for a first one")
    return seed.parse(kept)


# With pytest-randomly


def _randomly_seed(config: pytest.Config) -> int | None:
    """Return the seed of pytest-randomly, None when it has none yet or is not installed."""
    number = getattr(config.option, "randomly_seed", None)
    return number if type(number) is int else None
