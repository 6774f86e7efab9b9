"""Replays saved seeds as tests of a pytest run, and reports them in its summary."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from ordeal._base.formatting import counted, describe_error, one_line
from ordeal._base.untrusted import bounded_call, leaves_of, release_frames, traceback_text
from ordeal._engine.seed_corpus.paths import CORPUS_DIR, SeedError, seed_name, seed_paths
from ordeal._report.pytest_lines import (
    PULLED_DIR,
    SeedRecord,
    known_again,
    recorded_failure,
    seed_failure_sections,
    seed_section,
    seeds_left_out,
)
from ordeal.errors import StoreError, TraceError

if TYPE_CHECKING:
    from ordeal._engine.seed_corpus.corpus import SeedReplay, SeedReplayer

# The key under which an xdist controller sends its workers what to replay, and a report carries the result.
_KEY = "ordeal_seeds"
_MACHINERY = ("ordeal", "hypothesis")
#: What the node ids of seeds have instead of a file, directly below the project's folder.
ROOT = "ordeal-seed"
# Packages that never belong to a project.
_NEVER_OWN = frozenset({"", "__main__", "hypothesis", "ordeal", "pytest", *sys.stdlib_module_names})
_INSTALLED = frozenset({"site-packages", "dist-packages"})
#: How long a run of tests waits for a store, in seconds.
LIMIT_SECONDS = 4.0


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
    _modules: dict[str, ModuleType] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, config: pytest.Config, folder: Path, seeds: Path) -> Project:
        """Return the project in ``folder`` with its names in a pytest run."""
        below, here = os.path.relpath(folder, config.rootpath), config.invocation_params.dir
        node_id = ROOT if below == os.curdir else f"{below.replace(os.sep, '/')}/{ROOT}"
        return cls(folder, seeds, node_id, "" if folder == here else os.path.relpath(folder, here))

    @property
    def is_rootdir(self) -> bool:
        """Whether it is the rootdir of pytest."""
        return self.node_id == ROOT

    @property
    def own_seeds(self) -> str:
        """The folder of the seeds, empty when it is the default."""
        seeds = self.relative(self.seeds)
        return "" if seeds == CORPUS_DIR else seeds

    def relative(self, path: Path) -> str:
        """Return ``path`` relative to the project's folder if it is inside."""
        return relative_path(path, self.folder)

    def names(self, path: Path, node_ids: Sequence[str]) -> bool:
        """Return True if one of ``node_ids`` means the seed at ``path`` of this project, or a group that has it."""
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


@contextmanager
def own_modules(project: Project, package: str) -> Iterator[None]:
    """During the block, let modules that the project has in its folder be its own.

    Two checkouts have the same modules, and many projects call a package ``tests``; another project's may be imported
    already. Those are restored afterwards. What the block imports of the project is kept for the next time.
    ``package`` is the project's own even if one of that name is installed.
    """
    found = set()
    for folder in (project.folder, project.folder / "src"):
        with contextlib.suppress(OSError):
            found |= {each.stem if each.suffix == ".py" else each.name for each in folder.iterdir()}
    names = found - _NEVER_OWN
    loaded = {key.partition(".")[0] for key in sys.modules}
    taken = {name for name in names & loaded if _is_taken(project, name, installed=name == package)}
    others = {key: sys.modules.pop(key) for key in [*sys.modules] if key.partition(".")[0] in taken}
    sys.modules.update(project._modules)
    before = set(sys.modules) - set(project._modules)
    try:
        yield
    finally:
        new = {key for key in set(sys.modules) - before if key.partition(".")[0] in names}
        project._modules.update({key: sys.modules.pop(key) for key in new})
        sys.modules.update(others)


def _is_taken(project: Project, name: str, *, installed: bool) -> bool:
    """Return True if modules of this name were imported from elsewhere; ``installed`` counts libraries, too."""
    modules = (module for key, module in sys.modules.items() if key == name or key.startswith(f"{name}."))
    files = [file for module in modules if isinstance(file := getattr(module, "__file__", None), str)]
    places = (project.folder / name, project.folder / "src" / name)
    own = tuple(f"{place}{end}" for place in places for end in (".py", os.sep))
    elsewhere = [file for file in files if not file.startswith(own)]
    return any(installed or _INSTALLED.isdisjoint(Path(file).parts) for file in elsewhere)


