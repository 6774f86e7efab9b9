"""``ordeal mutate``: breaks a program in many places, one at a time, and reports which breaks no test notices."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ordeal._base.formatting import counted, one_line
from ordeal._base.limits import REPORT_SECONDS, SOURCE_BYTES_MAX
from ordeal._base.regular_file import read_whole
from ordeal._native import monotonic
from ordeal._report.mutation import mutant_json, mutation_json, mutation_text
from ordeal._tools.mutation import saved
from ordeal._tools.mutation.accepted import accepted
from ordeal._tools.mutation.dead import told
from ordeal._tools.mutation.machines.evidence import MachineOptions
from ordeal._tools.mutation.machines.running import judge_with_machines
from ordeal._tools.mutation.mutants import CHIMP, Made, Mutant, made_of
from ordeal._tools.mutation.operators import OPERATORS, PRESETS
from ordeal._tools.mutation.running import Judgement, judge_with_pytest
from ordeal._tools.mutation.sandbox import NoVerdictError
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.targets import Target, changed_lines, files_of, shown_path, targets_of
from ordeal._tools.mutation.verdicts import WORDS, Score, Verdict
from ordeal.cli import terminal
from ordeal.cli.mutation import last
from ordeal.cli.mutation.settings import (
    judging_options,
    refuse_options_of_others,
    with_settings,
)
from ordeal.config.flags import MutateOptions
from ordeal.config.options import DEFAULT_PATH
from ordeal.config.settings_file import load_config_for
from ordeal.errors import INTERRUPTED, ConfigError

#: The head of a function that pytest collects.
_TEST = re.compile(r"^\s*(async )?def test", re.MULTILINE)


def run(words: Mapping[str, Any]) -> int:
    """Judge the mutants. Return the exit code: 0, 1 when the score is below the threshold, 130 when interrupted."""
    verb = last.verb_of(words["paths"])
    refuse_options_of_others(verb, words)
    if verb:
        with terminal.termination_interrupts():
            return last.run(words)
    given = with_settings(words)
    given = last.as_rerun(given)
    sources = sources_of(given.paths, given.exclude)
    operators = operators_of(given)
    workers = given.workers or os.cpu_count() or 1
    with terminal.termination_interrupts():
        return _run(given, sources, operators, workers)


def _run(given: MutateOptions, sources: Sequence[Source], operators: Sequence[str], workers: int) -> int:
    folder = Path.cwd()
    made = _made(sources, operators, given.paths, folder)
    made_all = [mutant for each in made for mutant in each.mutants]
    mutants, drawn_from = _sampled(_chosen(made_all, sources, given, folder), given)
    if not mutants:
        if given.since:
            terminal.say("no mutants in the lines that changed")
            if given.json and not given.lists:
                terminal.write(json.dumps(mutation_json(sources, Judgement()), indent=2) + "\n")
            return 0
        if given.mutant and made_all:
            hint = "`--list` lists the mutants with their ids"
            raise NoVerdictError(f"no mutant here has an id that begins with `{one_line(given.mutant)}`", hint=hint)
        raise NoVerdictError("there is nothing to mutate", hint="name other files, or another `--preset`")
    accepted_here = accepted(sources, mutants, folder / given.accept_file)
    mutants = [each for each in mutants if each.id not in accepted_here]
    if accepted_here:
        terminal.say(f"{counted(len(accepted_here), 'mutant')} accepted, with reasons, and not judged")
    if not mutants:
        raise NoVerdictError("each mutant is accepted, so there is none to judge", hint="name other files")
    if given.lists and given.json:
        by_name = {source.shown: source for source in sources}
        terminal.write(json.dumps([mutant_json(by_name[each.shown], each) for each in mutants], indent=2) + "\n")
        return 0
    if given.lists:
        for each in mutants:
            terminal.write(one_line(f"{each.id}  {each.shown}:{each.line}  {each.name or 'module'}  {each.operator}"))
            terminal.write("\n")
        return 0
    left_out = {
        "equivalent": sum(len(each.equivalent) for each in made),
        "duplicate": sum(len(each.duplicate) for each in made),
        "accepted": len(accepted_here),
    }
    named = f"operators {given.operator_words}" if given.operator_words else f"preset {given.preset}"
    terminal.say(f"{counted(len(mutants), 'mutant')} of {named}, {counted(workers, 'worker')}")
    by_machines = given.judges == "machines"
    if given.judges is None and _only_machines_test(given, folder):
        by_machines = True
        terminal.say("the tests here are TestCases of machines, so the machines judge; `--with tests` runs pytest")
    judgement = (_by_machines if by_machines else _by_tests)(given, sources, mutants, workers, left_out)
    judgement.drawn_from = drawn_from
    _write(given, sources, judgement)
    if judgement.was_interrupted:
        return INTERRUPTED
    if given.new_only:
        return int(any(each.word in ("survived", "uncovered") for each in judgement.verdicts))
    score = Score.of(judgement.verdicts)
    least = score.range[0] if score.judged and score.range else None
    gates = (given.threshold, least), (given.assertion_threshold, score.least_asserted if score.judged else None)
    return int(any(gate is not None and (percent is None or percent < gate) for gate, percent in gates))


def _only_machines_test(given: MutateOptions, folder: Path) -> bool:
    """Return True if the tests of a project are TestCases of machines: Hypothesis would search for minutes in each."""
    if given.tests or not Path(given.config).is_file() or not load_config_for((), given.config).tests:
        return False
    patterns = ("test_*.py", "*_test.py", "tests/**/test_*.py", "tests/**/*_test.py")
    files = {path for pattern in patterns for path in folder.glob(pattern)}
    texts = [read_whole(path, SOURCE_BYTES_MAX).decode("utf-8", "replace") for path in sorted(files)]
    return any(".TestCase" in text for text in texts) and not any(_TEST.search(text) for text in texts)


def _by_tests(
    given: MutateOptions,
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    workers: int,
    left_out: dict[str, int],
) -> Judgement:
    """Judge mutants by the tests of pytest, or repeat the saved verdicts if nothing has changed."""
    folder = Path.cwd()
    options = judging_options(given)
    settings = {name: getattr(given, name) for name in ("memory", "deselect_failing")}
    key = saved.key_of(folder, mutants, {"tests": options["tests"], **settings})
    last_run = None if given.no_cache else saved.load(folder)
    earlier = saved.standing(last_run, key)
    if earlier:
        stands = "verdict stands" if len(earlier) == 1 else "verdicts stand"
        terminal.say(f"nothing has changed since the last run: {len(earlier)} {stands}; --no-cache judges all again")
    done = {each.mutant.id: each for each in earlier}
    left = [each for each in mutants if each.id not in done]
    if last_run is not None and not left:
        known = last_run.judgement()
        known.verdicts, known.left_out = [done[each.id] for each in mutants], left_out
        return known
    keeper, progress = saved.Keeper(folder, key, earlier), MutationProgress(len(left))

    def take(verdict: Verdict) -> None:
        keeper.take(verdict)
        progress.take(verdict)

    def begun(judgement: Judgement) -> None:
        progress.close()
        keeper.begin(judgement)
        passes = f"{counted(judgement.tests, 'test')} pass{'es' if judgement.tests == 1 else ''}"
        terminal.say(f"{passes} without a mutant in {judgement.suite_seconds:.1f} s")
        minutes = len(left) * judgement.suite_seconds / workers / 60
        if minutes > 1 and not given.budget:
            terminal.say(f"at most {minutes:.0f} min; `--budget 60` stops after a minute, with one mutant of each line")
        if judgement.switched_off:
            terminal.say(f"switched off while mutants are judged: {', '.join(judgement.switched_off)}")

    with closing(progress):
        judgement = judge_with_pytest(
            sources,
            left,
            workers=workers,
            budget=given.budget,
            begun=begun,
            progress=take,
            beginning=progress.begin,
            **options,
        )
    found = {each.mutant.id: each for each in told(sources, [*earlier, *judgement.verdicts], folder)}
    judgement.verdicts, judgement.left_out = [found[each.id] for each in mutants], left_out
    say_if_lost(saved.save(folder, key, judgement))
    return judgement


def _made(sources: Sequence[Source], operators: Sequence[str], paths: Sequence[str], folder: Path) -> list[Made]:
    """Return the mutants of the files, or of the named parts of them."""
    parts = {source.path: list[Target]() for source in sources}
    for target in targets_of(paths, folder):
        if target.path in parts:
            parts[target.path].append(target)

    def inside(source: Source, mutants: list[Mutant]) -> list[Mutant]:
        return [each for each in mutants if any(part.holds(each) for part in parts[source.path])]

    found = ((source, made_of(source, operators)) for source in sources)
    return [Made(*(inside(source, getattr(made, each)) for each in Made.__slots__)) for source, made in found]


def sources_of(paths: Sequence[str], exclude: Sequence[str]) -> list[Source]:
    """Return the files that paths name, without those that are excluded."""
    folder = Path.cwd()
    return [Source.of(path, shown_path(path, folder)) for path in files_of(paths, folder, exclude)]


def operators_of(given: MutateOptions) -> tuple[str, ...]:
    """Return the names of the chosen operators."""
    if not given.operator_words:
        return (CHIMP,) if given.preset == CHIMP else PRESETS[given.preset]
    names = tuple(given.operator_words.split(","))
    for name in names:
        if not name:
            hint = "write names with a comma between them"
            raise ConfigError(f"`--operators` is `{given.operator_words}`", hint=hint)
        if name not in OPERATORS:
            near = difflib.get_close_matches(name, OPERATORS, 1)
            raise ConfigError(
                f"`{name}` is not an operator",
                hint=f"did you mean `{near[0]}`?" if near else f"there are {', '.join(OPERATORS)}",
            )
    return names


def _chosen(mutants: list[Mutant], sources: Sequence[Source], given: MutateOptions, folder: Path) -> list[Mutant]:
    if given.rerun:
        still_open = last.left_open(saved.load(folder))
        mutants = [mutant for mutant in mutants if mutant.id in still_open]
    if given.mutant:
        mutants = [mutant for mutant in mutants if mutant.id.startswith(given.mutant)]
    if given.since:
        changed = changed_lines(given.since, folder)
        files = {source.shown: changed.get(source.path.resolve(), set()) for source in sources}
        mutants = [
            each
            for each in mutants
            if files[each.shown] & set(range(each.line, each.line + each.original.count("\n") + 1))
        ]
    return mutants


def _sampled(mutants: list[Mutant], given: MutateOptions) -> tuple[list[Mutant], int]:
    """Return a sample, and of how many it was drawn; all, and 0, where none is asked for."""
    if not given.sample or given.sample >= len(mutants):
        return mutants, 0

    # By a digest of its id, so that a mutant stays in the sample when others come or go.
    def digest(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{given.seed} {mutant.id}".encode()).digest()

    first_left_out = sorted(map(digest, mutants))[given.sample]
    return [each for each in mutants if digest(each) < first_left_out], len(mutants)


def _write(given: MutateOptions, sources: Sequence[Source], judgement: Judgement) -> None:
    if given.json:
        terminal.write(json.dumps(mutation_json(sources, judgement), indent=2) + "\n")
        return
    terminal.write(mutation_text(sources, judgement, every=given.every))
    if judgement.machines:
        if any(each.word == "survived" for each in judgement.verdicts):
            words = shlex.join([*given.paths, *([] if given.config == DEFAULT_PATH else ["-c", given.config])])
            terminal.write(one_line(f"to write a test that notices one: ordeal mutate kill ID {words}".rstrip()) + "\n")
        return
    chosen = ["--operators", given.operator_words] if given.operator_words else ["--preset", given.preset]
    flags = [*given.paths, *chosen, *(f"--tests={each}" for each in given.tests)]
    terminal.write(f"judge one again: ordeal mutate {shlex.join(flags)} --mutant ID\n")


#: Seconds of silence before a line says how far the tests without a mutant are.
_QUIET_SECONDS = 3.0


def progress_lines() -> Callable[[str], None]:
    """Return a function that prints the progress as a line after three seconds of silence."""
    due = monotonic() + _QUIET_SECONDS

    def say(text: str) -> None:
        nonlocal due
        if monotonic() >= due:
            due = monotonic() + _QUIET_SECONDS
            terminal.say(f"  {text}")

    return say


class MutationProgress:
    """Counts verdicts, and shows them when it is time."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._counts: Counter[str] = Counter()
        # What draws it takes time to import, and a log does not need it.
        self._region = importlib.import_module("ordeal.cli.live").Region() if terminal.can_redraw() else None
        self._first = self._due = 0.0
        self._say = progress_lines()

    def begin(self, text: str) -> None:
        """Show how far the tests without a mutant are, before the first verdict."""
        if self._region is not None:
            self._region.show(f"{text}...")
        else:
            self._say(text)

    def take(self, verdict: Verdict) -> None:
        """Count one more."""
        now = monotonic()
        # Tests run without a mutant before the first verdict: that is not part of the speed.
        self._first = self._first or now
        self._done += 1
        self._counts[verdict.word] += 1
        if self._region is not None and now >= self._due:
            self._due = now + REPORT_SECONDS
            self._region.show(self.text(now - self._first))
        elif self._region is None and (self._done == self._total or now >= self._due):
            self._due = now + 10.0  # where lines follow one another
            terminal.say(f"  {self.text(now - self._first)}")

    def text(self, seconds: float) -> str:
        """Return the counts of verdicts, the speed, and the time that is left."""
        parts = [f"{self._done}/{self._total}"]
        parts += [f"{word} {self._counts[word]}" for word in WORDS if self._counts[word]]
        if seconds > 0 and self._done > 1:
            left = int((self._total - self._done) * seconds / self._done + 0.5)
            parts += [f"{self._done / seconds:.0f}/s", f"{left // 60}:{left % 60:02} left"]
        return "  ".join(parts)

    def close(self) -> None:
        """Clear the line."""
        if self._region is not None:
            self._region.clear()


