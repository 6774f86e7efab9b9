"""Runs collected tests that need no hooks of pytest without them: these take longer than most tests do.

What pytest sets up around each test is there: its filters of warnings, its handlers of logs, its capture, and the
exceptions of finalizers and threads. Fixtures are set up where there are any. A test with marks, one whose fixtures are
made by hooks, and one of another plugin run by all hooks.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import SkipTest, TestCase

import pytest

_HOOKS = (
    *("pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown"),
    *("pytest_runtest_logstart", "pytest_runtest_logfinish", "pytest_runtest_makereport", "pytest_pyfunc_call"),
    *("pytest_runtest_logreport", "pytest_exception_interact"),
)
#: What has such hooks, and none that does anything to a test without fixtures, marks, coroutines and ``@given``.
_HARMLESS = (
    *("_pytest.", "_hypothesis_pytestplugin.", "anyio.", "xdist.", "pytest_cov.", "syrupy."),
    *("ordeal._tools.mutation.", "ordeal._pytest.seeds."),
)
#: Fixtures that hooks have a part in.
_OF_HOOKS = frozenset(
    ("capsys", "capfd", "capsysbinary", "capfdbinary", "capteesys", "caplog", "subtests", "testdir", "pytester")
)
#: Fixtures of plugins that each test has, and that do nothing to it.
_IDLE = ("_unittest_setUpClass_fixture_", "_syrupy_apply_ide_patches")
#: What turns harmless plugins into others.
_OPTIONS = ("usepdb", "trace", "setuponly", "setupshow", "setupplan", "lsof")
_SETUPS = ("setUpModule", "setup_module", "tearDownModule", "teardown_module")
_CURRENT = "PYTEST_CURRENT_TEST"


def failure_of(error: BaseException | None) -> BaseException | None:
    """Return an exception that is a failure; neither a skip nor an expected one is."""
    return None if isinstance(error, pytest.skip.Exception | SkipTest | pytest.xfail.Exception) else error


class PlainItems:
    """Which tests of a session need no hooks, and what runs them."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._numbers: set[int] = set()
        self._bare: set[Any] = set()
        if not items or not _needs_no_hooks(items[0].config):
            return
        try:
            self._around = _Around(items[0].config)
        except (ImportError, AttributeError):  # another version of pytest keeps these elsewhere
            return
        self._numbers = {number for number, item in enumerate(items) if _is_plain(item)}
        self._bare = {items[number] for number in self._numbers if _needs_no_fixture(items[number])}

    def __contains__(self, number: int) -> bool:
        return number in self._numbers

    def forget(self, number: int) -> None:
        """Run a test by all hooks from now on."""
        self._numbers.discard(number)

    def forget_all(self) -> None:
        """Run each test by all hooks from now on."""
        self._numbers.clear()

    def run(self, item: Any, following: Any) -> BaseException | None:
        """Run a test; return the exception that it fails with. What ends a session of pytest is raised."""
        with self._around.item(item):
            try:
                if item not in self._bare:
                    error = _set_up_and_run(item, following)
                else:
                    error = _case_error(item) if _is_case(item) else _call(item)
                    if item.session._setupstate.stack:  # others may have left fixtures for what follows
                        item.session._setupstate.teardown_exact(following)
                if error is None:
                    self._around.collect()
            except (pytest.exit.Exception, KeyboardInterrupt):
                raise
            except BaseException as raised:  # noqa: BLE001 - whatever a test raises, it fails with it
                return failure_of(raised)
            return error

    def forget_output(self) -> None:
        """Drop what tests have printed."""
        if self._numbers:
            self._around.forget_output()


