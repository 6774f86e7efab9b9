"""The pytest plugin of ordeal: options, a marker, a fixture, and the loading of what a run needs.

It is outside the package and imports only pytest and the standard library, because pytest loads it for every project in
an environment. What replays seeds or counts properties is imported once a run needs it.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import math
import os
import random
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CONFIG_FILE = "ordeal.toml"
_CONFIG_BYTES_MAX = 2**20
CORPUS_DIR = ".ordeal/seeds"
STORE_VARIABLE = "ORDEAL_STORE"
BUGGIFY_PROBABILITY = 0.1
CHAOS_SEED_MAX = 2**64 - 1
SKIP_REASON = "chaos tests require --chaos flag"
#: pytest imports this module before any code of the project.
_RANDOM_FIRST = random.getstate()


# Options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the command line options and the ini key."""
    group = parser.getgroup("ordeal", "ordeal")
    group.addoption(
        "--chaos",
        action="store_true",
        help="Run tests marked `chaos`, with buggify on and properties tracked (default: skip them)",
    )
    group.addoption(
        "--chaos-seed",
        type=_CHAOS_SEED,
        metavar="INT",
        help="Seed of Hypothesis, buggify and the random generators (default: they follow --ordeal-seed)",
    )
    group.addoption(
        "--buggify-prob",
        type=_PROBABILITY,
        default=BUGGIFY_PROBABILITY,
        metavar="FLOAT",
        help=f"Probability that a buggify point acts, from 0 to 1 (default: {BUGGIFY_PROBABILITY})",
    )
    group.addoption(
        "--rule-timeout",
        type=_SECONDS,
        metavar="FLOAT",
        help="Seconds after which a rule of a ChaosTest ends, 0 for no limit (default: what the class says)",
    )
    group.addoption(
        "--no-ordeal-seeds",
        action="store_true",
        help=f"Do not replay the saved seeds (default: replay all in {CORPUS_DIR})",
    )
    group.addoption(
        "--simulate",
        action="store_true",
        help="Run the async tests of pytest-asyncio and anyio in simulated time: 10 schedules each, 200 with --chaos",
    )
    group.addoption(
        "--simulate-faults",
        metavar="FAULTS",
        help="What strikes the tests of --simulate, such as `cancel,stall` or `stall=0.5` (default: nothing)",
    )
    group.addoption(
        "--e2e",
        action="store_true",
        help="Run the tests of @simulate.e2e, which send commands to the program in real time (default: skip them)",
    )
    group.addoption(
        "--ordeal-seed",
        metavar="SEED",
        help="Have all chance follow this number, git commit, `last` seed or `fresh` one (default: only `ordeal_rng`)",
    )
    parser.addini("ordeal_seeds", "Replay the saved seeds of ordeal in every run", type="bool", default=True)
    parser.addini("ordeal_simulate_faults", "What --simulate-faults is when it is not given", default="")
    parser.addini(
        "ordeal_seed", "What --ordeal-seed is when neither it nor ORDEAL_SEED or TEST_SEED is given", default=""
    )


def _checked(read: Callable[[str], Any], is_right: Callable[[Any], bool], what: str, example: str) -> Any:
    """Return what reads the number of an option, and refuses any other text."""

    def parse(text: str) -> Any:
        with contextlib.suppress(ValueError):
            number = read(text)
            if is_right(number):
                return number
        raise argparse.ArgumentTypeError(f"`{text}` is not {what}; write for example `{example}`")

    return parse


_CHAOS_SEED = _checked(
    int, lambda number: 0 <= number <= CHAOS_SEED_MAX, "a whole number from 0 to 2**64 - 1", "--chaos-seed 42"
)
_PROBABILITY = _checked(
    float, lambda number: 0 <= number <= 1, "a number from 0 to 1", f"--buggify-prob {BUGGIFY_PROBABILITY}"
)
_SECONDS = _checked(float, lambda number: 0 <= number < math.inf, "a number of seconds, 0 or more", "--rule-timeout 5")


# Start