def say_if_lost(why: str) -> None:
    """Print why a run could not be kept, if it could not."""
    if why:
        terminal.say(f"this run cannot be kept in .ordeal/mutate: {one_line(why)}")


#: Runs that fail on a mutant and pass on the program: they judge mutants, as saved failures do.
GUARDS = ".ordeal/guards"


def _by_machines(
    given: MutateOptions,
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    workers: int,
    left_out: dict[str, int],
) -> Judgement:
    """Judge mutants by machines, and keep their verdicts."""
    options = machine_options(given, workers)
    with closing(MutationProgress(len(mutants))) as progress:
        found = judge_with_machines(sources, mutants, options, folder=Path.cwd(), progress=progress.take)
    found.verdicts, found.left_out = told(sources, found.verdicts, Path.cwd()), left_out
    say_if_lost(saved.save(Path.cwd(), "", found))
    return found


def machine_options(given: MutateOptions, workers: int) -> MachineOptions:
    """Return how the machines of the configuration judge.

    Raises:
        ConfigError: it names none.
    """
    config = load_config_for((), given.config)
    if not config.tests:
        raise ConfigError(f"{given.config} names no machine", hint='add an entry [[tests]] with class = "module:Class"')
    return MachineOptions(
        tuple(test.class_path for test in config.tests),
        tuple(config.explorer.target_modules),
        runs=given.runs,
        seed=given.seed,
        workers=workers,
        memory=given.memory,
        passed=tuple(given.passed),
        saved=(config.report.corpus_dir, config.report.traces_dir, GUARDS),
    )
