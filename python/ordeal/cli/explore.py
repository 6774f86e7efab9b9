"""``ordeal explore``: explores every class of the configuration, saves its findings, and prints the report."""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, redirect_stdout, suppress
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import click
import msgspec.structs

import ordeal._native as _native
from ordeal._base.formatting import counted, one_line
from ordeal._base.limits import MEBIBYTE
from ordeal._base.regular_file import opened_at_once
from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal._base.trace_file import Trace, write_atomically
from ordeal._base.untrusted import error_message
from ordeal._engine.execution.class_path import load_class, trust
from ordeal._engine.execution.machine import MachineFactory, check_factory
from ordeal._engine.isolation.child import Limits
from ordeal._engine.properties.history import PROPERTIES_PATH, add_reached
from ordeal._engine.runs.writer import RunWriter
from ordeal._engine.seed_corpus.corpus import SeedCorpus, load_seed
from ordeal._engine.triage.triage import shrinking_seconds
from ordeal._hypothesis.internals import skip_types
from ordeal._report.exploration import (
    closing_line,
    exploration_header,
    exploration_report,
    explorers_text,
    json_document,
    json_report,
)
from ordeal._report.formats import format_module, write_report
from ordeal._report.formats import recognised as show_by_itself
from ordeal._report.seeds import seed_outcomes_text, seeds_pruned, seeds_saved, seeds_that_hang
from ordeal._report.terminal import terminal_report
from ordeal.cli import terminal
from ordeal.cli.commands import ALL_OPTIONS
from ordeal.cli.folders import traces_folders
from ordeal.cli.own_files import is_generated, is_state, place_for, write_placed
from ordeal.cli.progress import Watchers, progress_view
from ordeal.config.flags import ExploreFlags
from ordeal.config.options import (
    HEALTH,
    SEARCHED,
    STORE_VARIABLE,
    ExplorationOptions,
    ExplorerConfig,
    FleetConfig,
    TestConfig,
    options_of_entry,
)
from ordeal.config.settings_file import OrdealConfig, load_config_for
from ordeal.config.table import values_of
from ordeal.errors import FOUND, INTERRUPTED, WRONG_USE, ConfigError, OrdealError, SkippedError, TraceError
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult, NoteKind, SeedStatus
from ordeal.result.parts import has_kind

#: Which members take options that others do not. A settings file may hold them next to another `on`.
TAKEN_BY = {"image": ("kubernetes",), "job_options": ("slurm", "kubernetes"), "project": ("ray", "dask")}


def run(given: Mapping[str, Any]) -> int:
    """Explore with the options of the command line, by name; ``None`` means not given. Return the exit code."""
    own, command = ExploreFlags().with_flags(given), ExplorationOptions().with_flags(given)
    config = load_config_for(given["classes"], given["config"])
    report = config.report.with_flags(given)
    formats = tuple(dict.fromkeys((*config.report.formats, *report.formats)))
    asked = config.health.with_flags(given).fail_on
    for check in [] if asked == config.health.fail_on else asked:
        if check in HEALTH[SEARCHED:]:
            message = f"a search does not check `{check}`, which `--fail-on` names"
            raise ConfigError(message, hint="give the option to `ordeal doctor`, which does")
    fail_on = (*config.health.fail_on, *asked)
    health = config.health.replaced(fail_on=tuple(dict.fromkeys(fail_on)))
    config = config.replaced(report=report.replaced(formats=formats), health=health)
    options = _effective(config, exploration_options(config, confirm_fresh=True).with_flags(given), command, own)
    _refuse_flags(own, config, options, command)
    _refuse_fleet_flags(command, options)
    tests, state = own.generate_tests, options.save_state_to
    own = own.replaced(generate_tests=tests and place_for("--generate-tests", tests, is_generated, own.on_exists))
    options = options.replaced(save_state_to=state and place_for("--save-state", state, is_state, own.on_exists))
    _check_entries(config, options)
    for name in formats:
        format_module(name)  # a report that cannot be written is refused before the search
    if own.dry_run:
        return int(importlib.import_module("ordeal.cli.fleet.dry_run").print_plans(config, options))
    terminal.say(_header(own, config, options))
    session = _CliSession(own, config, options, given["classes"])
    with session.kept():
        with terminal.termination_interrupts():
            session.explore_all()
        session.finish()
    return session.exit_code()


