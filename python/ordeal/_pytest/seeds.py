"""Replays the saved seeds of one project as tests of a pytest run, and reports them in its summary."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from ordeal._base.formatting import counted, describe_error, one_line
from ordeal._base.untrusted import bounded_call, release_frames, traceback_text
from ordeal._engine.seed_corpus.paths import CORPUS_DIR, SeedError, seed_name, seed_paths
from ordeal._report.pytest_lines import (
    SeedRecord,
    known_again,
    recorded_failure,
    seed_failure_sections,
    seed_section,
    seeds_left_out,
)

if TYPE_CHECKING:
    from ordeal._engine.seed_corpus.corpus import SeedReplay, SeedReplayer

# The key under which an xdist controller tells its workers what to replay, and a report carries the result.
_KEY = "ordeal_seeds"
_MACHINERY = ("ordeal", "hypothesis")
#: What the node ids of seeds have instead of a file, directly below the project's folder.
ROOT = "ordeal-seed"


@dataclass(frozen=True, eq=False)
class Project:
    """A folder with seeds: ``ordeal``, run there, replays those in the folder ``seeds``.

    The node ids of its seeds begin with ``node_id``. ``start`` is the folder relative to where pytest was started,
    empty when it is the same.
    """

    folder: Path
    seeds: Path
    node_id: str
    start: str

    @classmethod
    def of(cls, config: pytest.Config, folder: Path, seeds: Path) -> Project:
        """Return the project in ``folder`` with its names in a pytest run."""
        below, here = os.path.relpath(folder, config.rootpath), config.invocation_params.dir
        node_id = ROOT if below == os.curdir else f"{below.replace(os.sep, '/')}/{ROOT}"
        return cls(folder, seeds, node_id, "" if folder == here else os.path.relpath(folder, here))

    @property
    def own_seeds(self) -> str:
        """The folder of the seeds, empty when it is the default."""
        seeds = self.relative(self.seeds)
        return "" if seeds == CORPUS_DIR else seeds

    def relative(self, path: Path) -> str:
        """Return ``path`` relative to the project's folder if it is inside."""
        return relative_path(path, self.folder)

    def names(self, path: Path, node_ids: Sequence[str]) -> bool:
        """Return whether one of ``node_ids`` means the seed at ``path`` of this project, or a group that has it."""
        own = f"{self.node_id}::{class_name(path)}::{test_name(path)}::"
        return any(own.startswith(f"{node_id}::") for node_id in node_ids)


def class_name(path: Path) -> str:
    """Return the name of the group that a seed is in."""
    return one_line(path.parent.name)


def test_name(path: Path) -> str:
    """Return the name of a seed as a test."""
    # A compressed seed keeps its suffix, as a plain one may have the same name.
    return one_line(seed_name(path) if path.suffix == ".json" else path.name)


def relative_path(path: Path, folder: Path) -> str:
    """Return ``path`` relative to ``folder`` if it is inside."""
    # Not relative_to(), which is noticeably slow with a thousand seeds.
    return str(path).removeprefix(f"{folder}{os.sep}").replace(os.sep, "/")


def record_of(replay: SeedReplay, project: Project) -> SeedRecord:
    """Return the record of a replay in a project."""
    trace = replay.trace
    return SeedRecord(
        name=replay.name,
        path=project.relative(replay.path),
        start=project.start,
        status=replay.status.value,
        test_class="" if trace is None else trace.test_class,
        error="" if replay.error is None else describe_error(replay.error),
        recorded="" if trace is None else recorded_failure(trace),
        # Full names of files in a reason are too long for a line.
        reason=replay.reason.replace(f"{project.folder}{os.sep}", ""),
    )


class SeedFailedError(Exception):
    """A seed fails again; message and traceback belong to its failure."""


class SeedClassError(Exception):
    """The class of a seed cannot be used, so it is unknown whether the seed fails."""


class SeedCorpusNode(pytest.Collector):
    """The seeds of the project, at the root of the tree of tests."""

    def __init__(self, *, replays: SeedReplays, **fields: Any) -> None:
        super().__init__(**fields)
        self._replays = replays

    def collect(self) -> Iterator[pytest.Collector]:
        """Return a node for each class that has seeds."""
        for name, paths in groupby(self._replays.chosen, key=class_name):
            yield SeedClassNode.from_parent(self, name=name, replays=self._replays, paths=list(paths))


