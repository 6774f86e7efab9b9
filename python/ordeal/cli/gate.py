"""``ordeal gate``: everything that must hold before a merge, in one table with one exit code.

It runs the other commands, each in a separate process, and reads their JSON: nothing of the user's runs here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted, name_list
from ordeal._base.git import changed_files, last_line, root_of
from ordeal._base.imports import file_of, files_behind
from ordeal._base.interpreter import run_module
from ordeal._base.limits import GRACE_SECONDS
from ordeal._base.trace_file import Trace
from ordeal._native import monotonic
from ordeal._report.formats.document import line
from ordeal._report.pytest_lines import seed_line
from ordeal.cli import terminal
from ordeal.cli.folders import failure_path
from ordeal.config.flags import GateFlags
from ordeal.config.options import BASELINE, DEFAULT_PATH
from ordeal.config.settings_file import OrdealConfig, load_config

#: The warnings of `ordeal doctor` that say that a machine has tested less than it seems to.
REACH = ("class", "runs", "rules", "faults", "properties")
#: How often a trace is replayed, each time in a separate process.
REPLAYS = 3
#: Shrinking may take half of the time of a search again.
_WITH_SHRINKING = 1.5


@dataclass(frozen=True, slots=True)
class GateCheck:
    """The result of one check of the gate.

    Attributes:
        status: a ``skipped`` check does not stop the merge; its message gives the reason. Neither does one that is
            ``partial``, as no time was left for some classes, unless the gate is strict.
    """

    name: str
    status: Literal["passed", "failed", "skipped", "partial"]
    message: str
    details: tuple[str, ...] = ()
    next: str = ""


def run(flags: GateFlags) -> int:
    """Make all checks, and return 0 if nothing stops the merge, 1 if something does."""
    since = monotonic()
    for trace in flags.traces:
        Trace.load(failure_path(trace))
    made = _of_traces(flags) if flags.traces else _Gate(flags, load_config(flags.config)).checks()
    checks = [_shown(each, flags) for each in made]
    partial = [each.name for each in checks if each.status == "partial"]
    stops = [each.name for each in checks if each.status == "failed" or (flags.strict and each.status == "partial")]
    if flags.json:
        document = {
            "schema_version": JSON_SCHEMA_VERSION,
            "tool": "gate",
            "ok": not stops,
            "seconds": round(monotonic() - since, 3),
            "checks": [asdict(each) for each in checks],
        }
        terminal.write(json.dumps(document, indent=2) + "\n")
    else:
        verdict = f"stops the merge: {name_list(stops)}" if stops else "nothing stops the merge"
        verdict += f", but not all classes were checked: {name_list(partial)}" if partial and not stops else ""
        terminal.write(f"\n{verdict}, {monotonic() - since:.0f} s\n")
    return 1 if stops else 0


def _shown(check: GateCheck, flags: GateFlags) -> GateCheck:
    if not flags.json:
        status = check.status.upper() if check.status == "failed" else check.status
        terminal.write(f"{check.name:12}{status:9}{line(check.message)}\n")
        for each in (*check.details, *filter(None, [check.next])):
            terminal.write(f"{'':21}{line(each)}\n")
    return check


class _Gate:
    """One call of the command, for the project in the current folder."""

    def __init__(self, flags: GateFlags, config: OrdealConfig) -> None:
        self._flags, self._config = flags, config
        self._until = monotonic() + flags.max_time
        self._folder = Path.cwd()
        self._classes = [each.class_path for each in config.tests]

    def checks(self) -> Iterator[GateCheck]:
        """Yield the checks as they are made, the quickest first."""
        changed = None
        if self._flags.changed is not None:
            root = root_of(self._folder)
            changed = {each.resolve() for each in changed_files(root, self._flags.changed)}
        yield self._seeds()
        classes = [each for each in self._classes if changed is None or self._is_changed(each, changed)]
        unchanged = len(self._classes) - len(classes)
        note = f"{unchanged} of {counted(len(self._classes), 'class', 'classes')} unchanged" if unchanged else ""
        if classes:
            yield from self._examined(classes, note)
            yield self._counts(classes, note)
            yield self._explored(classes, note)
        else:
            message = f"no class has changed since {self._flags.changed}"
            yield from (GateCheck(name, "skipped", message) for name in ("reach", "determinism", "counts", "explore"))
        if self._flags.mutate:
            yield self._mutated()

    def _is_changed(self, class_path: str, changed: set[Path]) -> bool:
        """Return True if a changed file is part of a machine, of what it imports, or of the program that it tests."""
        roots = (self._folder, self._folder / "src")
        targets = [each.removesuffix(".*") for each in self._config.explorer.target_modules]
        parts = files_behind([class_path.partition(":")[0], *targets], roots)
        parts |= {(self._folder / name).resolve() for name in (DEFAULT_PATH, "pyproject.toml", "conftest.py")}
        # An edit in a submodule changes its folder.
        parts |= {folder for each in parts for folder in each.parents}
        # A module of a target may be imported by a name that no source holds.
        homes = filter(None, (file_of(each, roots) for each in targets))
        packages = [each.parent.resolve() for each in homes if each.name == "__init__.py"]
        return any(each in parts or any(map(each.is_relative_to, packages)) for each in changed)

    def _seeds(self) -> GateCheck:
        answer = _ordeal(["seeds"], self._left() + GRACE_SECONDS)
        if isinstance(answer, str):
            return GateCheck("seeds", "failed", answer)
        seeds = answer["seeds"]
        passing = sum(each["status"] == "fixed" for each in seeds)
        message = f"{passing} of {counted(len(seeds), 'saved failure')} pass" if seeds else "no failure is saved"
        failing = [each for each in seeds if each["status"] in ("reproduced", "fails_differently")]
        mute = [each for each in seeds if each["status"] in ("class_unusable", "unreadable")]
        details = [_outcome_line(each, each["name"]) for each in seeds if each["status"] != "fixed"]
        hint = f"`ordeal replay {failing[0]['path']}`" if failing else ""
        return GateCheck("seeds", "failed" if failing or mute else "passed", message, tuple(details), hint)

    def _examined(self, classes: Sequence[str], note: str) -> Iterator[GateCheck]:
        """Yield the doctor's checks of reach and determinism, for as many classes as half of the time allows."""
        order = ["doctor", "--config", self._flags.config]
        answers, others, left_out, failed = self._asked(classes, order, self._left() / 2)
        found = [check for answer in answers for check in answer["checks"] if check["subject"]]
        for name, wanted in (("reach", REACH), ("determinism", ("stability",))):
            bad = [each for each in found if each["name"] in wanted and each["status"] != "ok"]
            details = tuple(f"{each['subject']}: {each['message']}" for each in bad)
            message = ", ".join(filter(None, [f"{counted(len(answers), 'class', 'classes')} examined", note]))
            hint = "`ordeal doctor` says what to do" if bad else "`--max-time` gives it more" if left_out else ""
            status = _status(bad or failed or not answers, left_out)
            yield GateCheck(name, status, message, (*details, *others, *left_out), hint)

    def _counts(self, classes: Sequence[str], note: str) -> GateCheck:
        """Compare the figures of classes with the saved baseline, for as many as the time allows."""
        path = self._flags.baseline or BASELINE
        if self._flags.baseline is None and not Path(path).exists():
            hint = f"`ordeal profile --json > {path}` notes what they are now"
            return GateCheck("counts", "skipped", f"no {path} to compare with", next=hint)
        order = ["profile", "--config", self._flags.config, "--baseline", path]
        order += [] if self._flags.budget is None else ["--budget", f"{self._flags.budget:g}"]
        answers, others, left_out, failed = self._asked(classes, order, self._left() / 2)
        bad = [found for answer in answers for found in answer["findings"]]
        others += [
            f"{each}: not compared, as its steps have changed" for found in answers for each in found["not_compared"]
        ]
        message = ", ".join(filter(None, [f"{counted(len(answers), 'class', 'classes')} counted", note]))
        hint = f"`ordeal profile --json > {path}` accepts what they are now" if bad else ""
        status = _status(bad or failed or not answers, left_out)
        return GateCheck("counts", status, message, (*bad, *others, *left_out), hint)

    def _asked(
        self, classes: Sequence[str], order: Sequence[str], seconds: float
    ) -> tuple[list[dict[str, Any]], list[str], list[str], bool]:
        """Return what a command answers for classes, lines on the others, and whether it failed for one.

        After ``seconds``, no further class is asked about: the third list has lines on these.
        """
        answers, others, failed, until = list[dict[str, Any]](), list[str](), False, monotonic() + seconds
        left_out = list[str]()
        for each in classes:
            if answers and monotonic() > until:
                left_out.append(f"left out, as no time was left: {each}")
                continue
            answer = _ordeal([*order, each], self._left() + GRACE_SECONDS)
            if isinstance(answer, str):
                failed = True
                others.append(f"{each}: {answer}")
            else:
                answers.append(answer)
        return answers, others, left_out, failed

    def _explored(self, classes: Sequence[str], note: str) -> GateCheck:
        # Mutants get as much time as the search.
        share = self._left() / (2 if self._flags.mutate else 1)
        seconds = max(1.0, share / _WITH_SHRINKING / len(classes))
        limit = seconds * _WITH_SHRINKING * len(classes) + GRACE_SECONDS
        order = ["explore", "--config", self._flags.config, "--max-time", f"{seconds:.1f}"]
        answer = _ordeal([*order, "--progress", "none", *classes], limit)
        if isinstance(answer, str):
            return GateCheck("explore", "failed", answer)
        results = answer["results"]
        found = [each for result in results for each in result["failures"]]
        failures = [each for each in found if not each["flaky"]]
        unclear = [each for each in results if each["inconclusive"]]
        unconfirmed, runs = (sum(each[name] for each in results) for name in ("unconfirmed", "total_runs"))
        flaky = unconfirmed + len(found) - len(failures)
        details = [f"{each['error_type']}: {each['error_message']}" for each in found]
        details += [f"{each['test_class']}: {each['inconclusive']['reason']}" for each in unclear]
        if flaky:
            details.append(f"{counted(flaky, 'failure')} did not fail each time; `--flakes {flaky}` lets that pass")
        searched = f"{counted(runs, 'run')} of {counted(len(results), 'class', 'classes')}"
        message = ", ".join(filter(None, [counted(len(failures), "finding"), searched, note]))
        failed = failures or unclear or flaky > self._flags.flakes or len(results) < len(classes)
        hint = "`ordeal view` makes the page of the last one" if found else ""
        return GateCheck("explore", "failed" if failed else "passed", message, tuple(details), hint)

    def _mutated(self) -> GateCheck:
        order = ["mutate", "--since", self._flags.changed or "HEAD", "--budget", f"{self._left() + GRACE_SECONDS:.0f}"]
        answer = _ordeal(order, self._left() + 2 * GRACE_SECONDS)
        if isinstance(answer, str):
            return GateCheck("mutants", "failed", answer)
        if not answer["mutants"]:
            return GateCheck("mutants", "passed", "no mutants in the lines that changed")
        bad = [each for each in answer["mutants"] if each["verdict"] in ("survived", "uncovered", "not run")]
        details = [f"{each['file']}:{each['line']} {each['verdict']}: {each['operator']}" for each in bad]
        number = len(answer["mutants"])
        message = f"{number - len(bad)} of {counted(number, 'mutant')} of changed lines noticed"
        hint = "`ordeal mutate show ID` shows one, `accept ID` lets it pass" if bad else ""
        return GateCheck("mutants", "failed" if bad else "passed", message, tuple(details), hint)

    def _left(self) -> float:
        return max(1.0, self._until - monotonic())