def _effective(
    config: OrdealConfig, options: ExplorationOptions, command: ExplorationOptions, flags: ExploreFlags
) -> ExplorationOptions:
    """Return the options of each class, before its own entry is applied."""
    own_store = os.environ.get(STORE_VARIABLE) if options.isolate and not command.store else None
    return options.replaced(
        # What this person has set, perhaps with a password, goes before what all share.
        store=own_store or options.store,
        known=config.explorer.known + command.known,
        workers=options.workers if options.isolate else 1,
        record_traces=(
            flags.generate_tests is not None
            or config.report.traces
            or ("observe" in config.report.formats and "sample")
        ),
        corpus_dir=None if flags.no_seeds else Path(config.report.corpus_dir),
    )


def exploration_options(config: OrdealConfig, **changes: Any) -> ExplorationOptions:
    """Return the options of the section ``[explorer]`` for a command, which explores in child processes."""
    return ExplorationOptions(**values_of(config.explorer) | values_of(config.fleet) | changes, isolate=True)


def _refuse_flags(
    flags: ExploreFlags, config: OrdealConfig, options: ExplorationOptions, command: ExplorationOptions
) -> None:
    if flags.no_seeds and flags.prune_fixed_seeds:
        message = "`--no-seeds` and `--prune-fixed-seeds` contradict each other"
        raise ConfigError(message, hint="drop one of them: seeds that are not replayed cannot be pruned")
    others = ("--workers", command.workers > 1), ("--store", options.store is not None)
    for option, is_given in others:
        if is_given and not options.isolate:
            message = f"`--in-process` and `{option}` contradict each other"
            raise ConfigError(message, hint="drop one of them: this process alone is one worker")
    for option, path in (("--save-state", options.save_state_to), ("--resume", options.resume_from)):
        if path is not None and len(config.tests) != 1:
            message = f"`{option}` names one file, and {flags.config} has {len(config.tests)} [[tests]]"
            raise ConfigError(message, hint="keep each class that is resumed in a separate settings file, see `-c`")


def _refuse_fleet_flags(command: ExplorationOptions, options: ExplorationOptions) -> None:
    kind = (options.on or "").partition(":")[0]
    for name, option in FleetConfig.options.items():
        if values_of(command)[name] == option.default:
            continue
        # A store is also shared by commands that people start themselves.
        if not kind and name != "store":
            message = f"`{option.long_flag}` is for a fleet, and nothing says where its members run"
            raise ConfigError(message, hint="add `--on`, for example `--on local:4`, or drop it")
        if kind not in TAKEN_BY.get(name, (kind,)):
            message = f"`{option.long_flag}` says nothing to members on `{kind}`"
            raise ConfigError(message, hint=f"drop it, or use it with `--on {' or '.join(TAKEN_BY[name])}`")


def _check_entries(config: OrdealConfig, options: ExplorationOptions) -> None:
    """Raise what is wrong with the entries before the first one starts; report all but the last of several errors."""
    errors = []
    # Output of the program under test belongs on stderr, as when it is explored.
    with redirect_stdout(sys.stderr):
        for test in config.tests:
            try:
                _machine_of(test, options)
            except SkippedError:
                continue  # said when its turn comes
            except OrdealError as error:
                errors.append(error)
    for each in errors[:-1]:
        terminal.show_error(each)
    if errors:
        raise errors[-1]


def _header(flags: ExploreFlags, config: OrdealConfig, options: ExplorationOptions) -> str:
    shown = _shown(flags, options)
    if not click.get_current_context().meta.get(ALL_OPTIONS):
        defaults = _shown(ExploreFlags(), ExplorationOptions(isolate=True, confirm_fresh=True))
        default_workers = (0, 1) if not options.isolate else (0,)
        shown = {name: value for name, value in shown.items() if value != defaults[name]}
        shown = {name: value for name, value in shown.items() if name != "workers" or value not in default_workers}
    return exploration_header(
        _native.__version__,
        classes=len(config.tests),
        who=explorers_text(options),
        time=f"{options.max_time:g} s{_then(options)}",
        rng_seed=options.seed,
        options=shown,
    )