class SeedClassNode(pytest.Collector):
    """The seeds of one class."""

    def __init__(self, *, replays: SeedReplays, paths: Sequence[Path], **fields: Any) -> None:
        super().__init__(**fields)
        self._replays, self._paths = replays, paths

    def collect(self) -> Iterator[pytest.Item]:
        """Return a test for each seed."""
        for path in self._paths:
            yield SeedItem.from_parent(self, name=test_name(path), path=path, replays=self._replays)


class SeedItem(pytest.Item):
    """The replay of one seed, as a test."""

    #: Empty, but hooks in many a conftest.py read it from every test.
    fixturenames: ClassVar[list[str]] = []
    #: Read by the plugin of the session seed.
    says_how_to_replay: ClassVar[bool] = True
    #: Read by mutation testing: one that fails is an open failure, and no reason to judge nothing.
    is_saved_seed: ClassVar[bool] = True

    def __init__(self, *, replays: SeedReplays, **fields: Any) -> None:
        super().__init__(**fields)
        self._replays = replays
        self._replay: SeedReplay | None = None
        self.record: SeedRecord | None = None

    @property
    def ihook(self) -> Any:
        """The hooks of the plugins, and of each conftest.py that applies to the project's folder.

        pytest would use those of the folder of the seeds, where it never looked.
        """
        return self.session.gethookproxy(self._replays.project.folder)

    def runtest(self) -> None:
        """Replay the seed.

        Raises:
            SeedFailedError: it fails, as recorded or differently.
            SeedClassError: its class cannot be imported, or cannot run.
        """
        replay = self._replays.replay(self.path)
        self._replay, self.record = replay, record_of(replay, self._replays.project)
        if replay.error is not None:
            self._replays.failing |= self._replays.places([replay.error])
            failed = SeedFailedError(self.record.error)
            if self.config.getoption("usepdb", False):
                # With the traceback of the failure, --pdb stops where it happened.
                raise failed.with_traceback(replay.error.__traceback__) from _cause(replay.error)
            # Without it, pytest and its plugins hold no objects of the code under test, which may do anything.
            raise failed from None
        if self.record.status == "class_unusable":
            raise SeedClassError(self.record.reason)
        if replay.reason:
            pytest.skip(replay.reason)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failure as pytest shows that of a test, with information on the seed below it."""
        if isinstance(excinfo.value, SeedClassError):
            return f"the seed cannot be replayed: {excinfo.value}"
        if self._replay is None or self._replay.trace is None or self.record is None:
            return super().repr_failure(excinfo, style)
        error = self._replay.error
        sections: list[tuple[str, str]] = []
        if self.config.getoption("tbstyle", "auto") != "line":
            found = seed_failure_sections(self.record, self._replay.trace)
            sections = [(title, "\n".join(lines)) for title, lines in found]
        if error is None or error.__traceback__ is None:  # if it ended its process, it was not raised in this one
            shown = self._shown(excinfo)
        else:
            # pytest calls methods of the error, its arguments and locals, which are untrusted objects.
            shown = bounded_call(lambda: self._shown(pytest.ExceptionInfo.from_exception(error)), lambda _raised: None)
        if shown is None:
            assert error is not None
            return "\n".join(
                [traceback_text(error, error.__traceback__), *(text for each in sections for text in each)]
            )
        for title, text in sections:
            shown.addsection(title, text)
        return shown

    def _shown(self, failure: pytest.ExceptionInfo[BaseException]) -> Any:
        wanted = self.config.getoption("tbstyle", "auto")
        return failure.getrepr(
            style="short" if wanted == "auto" else wanted,
            showlocals=self.config.getoption("showlocals", False),
            tbfilter=False if self.config.getoption("fulltrace", False) else _code_under_test,
        )

    def teardown(self) -> None:
        """Drop the failure: its frames keep the machine and everything it holds alive."""
        if self._replay is not None and self._replay.error is not None:
            release_frames(self._replay.error)
        bounded_call(lambda: setattr(self, "_replay", None), lambda _raised: None)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file of the seed and its name as a test in a report."""
        assert self.parent is not None, "a seed stands in the group of its class"
        return self.path, None, f"{ROOT} {self.parent.name}/{self.name}"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the failures that Hypothesis has found, each as it was raised."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