def _call(item: Any) -> BaseException | None:
    """Call a test function, in a new instance of its class if it has one."""
    from _pytest.python import pytest_pyfunc_call  # noqa: PLC0415 - pytest's own, which may be elsewhere one day

    fields = vars(item)
    before = {name: fields[name] for name in ("funcargs", "_obj", "_instance") if name in fields}
    item.funcargs = item.callspec.params if hasattr(item, "callspec") else {}
    is_method = isinstance(item.parent, pytest.Class)
    try:
        if is_method:
            item._instance = item.parent.newinstance()
            item._obj = getattr(item._instance, item.originalname)
        pytest_pyfunc_call(item)
    finally:
        for name in ("_obj", "_instance"):
            fields.pop(name, None)
        fields.update(before)
    return None


def _case_error(item: Any) -> BaseException | None:
    """Run a test of unittest in a new instance of its class. Return what it fails with."""
    item._explicit_tearDown = None
    item._obj = None
    vars(item).pop("_instance", None)
    cls = item.parent.obj
    try:
        item.runtest()
    finally:
        kept = vars(item).pop("_excinfo", None)
        item._obj = None
        vars(item).pop("_instance", None)
        if cls._class_cleanups:
            cls.doClassCleanups()
    return failure_of(kept[0].value) if kept else None


def _set_up_and_run(item: Any, following: Any) -> BaseException | None:
    """Run a test between the set-up and the end of its fixtures. Return what it fails with."""
    from _pytest.tmpdir import tmppath_result_key  # noqa: PLC0415 - see ``_call``

    state, error = item.session._setupstate, None
    if not item._request:
        item._initrequest()
    item.stash[tmppath_result_key] = {}
    try:
        state.setup(item)
        item.runtest()
    except (pytest.exit.Exception, KeyboardInterrupt):
        raise
    except BaseException as raised:  # noqa: BLE001 - whatever a test raises, it fails with it
        error = raised
    if kept := vars(item).pop("_excinfo", None):
        error = kept[0].value
    error = failure_of(error)
    try:
        state.teardown_exact(following)
    except (pytest.exit.Exception, KeyboardInterrupt):
        raise
    except BaseException as raised:  # noqa: BLE001 - see above
        error = error or failure_of(raised)
    item._request, item.funcargs = False, None
    return error


class _Around:
    """What pytest has around each test, put there without its hooks."""

    def __init__(self, config: pytest.Config) -> None:
        from _pytest.logging import catching_logs  # noqa: PLC0415 - see ``_call``
        from _pytest.python import get_direct_param_fixture_func, pytest_pyfunc_call  # noqa: F401, PLC0415
        from _pytest.threadexception import collect_thread_exception  # noqa: PLC0415
        from _pytest.tmpdir import tmppath_result_key  # noqa: F401, PLC0415
        from _pytest.unraisableexception import collect_unraisable  # noqa: PLC0415
        from _pytest.warnings import catch_warnings_for_item  # noqa: PLC0415

        manager = config.pluginmanager
        self._config = config
        self._warnings = catch_warnings_for_item if manager.has_plugin("warnings") else None
        self._capture: Any = manager.get_plugin("capturemanager")
        self._logging: Any = manager.get_plugin("logging-plugin")
        self._catching_logs = catching_logs
        self._collectors: list[Callable[[pytest.Config], None]] = []
        for name, collector in (
            ("threadexception", collect_thread_exception),
            ("unraisableexception", collect_unraisable),
        ):
            if manager.has_plugin(name):
                self._collectors.append(collector)

    @contextmanager
    def item(self, item: Any) -> Iterator[None]:
        """Set up what is around one test."""
        if self._capture is not None:
            self._capture.resume_global_capture()
        os.environ[_CURRENT] = f"{item.nodeid} (call)".replace("\0", "(null)")
        try:
            with self._caught_warnings(item), ExitStack() as stack:
                for handler in (self._logging.caplog_handler, self._logging.report_handler) if self._logging else ():
                    stack.enter_context(self._catching_logs(handler, level=self._logging.log_level))
                    handler.reset()
                yield
        finally:
            os.environ.pop(_CURRENT, None)

    def _caught_warnings(self, item: Any) -> Any:
        if self._warnings is None:
            return nullcontext()
        return self._warnings(config=self._config, ihook=_Nobody, when="runtest", item=item)

    def collect(self) -> None:
        """Raise what finalizers and threads have raised, where warnings are errors."""
        for collector in self._collectors:
            collector(self._config)

    def forget_output(self) -> None:
        """Drop what is captured."""
        if self._capture is not None:
            self._capture.read_global_capture()