def _then(options: ExplorationOptions) -> str:
    if not options.shrink:
        return ""
    seconds = shrinking_seconds(options)
    return " and then shrinking" if seconds == math.inf else f", then up to {seconds:g} s to shrink"


def _shown(flags: ExploreFlags, options: ExplorationOptions) -> dict[str, object]:
    """Return every option of the session, whether given or by default, in the order of the reference."""
    names = [name for name in ExplorerConfig.options if name != "seed"]
    return {"config": flags.config, **{name: getattr(options, name) for name in [*names, "shrink", "confirm_fresh"]}}


class _CliSession:
    """One call of the command: explores the entries one after the other and keeps their results."""

    def __init__(
        self, flags: ExploreFlags, config: OrdealConfig, options: ExplorationOptions, named: Sequence[str]
    ) -> None:
        self._flags = flags
        self._named = {"classes": list(named)} if named else {}  # otherwise the settings file names them
        self._config = config
        self._options = options
        self._results: list[ExplorationResult] = []
        self._saved: set[Path] = set()
        self._unexplored = self._skipped = 0
        self._unwritten = 0
        self._unhealthy = 0
        self._interrupted = False
        self._run_writer = RunWriter(keep=config.report.keep_runs)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what happens during the block in the folder of this run."""
        writer = self._run_writer
        writer.begun(_native.__version__, [test.class_path for test in self._config.tests], self._shown_options())
        try:
            yield
        finally:
            writer.close()

    def explore_all(self) -> None:
        """Explore every entry. One that cannot be explored is reported, and the others still run."""
        for test in self._config.tests:
            terminal.say(f"Exploring {test.class_path}...")
            # Why the search does not begin at once: seeds are replayed first, and one that hangs takes its limit.
            folder, hanging = self._options.corpus_dir, 0
            for path in SeedCorpus(folder).paths_of(test.class_path) if folder is not None else ():
                with suppress(TraceError):
                    trace = load_seed(path)
                    # Other modules may have a class of the name.
                    if trace.failure is not None and trace.test_class == test.class_path:
                        hanging += trace.failure.error_type == RuleTimeoutError.__name__
            if hanging:
                terminal.say(seeds_that_hang(hanging))
            self._run_writer.class_started(test.class_path)
            self._explore(test)
            if self._interrupted:
                return

    def finish(self) -> None:
        """Write the requested files, and print the report."""
        if self._interrupted:
            terminal.say("interrupted: the report shows what was found so far")
        if self._flags.generate_tests is not None:
            path = Path(self._flags.generate_tests)
            from ordeal._engine.export.generated_tests import generate_tests

            def write() -> None:
                source = generate_tests([trace for result in self._results for trace in result.traces], apart=True)
                if source:
                    _replace_text(path, source)
                terminal.say(f"Generated tests: {path}" if source else "No tests generated: no trace was recorded")

            self._try(write, f"generated tests to `{path}`")
        if self._results:
            self._write_formats()
        in_file = self._config.report.format != "text" and self._write_report(Path(self._config.report.output))
        if self._flags.json:
            terminal.write(self._json())
        elif self._results and (self._config.report.format != "json" or not in_file):
            terminal.write(self._report())
        self._run_writer.finished(self._json(), self.exit_code(), interrupted=self._interrupted)
        if self._run_writer.trouble:
            terminal.say(f"note: this run is not kept: {one_line(self._run_writer.trouble)}")
        if self._results:
            failures = [failure for result in self._results for failure in result.failures if failure.bucket]
            if failures and terminal.is_terminal() and self._can_be_looked_up():
                long = [failure for failure in failures if not failure.shrunk and self._interrupted]
                what = (
                    "--shrink` makes its trace shorter"
                    if long
                    else "--plain bug.py` writes a bug report without ordeal"
                )
                terminal.say(f"\nhint: `ordeal replay {(long or failures)[0].id} {what}")
            terminal.say(closing_line(self._results, self.exit_code()))
        elif self._skipped and not self._unexplored:
            terminal.say(f"Nothing was explored: {counted(self._skipped, 'class', 'classes')} skipped")

    def _report(self) -> str:
        is_terminal = terminal.writes_to_terminal()
        coloured = terminal.has_colours(on_terminal=is_terminal)
        shown, by_path = self._flags.all, not self._can_be_looked_up()
        if is_terminal or coloured:
            return terminal_report(self._results, coloured=coloured, all_failures=shown, by_path=by_path)
        return exploration_report(self._results, all_failures=shown, by_path=by_path)

    def _json(self) -> str:
        return json_report(self._results, self._shown_options())

    def _shown_options(self) -> dict[str, object]:
        return {"seed": self._options.seed, **self._named, **_shown(self._flags, self._options)}

    def _can_be_looked_up(self) -> bool:
        """Return True if `ordeal replay ID` looks where the traces of this session are saved."""
        return Path(self._config.report.traces_dir) in traces_folders()

    def exit_code(self) -> int:
        """Return the exit code: an unexplored entry outweighs a finding, which outweighs an unwritten file."""
        found = any(result.failures for result in self._results)
        if self._interrupted:
            return FOUND if found else INTERRUPTED
        if self._unexplored:
            return WRONG_USE
        if found or self._unhealthy:
            return FOUND
        return WRONG_USE if self._unwritten else 0

    def _explore(self, test: TestConfig) -> None:
        try:
            options = options_of_entry(self._options, test)
            view = progress_view(self._flags.progress, test.class_path, options, verbose=self._config.report.verbose)
            watchers = Watchers(self._run_writer, view)
            # What the program prints is dropped here as it is in workers; `ordeal replay` shows it, run by run.
            shown = [closing(view), view.telling_of_interrupts()] if view else []
            with terminal.contained(verbose=False), ExitStack() as stack:
                for each in shown:
                    stack.enter_context(each)
                result = make_explorer(test, options).explore(watchers.progress, watchers.shrinking)
        except SkippedError as skip:
            self._skip(test, skip.message)
        except skip_types() as skip:
            self._skip(test, error_message(skip))
        except OrdealError as error:
            terminal.show_error(error)
            self._unexplored += 1
        except KeyboardInterrupt:
            self._interrupted = True
        else:
            folder, failures = Path(self._config.report.traces_dir), []
            for trace in result.traces if self._config.report.traces else ():
                if trace.failure is None:
                    self._save_trace(trace, folder / f"path-run-{trace.run_id}.json")
            for failure in result.failures:
                path = failure.trace_path
                if failure.trace is not None:  # with any settings: a failure must not be lost
                    path = self._save_trace(failure.trace, folder / f"fail-run-{failure.trace.run_id}.json")
                failures.append(msgspec.structs.replace(failure, trace_path=path))
            result = msgspec.structs.replace(result, failures=failures)
            self._results.append(result)
            self._run_writer.class_done(result)
            self._try(lambda: add_reached(Path(PROPERTIES_PATH), result.properties))
            self._tell_of(result)
            self._interrupted = result.stopped_reason == "interrupted"

    def _tell_of(self, result: ExplorationResult) -> None:
        """Say what became of the seeds, the state and the search, and count what lets the command fail."""
        report = self._config.report
        if result.seed_replays:
            terminal.say(seed_outcomes_text(result.seed_replays, verbose=report.verbose))
        if self._flags.prune_fixed_seeds:
            fixed = [Path(each.path) for each in result.seed_replays if each.status is SeedStatus.FIXED]
            pruned, errors = SeedCorpus(report.corpus_dir).remove(fixed)
            for error in errors:
                terminal.show_error(error)
            self._unwritten += len(errors)
            terminal.say(seeds_pruned(len(pruned)))
        kept = {failure.seed_path for failure in result.failures if failure.seed_path is not None}
        if kept:
            known = len(kept & {seed.path for seed in result.seed_replays})
            terminal.say(seeds_saved(len(kept) - known, known, report.corpus_dir))
        self._unwritten += has_kind(result.notes, NoteKind.SEED_NOT_SAVED)
        if self._options.save_state_to is not None:
            if has_kind(result.notes, NoteKind.STATE_NOT_SAVED):
                self._unwritten += 1
            else:
                terminal.say(f"State saved: {self._options.save_state_to}")
        if result.inconclusive is not None and not result.failures:
            terminal.say_error(f"{result.test_class}: {result.inconclusive.reason}", result.inconclusive.hint)
            self._unexplored += 1
        if wanted := self._config.health.fail_on:
            from ordeal._tools.doctor.checks import unhealthy

            for check in unhealthy(result, wanted):
                terminal.say_error(f"{result.test_class}: {check.message}", check.hint)
                self._unhealthy += 1

    def _skip(self, test: TestConfig, reason: str) -> None:
        """Skip a class that asks for it, as pytest does."""
        terminal.say(f"Skipped {test.class_path}: {one_line(reason) or 'without a reason'}")
        self._skipped += 1

    def _save_trace(self, trace: Trace, wanted: Path) -> str | None:
        """Return where the trace was saved, or ``None`` after reporting why it could not be."""
        # Each class numbers its runs from the start: a path that this session has written gets a number.
        numbered = (wanted.with_stem(f"{wanted.stem}-{number}") for number in count(2))
        path = next(each for each in chain([wanted], numbered) if each not in self._saved)

        def save() -> str:
            trace.save(path)
            self._saved.add(path)
            return str(path)

        return self._try(save)

    def _write_formats(self) -> None:
        """Write the reports for other programs, and those of the CI service that is recognised."""
        wanted, recognised = self._config.report.formats, show_by_itself(os.environ)
        if not wanted and not recognised:
            return
        document = json_document(self._results, self._shown_options(), kept_runs="observe" in wanted)
        folder = Path(self._config.report.report_dir)
        written = []
        for name in wanted:
            write = partial(
                write_placed, "--report-dir", folder, self._flags.on_exists, partial(write_report, name, document)
            )
            written.append(self._try(write, f"report {name} to `{folder / name}`"))
        if written := list(filter(None, written)):
            terminal.say(f"Reports saved: {', '.join(str(path) for path in written)}")
        if recognised:
            from ordeal._report.formats.github import annotation_lines
            from ordeal._report.formats.md import markdown

            terminal.say(annotation_lines(document), newline=False)
            path, text = os.environ.get("GITHUB_STEP_SUMMARY"), markdown(document)
            try:
                if path and text:
                    with open(path, "a", encoding="utf-8", errors="backslashreplace", opener=opened_at_once) as file:
                        file.write(text)
            except OSError as error:  # costs the job nothing
                terminal.say(f"note: the summary of the job was not written: {error.strerror or error}")

    def _write_report(self, path: Path) -> bool:
        def write() -> bool:
            _replace_text(path, self._json())
            terminal.say(f"Report saved: {path}")
            return True

        return bool(self._try(write, f"report to `{path}`"))

    def _try[Made](self, write: Callable[[], Made], what: str = "") -> Made | None:
        """Return the result of ``write``. A failure is reported and counted; the other results are still written."""
        try:
            return write()
        except OrdealError as error:
            terminal.show_error(error)
        except OSError as error:
            message = f"cannot write the {what}: {error.strerror or error}"
            terminal.say_error(message, "name another path, or change the rights of this one")
        self._unwritten += 1
        return None


def _machine_of(test: TestConfig, options: ExplorationOptions) -> MachineFactory:
    trust(test.class_path)
    given = load_class(test.class_path)
    if options.isolate:
        check_factory(given, options.rule_timeout, Limits(options.max_memory * MEBIBYTE))
    return given


def make_explorer(test: TestConfig, options: ExplorationOptions) -> Explorer:
    """Return the Explorer for an entry's class, which may be a function here: the settings are the user's own."""
    return Explorer.of(_machine_of(test, options), options)


def _replace_text(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode("utf-8", "backslashreplace"))