def _status(has_failed: object, left_out: Sequence[str]) -> Literal["passed", "failed", "partial"]:
    return "failed" if has_failed else "partial" if left_out else "passed"


def _of_traces(flags: GateFlags) -> Iterator[GateCheck]:
    """Yield the checks of each trace: that it can be read, and that all its replays do the same."""
    for trace in flags.traces:
        outcomes = [_ordeal(["replay", trace], flags.max_time + GRACE_SECONDS) for _ in range(REPLAYS)]
        wrong = next((each for each in outcomes if isinstance(each, str)), None)
        if wrong is not None:
            yield GateCheck("trace", "failed", f"{trace}: {wrong}")
            continue
        lines = Counter(_outcome_line(each, "replay") for each in outcomes if not isinstance(each, str))
        details = tuple(f"{text} ({number} of {REPLAYS})" for text, number in lines.items())
        others = REPLAYS - max(lines.values())
        fails = any(not isinstance(each, str) and each["status"] != "not_reproduced" for each in outcomes)
        message = f"{trace}: " + ("the same outcome each time" if not others else f"{counted(others, 'replay')} differ")
        yield GateCheck("trace", "failed" if fails or others > flags.flakes else "passed", message, details)


def _outcome_line(replay: Mapping[str, Any], name: str) -> str:
    """Return in words whether a replay fails, and with which failure if it is not the recorded one."""
    status = "fixed" if replay["status"] == "not_reproduced" else replay["status"]
    error = f"{replay['error_type']}: {replay['error_message']}" if replay["error_type"] else ""
    recorded, reason = replay["recorded_error"] or "", replay.get("reason") or ""
    return seed_line(status, name, error=error, recorded=recorded, reason=reason)


def _ordeal(arguments: Sequence[str], seconds: float) -> dict[str, Any] | str:
    """Return what a command prints as JSON, or why there is none."""
    out, err = run_module("ordeal", [*arguments, "--json"], folder=Path.cwd(), seconds=seconds)
    try:
        answer: dict[str, Any] = json.loads(out)
    except ValueError:
        said = err.decode("utf-8", "replace")
        wrong = [each for each in said.splitlines() if each.startswith("error: ")]
        if wrong:
            return wrong[0].removeprefix("error: ")
        return f"`ordeal {arguments[0]}` did not end in time, or said nothing: {last_line(said)}"
    return answer