def pulled_seeds(url: str, test_classes: Sequence[str], project: Path) -> tuple[list[Path], list[str]]:
    """Return the seeds of the store at ``url``, and a line on what is wrong with it, if anything is.

    They are kept in a folder of the project, and replayed from there while the store is away.
    """
    folder = project / PULLED_DIR
    try:
        before = seed_paths(folder)
    except SeedError as error:
        return [], [error.message]
    # It loads what replays seeds, and most runs have no store.
    home = importlib.import_module("ordeal._engine.parallel.fleet.home")
    try:
        saved, _ = home.read_failures(url, test_classes, folder, project=project, seconds=LIMIT_SECONDS)
    except StoreError as error:
        instead = f"; replayed instead: {counted(len(before), 'seed')} of an earlier run" if before else ""
        return before, [f"{one_line(error.message)}{instead}"]
    for path in before:
        if path not in saved:
            # Another run of tests may have deleted it.
            with contextlib.suppress(OSError):
                path.unlink()
    return sorted(saved), []


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
    """The seeds of one project, at the root of the tree of tests."""

    def __init__(self, *, replays: SeedReplays, project: Project, paths: Sequence[Path], **fields: Any) -> None:
        super().__init__(**fields)
        self._replays = replays
        self._project = project
        self._paths = paths

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Return a node for each class that has seeds."""
        for name, paths in groupby(self._paths, key=class_name):
            yield SeedClassNode.from_parent(
                self, name=name, replays=self._replays, project=self._project, paths=list(paths)
            )


class SeedClassNode(SeedCorpusNode):
    """The seeds of one class."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Return a test for each seed."""
        for path in self._paths:
            yield SeedItem.from_parent(
                self, name=test_name(path), path=path, replays=self._replays, project=self._project
            )


class SeedItem(pytest.Item):
    """The replay of one seed, as a test."""

    #: Empty, but hooks in many a conftest.py read it from every test.
    fixturenames: ClassVar[list[str]] = []
    #: Read by the plugin of the session seed.
    says_how_to_replay: ClassVar[bool] = True
    #: Read by mutation testing: one that fails is an open failure, and no reason to judge nothing.
    is_saved_seed: ClassVar[bool] = True

    def __init__(self, *, replays: SeedReplays, project: Project, **fields: Any) -> None:
        super().__init__(**fields)
        self._replays = replays
        self._project = project
        self._replay: SeedReplay | None = None
        self.record: SeedRecord | None = None

    @property
    def ihook(self) -> Any:
        """The hooks of the plugins, and of each conftest.py that applies to the project's folder.

        pytest would use those of the folder of the seeds, where it never looked.
        """
        return self.session.gethookproxy(self._project.folder)

    def runtest(self) -> None:
        """Replay the seed.

        Raises:
            SeedFailedError: it fails, as recorded or differently.
            SeedClassError: its class cannot be imported, or cannot run.
        """
        replay = self._replays.replay(self._project, self.path)
        self._replay, self.record = replay, record_of(replay, self._project)
        if replay.error is not None:
            places = self._replays.places([replay.error])
            self._replays.failing |= places
            if (entry := self._replays.known_entry(self._project, replay)) is not None:
                self._replays.known |= places
                self.record = dataclasses.replace(self.record, status="known")
                pytest.xfail(f"known failure: {one_line(entry)}")
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


def _cause(error: BaseException) -> BaseException | None:
    """Return ``error`` unless its truth value raises: pytest asks for it, and would show the wrong exception."""
    return bounded_call(lambda: (error, bool(error))[0], lambda _raised: None)


def _code_under_test(failure: pytest.ExceptionInfo[BaseException]) -> Any:
    """Return the traceback without the frames of ordeal and Hypothesis, unless nothing else is left."""
    if isinstance(failure.value, SeedFailedError):
        return failure.traceback[:0]  # the failure ended its process: none of its frames is here
    rest = failure.traceback.filter(lambda entry: _package(entry.frame.f_globals) not in _MACHINERY)
    return rest or failure.traceback


def _package(module_globals: dict[str, Any]) -> str:
    return str(module_globals.get("__name__", "")).partition(".")[0]