def pytest_configure(config: pytest.Config) -> None:
    """Find out what this run has to do, and load what is needed."""
    config.addinivalue_line("markers", "chaos: runs only with --chaos")
    if config.getoption("help") or config.getoption("markers"):
        return
    chaos = bool(config.getoption("chaos"))
    seeds = bool(config.getini("ordeal_seeds")) and not config.getoption("no_ordeal_seeds")
    projects = {folder: _settings(config, folder, chaos, seeds) for folder in _folders(config)}
    timeout_s = config.getoption("rule_timeout")
    if timeout_s is None:
        limits = (_setting(settings, "explorer", "rule_timeout") for settings in projects.values())
        timeout_s = next((limit_s for limit_s in limits if limit_s is not None), None)
    if timeout_s is not None:
        config.pluginmanager.register(RuleTimeouts(timeout_s), "ordeal_rule_timeouts")
    mode = next((mode for mode in (_setting(each, "explorer", "outside") for each in projects.values()) if mode), None)
    if mode is not None:
        importlib.import_module("ordeal._base.outside").outside.mode = mode
    stores = _stores(projects) if seeds else {}
    corpora = _corpora(projects, stores) if seeds else []
    if corpora:
        known = {folder: _setting(settings, "explorer", "known") or [] for folder, settings in projects.items()}
        _register(config, "seeds", config, corpora, stores, known)
    faults = config.getoption("simulate_faults")
    if config.getoption("simulate"):
        _register(config, "simulated_items", str(config.getini("ordeal_simulate_faults")) if faults is None else faults)
    elif faults is not None:
        raise pytest.UsageError("--simulate-faults strikes nothing\nhint: add --simulate, whose tests it strikes")
    if chaos:
        _register(config, "chaos", config)
        _register(config, "machine_checks")
    names_random = config.get_verbosity() > 0 and not config.getoption("collectonly")
    if chaos or names_random or _is_seeded(config):
        seed = _session_seed(config)
        if names_random and not seed.every_test:
            _register(config, "plain_random", seed, _RANDOM_FIRST)


def _folders(config: pytest.Config) -> list[Path]:
    """Return the folders that may be a project of this run: those from where it starts up to the rootdir.

    It starts in the current folder, and in each folder that the command line names. The nearest comes first, the
    rootdir last. Where none of them is one, it is the nearest above: pytest knows no rootdir without its own settings.
    """
    root, here = config.rootpath, config.invocation_params.dir
    places = [Path(os.path.normpath(here / argument.partition("::")[0])) for argument in config.args]
    # pytest reports what is wrong with its arguments.
    named = [place if os.path.isdir(place) else place.parent for place in places]  # noqa: PTH112
    folders: dict[Path, None] = {}
    for start in dict.fromkeys([here, *named]):
        way = [start, *start.parents]
        # Outside the rootdir only the folder itself counts, not all of its parents.
        folders |= dict.fromkeys(way[: way.index(root)] if root in way else [start])
    above = [] if _is_project(root) else [_project_above(start) for start in dict.fromkeys([root, here])]
    return [*folders, root, *filter(None, above)]


def _project_above(start: Path) -> Path | None:
    """Return the nearest project above ``start``, unless another user owns it: whose seeds may run anything."""
    above = next(filter(_is_project, start.parents), None)
    return above if above is not None and above.stat().st_uid == start.stat().st_uid else None


def _is_project(folder: Path) -> bool:
    return any((folder / name).exists() for name in (CONFIG_FILE, CORPUS_DIR, "pyproject.toml", ".git"))


def _stores(projects: dict[Path, dict[str, Any]]) -> dict[Path, tuple[str, list[str]]]:
    """Return the projects with a store, each with its address and the classes whose failures are read from it.

    The environment comes first, as an address with a password belongs in no file.
    """
    stores = {}
    for folder, settings in projects.items():
        url = os.environ.get(STORE_VARIABLE) or _setting(settings, "fleet", "store")
        tests = settings.get("tests")
        entries = [each for each in tests if isinstance(each, dict)] if isinstance(tests, list) else []
        classes = [each["class"] for each in entries if isinstance(each.get("class"), str)]
        if url and classes:
            stores[folder] = url, classes
    return stores