def _cause(error: BaseException) -> BaseException | None:
    """Return ``error`` unless its truth value raises: pytest asks for it, and would show the wrong exception."""
    return bounded_call(lambda: (error, bool(error))[0], lambda _raised: None)


def _code_under_test(failure: pytest.ExceptionInfo[BaseException]) -> Any:
    """Return the traceback without the frames of ordeal and Hypothesis, unless nothing else is left."""
    rest = failure.traceback.filter(lambda entry: _package(entry.frame.f_globals) not in _MACHINERY)
    return rest or failure.traceback


def _package(module_globals: dict[str, Any]) -> str:
    return str(module_globals.get("__name__", "")).partition(".")[0]


class SeedReplays:
    """The plugin of a pytest run that has seeds to replay.

    Raises:
        UsageError: the command line names a seed that does not exist.
    """

    def __init__(self, config: pytest.Config, project: Project) -> None:
        self._config = config
        self.project = project
        self._records: list[SeedRecord] = []
        self.failing: set[str] = set()  # the places of the failures of seeds
        self._trouble: list[str] = []
        # An xdist controller sends all workers the same list, whatever is saved in the meantime.
        self._all = self._found()
        self.chosen = self._choose()

    # What there is to replay

    def _found(self) -> list[Path]:
        """Return the seeds; an xdist worker uses its controller's list, so that all workers agree."""
        worker = getattr(self._config, "workerinput", None)
        if worker is not None:
            return [self.project.folder / path for path in worker.get(_KEY, ())]
        try:
            paths = seed_paths(self.project.seeds)
        except SeedError as error:
            self._trouble.append(error.message)
            return []
        # Such a name fits neither into a report nor into a message to a worker.
        nameless = [path for path in paths if not _is_text(str(path))]
        self._trouble += [f"cannot read seed {path}: its name is not valid UTF-8" for path in nameless]
        return [path for path in paths if path not in nameless]

    def _choose(self) -> list[Path]:
        """Return the seeds that the command line names by node id, or all when it names none."""
        named = {argument: own for argument in self._config.args if (own := self._node_id(argument))}
        if not named:
            return self._all
        # pytest would look for files with these names.
        self._config.args[:] = [argument for argument in self._config.args if argument not in named]
        for argument, node_id in named.items():
            if not any(self.project.names(path, [node_id]) for path in self._all):
                hint = f"`pytest --collect-only -q -k {ROOT}` lists them"
                raise pytest.UsageError(f"no saved seed is named {one_line(argument)}\nhint: {hint}")
        return [path for path in self._all if self.project.names(path, list(named.values()))]

    def _node_id(self, argument: str) -> str:
        """Return the node id of a seed or of a group of seeds that an argument means; empty for another argument.

        pytest shows node ids relative to where it was started, ``../ordeal-seed::MyService`` for example.
        """
        place, *names = argument.split("::")
        here = os.path.normpath(self._config.invocation_params.dir / place)
        is_meant = place == ROOT or here == str(self.project.folder / ROOT)
        return "::".join([self.project.node_id, *names]) if is_meant else ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker which seeds there are."""
        node.workerinput[_KEY] = [self.project.relative(path) for path in self._all]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Put the seeds before the tests, before -k, -m, --deselect and similar options choose."""
        corpus = SeedCorpusNode.from_parent(
            session,
            name=ROOT,
            path=self.project.seeds,
            nodeid=self.project.node_id,
            replays=self,
        )
        items[:0] = session.genitems(corpus)

    # Replaying

    @cached_property
    def _corpus(self) -> ModuleType:
        # Only listing the tests should not wait for Hypothesis.
        return importlib.import_module("ordeal._engine.seed_corpus.corpus")

    @cached_property
    def _replayer(self) -> SeedReplayer:
        timeouts: Any = self._config.pluginmanager.get_plugin("ordeal_rule_timeouts")
        limit = None if timeouts is None else timeouts.timeout_s
        replayer: SeedReplayer = self._corpus.SeedReplayer(
            rule_timeout=limit, settings=self.project.folder / "ordeal.toml"
        )
        return replayer

    def replay(self, path: Path) -> SeedReplay:
        """Replay a seed as `ordeal replay` would: in the project's folder, with that first on the import path."""
        with contextlib.chdir(self.project.folder), _import_path(self.project.folder), _properties_apart():
            return self._replayer.replay(path)

    # Reports

    def pytest_report_header(self) -> str | None:
        """Say how many seeds are replayed."""
        place = relative_path(self.project.seeds, self._config.rootpath)
        return f"ordeal: {counted(len(self.chosen), 'saved seed')} in {place}" if self.chosen else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the record to the report, also on its way from a worker to its controller.

        A machine's own test that fails only as seeds do has been reported with them.
        """
        report = yield
        if report.when == "call" and report.failed and call.excinfo is not None and self._is_short(item):
            known = self._known(call.excinfo.value)
            if known:
                report.longrepr = known_again(known)
                report.sections.clear()
        if report.when == "call" and isinstance(item, SeedItem) and item.record is not None:
            setattr(report, _KEY, dataclasses.asdict(item.record))
            if report.skipped:
                # Otherwise it would name the line of this module that skips.
                report.longrepr = (str(item.path), None, f"Skipped: {one_line(item.record.reason)}")  # type: ignore[assignment]
        return report

    def _is_short(self, item: pytest.Item) -> bool:
        """Return whether this is the test of a machine, of which nobody wants to see all."""
        return bool(self.failing) and item.name == "runTest" and self._config.get_verbosity() < 1

    def _known(self, error: BaseException) -> int:
        """Return how many failures a test has, if all of them are those of seeds; else 0."""
        places = bounded_call(lambda: self.places(_leaves(error)), lambda _raised: set())
        return len(places) if places <= self.failing else 0

    @staticmethod
    def places(errors: Iterable[BaseException]) -> set[str]:
        """Return where each error was raised, as buckets say it."""
        bucket = importlib.import_module("ordeal._engine.execution.bucket")
        named = bucket.Bucketer([])
        return {bucket.place_of(named.bucket(error)) for error in errors}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result of a seed."""
        fields = getattr(report, _KEY, None)
        if fields is not None:
            self._records.append(SeedRecord(**fields))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the section on the seeds."""
        left = len(self.chosen) - len(self._records)
        if self._config.getoption("collectonly"):
            left = 0
        if not self._records and not self._trouble and not left:
            return
        terminalreporter.section("Ordeal Seed Corpus")
        if left:
            terminalreporter.line(f"  {seeds_left_out(left)}")
        for trouble in self._trouble:
            terminalreporter.line(f"  {one_line(trouble)}")
        if self._records:
            records = sorted(self._records, key=lambda record: record.path)
            verbose = self._config.get_verbosity() > 0
            for line in seed_section(records, verbose=verbose, folder=self.project.own_seeds):
                terminalreporter.line(line)


def make_plugin(config: pytest.Config, folder: Path, seeds: Path) -> SeedReplays:
    """Return the plugin for the project in ``folder``."""
    return SeedReplays(config, Project.of(config, folder, seeds))


@contextmanager
def _import_path(folder: Path) -> Iterator[None]:
    """Find modules as the commands do: those in ``folder`` first, those in its ``src`` last."""
    added = [str(folder)]
    sys.path.insert(0, added[0])
    sources = folder / "src"
    if sources.is_dir() and (folder / "pyproject.toml").exists() and str(sources) not in sys.path:
        added.append(str(sources))
        sys.path.append(added[1])
    try:
        yield
    finally:
        # Remove only the entries made above: what a test module adds on import must stay.
        for entry in added:
            with contextlib.suppress(ValueError):
                sys.path.remove(entry)


@contextmanager
def _properties_apart() -> Iterator[None]:
    """Keep the properties that a replay observes apart from those that the run's tests observe."""
    assertions: Any = sys.modules.get("ordeal.assertions")
    if assertions is None or not assertions.tracker.active:
        yield
        return
    with assertions.tracker.recording():
        yield


def _is_text(name: str) -> bool:
    # Undecodable bytes in a file name appear as lone surrogates.
    return not any("\ud800" <= char <= "\udfff" for char in name)