class SeedReplays:
    """The plugin of a pytest run that has seeds to replay, for each of ``projects``.

    ``stores`` has the address of a project's store, by its folder, and the classes whose failures are read from it;
    ``known`` what the settings of each folder declare as known failures.

    Raises:
        UsageError: the command line names a seed that does not exist.
    """

    def __init__(
        self,
        config: pytest.Config,
        projects: Sequence[Project],
        stores: Mapping[Path, tuple[str, Sequence[str]]],
        known: Mapping[Path, Sequence[str]],
    ) -> None:
        self._config = config
        self._projects = projects
        self._stores = stores
        self._records: list[SeedRecord] = []
        self._declared = known
        self.failing: set[str] = set()  # the places of the failures of seeds
        self.known: set[str] = set()  # those of failures that the settings declare as known
        self._trouble: list[str] = []
        # An xdist controller sends all workers the same list, even if more is saved in the meantime.
        self._all = {project: self._found(project) for project in projects}
        self._chosen = self._choose()

    # What there is to replay

    def _found(self, project: Project) -> list[Path]:
        """Return the seeds of a project; an xdist worker uses its controller's list, so that all workers agree."""
        worker = getattr(self._config, "workerinput", None)
        if worker is not None:
            return [project.folder / path for path in worker.get(_KEY, {}).get(project.node_id, [])]
        try:
            own = seed_paths(project.seeds)
            if project.folder not in self._stores:
                paths = own
            else:
                url, classes = self._stores[project.folder]
                pulled, trouble = pulled_seeds(url, classes, project.folder)
                self._trouble += trouble
                known = {(path.parent.name, test_name(path)) for path in own}
                new = [path for path in pulled if (path.parent.name, test_name(path)) not in known]
                paths = sorted([*own, *new], key=lambda path: (path.parent.name, path.name))
        except SeedError as error:
            self._trouble.append(error.message)
            return []
        # Such a name fits neither into a report nor into a message to a worker.
        nameless = [path for path in paths if any("\ud800" <= char <= "\udfff" for char in str(path))]
        self._trouble += [f"cannot read seed {path}: its name is not valid UTF-8" for path in nameless]
        return [path for path in paths if path not in nameless]

    def _choose(self) -> dict[Project, list[Path]]:
        """Return the seeds that the command line names by node id, or all when it names none."""
        named = {argument: node_ids for argument in self._config.args if (node_ids := self._node_ids(argument))}
        if not named:
            return self._all
        # pytest would look for files with these names.
        self._config.args[:] = [argument for argument in self._config.args if argument not in named]
        for argument, node_ids in named.items():
            if not any(project.names(path, node_ids) for project, paths in self._all.items() for path in paths):
                hint = f"`pytest --collect-only -q -k {ROOT}` lists them"
                raise pytest.UsageError(f"no saved seed is named {one_line(argument)}\nhint: {hint}")
        wanted = [node_id for node_ids in named.values() for node_id in node_ids]
        return {
            project: [path for path in paths if project.names(path, wanted)] for project, paths in self._all.items()
        }

    def _node_ids(self, argument: str) -> list[str]:
        """Return the node ids of seeds or groups of seeds that an argument may mean; none for another kind of argument.

        pytest shows node ids relative to where it was started, ``../ordeal-seed::MyService`` for example.
        """
        place, *names = argument.split("::")
        here = os.path.normpath(self._config.invocation_params.dir / place)
        meant = [project for project in self._projects if here == str(project.folder / ROOT)]
        if not meant and place == ROOT:
            meant = list(self._projects)
        return ["::".join([project.node_id, *names]) for project in meant]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker which seeds there are."""
        node.workerinput[_KEY] = {
            project.node_id: [project.relative(path) for path in paths] for project, paths in self._all.items()
        }

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Put the seeds before the tests, before -k, -m, --deselect and similar options choose."""
        seeds: list[pytest.Item] = []
        for project, paths in self._chosen.items():
            corpus = SeedCorpusNode.from_parent(
                session,
                name=ROOT,
                path=project.seeds,
                nodeid=project.node_id,
                replays=self,
                project=project,
                paths=paths,
            )
            seeds += session.genitems(corpus)
        items[:0] = seeds

    # Replaying

    @cached_property
    def _corpus(self) -> ModuleType:
        # Only listing the tests should not wait for Hypothesis.
        return importlib.import_module("ordeal._engine.seed_corpus.corpus")

    @cached_property
    def _replayers(self) -> dict[Project, SeedReplayer]:
        timeouts: Any = self._config.pluginmanager.get_plugin("ordeal_rule_timeouts")
        limit = None if timeouts is None else timeouts.timeout_s
        # One for each project, because it remembers which classes cannot be imported.
        return {
            project: self._corpus.SeedReplayer(rule_timeout=limit, settings=project.folder / "ordeal.toml")
            for project in self._projects
        }

    def replay(self, project: Project, path: Path) -> SeedReplay:
        """Replay a seed as `ordeal replay` would: in the project's folder, with that first on the import path."""
        replayer = self._replayers[project]
        with ExitStack() as stack:
            stack.enter_context(contextlib.chdir(project.folder))
            stack.enter_context(_import_path(project.folder))
            assertions: Any = sys.modules.get("ordeal.assertions")
            if assertions is not None and assertions.tracker.active:
                # What the replay sees is no matter of the run's tests.
                stack.enter_context(assertions.tracker.recording())
            if self._projects != [project] or not project.is_rootdir:
                stack.enter_context(own_modules(project, self._package(path)))
            return replayer.replay(path)

    def known_entry(self, project: Project, replay: SeedReplay) -> str | None:
        """Return the entry of the project's settings that declares the failure of a seed as known, if one does."""
        entries = self._declared.get(project.folder)
        if not entries or replay.error is None:
            return None
        is_same = replay.status.value == "reproduced" and replay.trace is not None and replay.trace.failure is not None
        bucket = replay.trace.failure.bucket if is_same else ""  # type: ignore[union-attr]
        known = importlib.import_module("ordeal._engine.triage.findings").KnownFailures(entries)
        entry: str | None = bounded_call(lambda: known.entry_for(bucket, replay.error), lambda _raised: None)
        return entry

    def _package(self, path: Path) -> str:
        """Return the package of the class of a seed, empty when it cannot be read: the replay says what is wrong."""
        with contextlib.suppress(TraceError):
            return str(self._corpus.load_seed(path).test_class).partition(":")[0].partition(".")[0]
        return ""

    # Reports

    def pytest_report_header(self) -> str | None:
        """Say how many seeds are replayed."""
        number = sum(len(paths) for paths in self._chosen.values())
        folders = dict.fromkeys(path.parent.parent for paths in self._chosen.values() for path in paths)
        places = [relative_path(folder, self._config.rootpath) for folder in folders]
        return f"ordeal: {counted(number, 'saved seed')} in {', '.join(places)}" if number else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the record to the report, also on its way from a worker to its controller.

        A machine's own test that fails only as seeds do has been reported with them.
        """
        report = yield
        if report.when == "call" and report.failed and call.excinfo is not None:
            # The test of a machine, whose replays are listed in short.
            places = self._again(call.excinfo.value) if self.failing and item.name == "runTest" else set()
            if places and places <= self.known:
                report.outcome, report.wasxfail = "skipped", "known failure"
            elif places and self._config.get_verbosity() < 1:
                report.longrepr = known_again(len(places))
                report.sections.clear()
        if report.when == "call" and isinstance(item, SeedItem) and item.record is not None:
            setattr(report, _KEY, dataclasses.asdict(item.record))
            if report.skipped:
                # Otherwise it would name the line of this module that skips.
                report.longrepr = (str(item.path), None, f"Skipped: {one_line(item.record.reason)}")  # type: ignore[assignment]
        return report

    def _again(self, error: BaseException) -> set[str]:
        """Return the places of the failures of a test, if all of them are those of seeds."""
        places: set[str] = bounded_call(lambda: self.places(leaves_of(error)), lambda _raised: set())
        return places if places <= self.failing else set()

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
        left = sum(map(len, self._chosen.values())) - len(self._records)
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
            for line in seed_section(
                sorted(self._records, key=lambda record: (record.start, record.path)),
                verbose=self._config.get_verbosity() > 0,
                folders={project.start: project.own_seeds for project in self._projects},
            ):
                terminalreporter.line(line)


def make_plugin(
    config: pytest.Config,
    corpora: Sequence[tuple[Path, Path]],
    stores: Mapping[Path, tuple[str, Sequence[str]]],
    known: Mapping[Path, Sequence[str]],
) -> SeedReplays:
    """Return the plugin for projects, each given by its folder and its seeds' folder, and for those with a store."""
    return SeedReplays(config, [Project.of(config, folder, seeds) for folder, seeds in corpora], stores, known)


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