def _corpora(
    projects: dict[Path, dict[str, Any]], stores: dict[Path, tuple[str, list[str]]]
) -> list[tuple[Path, Path]]:
    """Return the projects that may have seeds, each with the folder of its seeds; outer ones come first.

    A folder of seeds shared by several belongs to the one that has a configuration file.
    """
    corpora: dict[object, tuple[Path, Path]] = {}
    for folder in sorted(projects, key=lambda folder: (not projects[folder], folder)):
        seeds = folder / (_setting(projects[folder], "report", "corpus_dir") or CORPUS_DIR)
        identity = _identity(seeds) or (folder if folder in stores else None)
        if identity is not None:
            corpora.setdefault(identity, (folder, seeds))
    return sorted(corpora.values())


def _identity(folder: Path) -> object:
    """Return a value that identifies a folder under any of its names; None when it does not exist.

    A folder that cannot be entered, or a file, counts: the replay reports that.
    """
    try:
        found = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return folder
    return found.st_dev, found.st_ino


def _register(config: pytest.Config, module: str, *arguments: Any) -> Any:
    """Import a module of the package, register its ``make_plugin(*arguments)``, and return that."""
    plugin = importlib.import_module(f"ordeal._pytest.{module}").make_plugin(*arguments)
    config.pluginmanager.register(plugin, f"ordeal._pytest.{module}")
    return plugin


# The limit of rules


class RuleTimeouts:
    """The plugin of a pytest run that limits every rule to some seconds; 0 for no limit."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._own_s: dict[type[Any], float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Set the limit of the classes imported since the last call."""
        # Users of ChaosTest have imported the module; a run without one should not wait for it.
        chaos = sys.modules.get("ordeal.chaos")
        if chaos is None:
            return
        for cls in _with_subclasses(chaos.ChaosTest):
            if cls not in self._own_s and "rule_timeout" in vars(cls):
                self._own_s[cls] = cls.rule_timeout
                cls.rule_timeout = self.timeout_s

    def pytest_unconfigure(self) -> None:
        """Restore the limits of the classes."""
        for cls, own_s in self._own_s.items():
            cls.rule_timeout = own_s
        self._own_s.clear()


def _with_subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    yield cls
    for subclass in cls.__subclasses__():
        yield from _with_subclasses(subclass)


# The configuration file


def _settings(config: pytest.Config, folder: Path, chaos: bool, seeds: bool) -> dict[str, Any]:
    """Return the content of a folder's configuration file. An invalid file ends only a run that needs it."""
    path = folder / CONFIG_FILE
    try:
        return _read_settings(path)
    except _WrongFileError as error:
        name = os.path.relpath(path, config.invocation_params.dir)
        if not chaos and not (seeds and _identity(folder / CORPUS_DIR) is not None):
            config.stash.setdefault(_UNUSED, []).append(f"{name} {error.problem}; nothing in it is used")
            return {}
        way_out = "" if chaos else "; `--no-ordeal-seeds` runs the tests without it"
        raise pytest.UsageError(f"{name} {error.problem}\nhint: {error.hint}{way_out}") from None


_UNUSED = pytest.StashKey[list[str]]()


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which configuration files are ignored."""
    return [f"ordeal: {problem}" for problem in config.stash.get(_UNUSED, [])]


class _WrongFileError(Exception):
    """The configuration file is invalid; says what is wrong with it, with a hint."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