class _Nobody:
    """Stands for the hooks that are told of each warning: nobody reads a summary of them."""

    class pytest_warning_recorded:  # noqa: N801 - the name of the hook
        """The hook."""

        @staticmethod
        def call_historic(kwargs: dict[str, Any]) -> None:
            """Do nothing."""


def _needs_no_hooks(config: pytest.Config) -> bool:
    """Return whether all plugins that have hooks around tests are known to leave plain tests alone."""
    if "twisted.trial.unittest" in sys.modules or any(config.getoption(each, False) for each in _OPTIONS):
        return False
    if config.getini("faulthandler_timeout"):
        return False
    return all(
        _is_harmless(found.plugin)
        for name in _HOOKS
        for found in getattr(config.pluginmanager.hook, name).get_hookimpls()
    )


def _is_harmless(plugin: Any) -> bool:
    module = getattr(plugin, "__name__", None) if inspect.ismodule(plugin) else type(plugin).__module__
    if module == "ordeal._pytest.session_seed":
        return not plugin.every_test
    return isinstance(module, str) and f"{module}.".startswith(_HARMLESS)


def _is_case(item: Any) -> bool:
    from _pytest.unittest import TestCaseFunction  # noqa: PLC0415 - see ``_call``

    return type(item) is TestCaseFunction


def _is_plain(item: Any) -> bool:
    """Return whether a test has no marks, no fixtures of hooks, and nothing to be awaited or drawn."""
    if not (type(item) is pytest.Function or _is_case(item)):
        return False
    if {mark.name for mark in item.iter_markers()} - {"parametrize", "usefixtures"}:
        return False
    if _OF_HOOKS.intersection(item.fixturenames):
        return False
    function = item.obj
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return False
    return not (hasattr(function, "hypothesis") or getattr(function, "is_hypothesis_test", False))


def _needs_no_fixture(item: Any) -> bool:
    """Return whether nothing is to be set up for a test."""
    if any(_sets_up(each) for each in item.listchain() if isinstance(each, pytest.Package)):
        return False
    return _case_needs_nothing(item) if _is_case(item) else _function_needs_nothing(item)


def _case_needs_nothing(item: Any) -> bool:
    names = item._fixtureinfo.name2fixturedefs
    cls: Any = item.parent.obj
    own = all(
        getattr(getattr(cls, name), "__func__", None) is getattr(TestCase, name).__func__
        for name in ("setUpClass", "tearDownClass", "doClassCleanups", "addClassCleanup")
    )
    return own and all(name.startswith(_IDLE) for name in names)


def _function_needs_nothing(item: Any) -> bool:
    from _pytest.python import get_direct_param_fixture_func  # noqa: PLC0415 - see ``_call``

    params = item.callspec.params if hasattr(item, "callspec") else {}
    found = item._fixtureinfo.name2fixturedefs
    needed = {name: found.get(name, ()) for name in (*item._fixtureinfo.argnames, *found) if not name.startswith(_IDLE)}
    return {*needed} <= {*params} and all(
        definition.func is get_direct_param_fixture_func for each in needed.values() for definition in each
    )


def _sets_up(package: Any) -> bool:
    """Return whether the module of a package of tests may set something up: its functions are no fixtures."""
    path = str(Path(package.path, "__init__.py"))
    for module in [*sys.modules.values()]:
        if getattr(module, "__file__", None) == path:
            return any(hasattr(module, name) for name in _SETUPS)
    return True