def _read_settings(path: Path) -> dict[str, Any]:
    """Return the content of the configuration file, checked only where this plugin uses it."""
    try:
        status = path.stat()
        if not (path.is_file() or path.is_dir()):
            # To read a pipe would wait for a writer.
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_size > _CONFIG_BYTES_MAX:
            raise OSError(errno.EFBIG, f"it is larger than {_CONFIG_BYTES_MAX} bytes")
        text = path.read_bytes().decode("utf-8-sig")
        # Imported late: it takes longer than the rest of this module, and few projects have the file.
        settings: dict[str, Any] = importlib.import_module("tomllib").loads(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise _WrongFileError(f"cannot be read: {reason}", "correct the file") from None
    for section, key, kind, expected in _USED_SETTINGS:
        value = _setting(settings, section, key)
        if isinstance(kind, list):
            is_right = value in kind
        elif kind is str:
            is_right = isinstance(value, str) and value != "" and "\0" not in value
        else:
            is_right = type(value) in (int, float) and math.isfinite(value)
        if value is not None and not is_right:
            hint = f"write {expected}, or remove the line"
            raise _WrongFileError(f"has {value!r:.60} as `{key}` in [{section}]", hint)
    return settings


_USED_SETTINGS = (
    ("explorer", "rule_timeout", float, "a number of seconds, for example `rule_timeout = 30.0`"),
    ("explorer", "outside", ["fail", "warn", "ignore"], '`outside = "fail"`, `"warn"` or `"ignore"`'),
    ("fleet", "store", str, 'an address, for example `store = "dir:///srv/ordeal"`'),
    ("report", "corpus_dir", str, f'a folder path, for example `corpus_dir = "{CORPUS_DIR}"`'),
)


def _setting(settings: dict[str, Any], section: str, key: str) -> Any:
    table = settings.get(section)
    return table.get(key) if isinstance(table, dict) else None


# The seed of the session


def _is_seeded(config: pytest.Config) -> bool:
    """Return whether a seed is given; in an xdist worker, by its controller."""
    if config.getoption("ordeal_seed") is not None or "ordeal_seed" in getattr(config, "workerinput", {}):
        return True
    elsewhere = (os.environ.get("ORDEAL_SEED", ""), os.environ.get("TEST_SEED", ""), config.getini("ordeal_seed"))
    return any(text.strip() for text in elsewhere)


def _session_seed(config: pytest.Config) -> Any:
    """Return the plugin of the session seed, which is made when something first asks for a seed."""
    plugin = config.pluginmanager.get_plugin("ordeal._pytest.session_seed")
    return _register(config, "session_seed", config) if plugin is None else plugin


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Have all workers of xdist draw from one seed."""
    _session_seed(node.config).send_to(node)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Notice when a program has asked for the seed without the fixture."""
    seed: Any = sys.modules.get("ordeal.seed")
    if seed is not None and seed.asked() is not None:
        _session_seed(session.config).notice_use()


@pytest.fixture
def ordeal_rng(request: pytest.FixtureRequest) -> Any:
    """Return a random.Random for the test, which starts from the session's seed and the test's node id."""
    return _session_seed(request.config).rng(request.node)


@pytest.fixture
def world() -> Any:
    """Return what a plain test records the outside with: ``world.record``. A simulated test has its own world."""
    return types.SimpleNamespace(record=importlib.import_module("ordeal.simulate").record)


# Tests that need --chaos


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests marked ``chaos`` unless they were asked for, and prepare for those that draw from a seed."""
    if any("ordeal_rng" in getattr(item, "fixturenames", ()) for item in items):
        _session_seed(config)
    if "ordeal.simulate.runtime.testing" in sys.modules:
        fixtures = importlib.import_module("ordeal._pytest.fresh_fixtures")
        for item in filter(fixtures.is_simulated, items):
            fixtures.prepare(item)
    if config.getoption("chaos"):
        return
    skip = pytest.mark.skip(reason=SKIP_REASON)
    for item in items:
        if item.get_closest_marker("chaos") is not None:
            item.add_marker(skip, append=False)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """With ``-v``, show next to PASSED how many cases an exhaustive test ran."""
    if report.when != "call" or not report.passed:
        return None
    cases = next((value for name, value in report.user_properties if name == "ordeal_cases"), None)
    return None if cases is None else ("passed", ".", f"PASSED ({cases})")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report how many tests were skipped, which a green run would hide, and what a program tracked outside tests."""
    places = [report.longrepr for report in terminalreporter.getreports("skipped")]
    skipped = [place for place in places if isinstance(place, tuple) and place[2] == f"Skipped: {SKIP_REASON}"]
    if skipped:
        terminalreporter.section("Ordeal Warning")
        terminalreporter.line(f"WARNING: {len(skipped)} chaos test(s) SKIPPED — run with --chaos to include them")
    assertions: Any = sys.modules.get("ordeal.assertions")
    if assertions is not None and assertions.tracker.active and not config.getoption("chaos"):
        importlib.import_module("ordeal._pytest.chaos").write_properties(terminalreporter)


@pytest.fixture
def chaos_enabled(request: pytest.FixtureRequest) -> Iterator[None]:
    """Track properties and switch buggify on for one test; afterwards restore both."""
    with importlib.import_module("ordeal._pytest.chaos").chaos(request.config):
        yield
