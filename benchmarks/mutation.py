"""How fast and how true `ordeal mutate` judges released packages by their own tests.

usage: python benchmarks/mutation.py [PACKAGE]... [--preset P] [--workers N] [--sample N] [--at-import]
                                     [--truth N [--repeats N] [--kept FILE]] [--same N] [--again] [--seed S]

Without options: a whole run of each package; `--sample N` judges N mutants of it, drawn by the seed;
with `--at-import` only mutants of code outside of functions.
`--truth N` writes N mutants, drawn by the seed, to a copy of the package, one at a time, runs its tests by plain pytest
in a new process, and compares; where the two say different things, both are asked four times more. With `--repeats N`
plain pytest is asked so many times of each, and all must say the same. With `--kept FILE` each of its answers is
appended there, and counts when the same command runs again: so it can be ended at any time. `--same N` judges N
by one, two and four workers, twice, and next to four busy loops: all must say the same, word for word. `--again` runs
the command twice in a copy of the package, and says how long the second run takes, in which nothing has changed.

The goal: no verdict that plain pytest contradicts.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.peers import PeerError
from harness.report import command, host, table
from harness.suites import SUITES, Suite, suite_named

from ordeal._native import monotonic
from ordeal._tools.mutation.mutants import Mutant, mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.running import Judgement, judge_with_pytest
from ordeal._tools.mutation.sandbox import NoVerdictError
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.targets import files_of
from ordeal._tools.mutation.verdicts import DETECTED, WORDS, Score, Verdict

#: How long plain pytest may take for the program as it is; with a mutant at least so long, and so many times as long.
_TRUTH_SECONDS, _MUTANT_SECONDS, _TIMES = 60.0, 15.0, 10.0
_AGAIN = 4
#: What plain pytest may take: some mutants make lists that never end.
_TRUTH_BYTES = 3 << 30


@dataclass
class Run:
    """A package, its mutants, and how its tests are started; ``first`` is when the last judgement had a verdict."""

    suite: Suite
    folder: Path
    sources: list[Source]
    mutants: list[Mutant]
    first: float = 0.0

    @classmethod
    def of(cls, suite: Suite, preset: str) -> Run:
        folder = suite.folder()
        paths = files_of([suite.code], folder)
        sources = [Source.of(path, path.relative_to(folder).as_posix()) for path in paths]
        mutants = [mutant for source in sources for mutant in mutants_of(source, PRESETS[preset])]
        return cls(suite, folder, sources, mutants)

    def judge(self, mutants: Sequence[Mutant], *, workers: int) -> Judgement:
        os.environ["PYTHONPATH"] = os.pathsep.join(self.suite.path())
        began, self.first = monotonic(), 0.0

        def note(_: Verdict) -> None:
            self.first = self.first or monotonic() - began

        return judge_with_pytest(
            self.sources,
            mutants,
            tests=self.suite.arguments,
            folder=self.folder,
            workers=workers,
            progress=note,
        )


def whole(run: Run, judgement: Judgement) -> list[str]:
    words = [each.word for each in judgement.verdicts]
    routes = [each.route for each in judgement.verdicts]
    score = Score.of(judgement.verdicts)
    return [
        f"{run.suite.name} {run.suite.version}",
        str(judgement.tests),
        str(len(words)),
        " ".join(f"{word} {words.count(word)}" for word in WORDS if words.count(word)),
        str(routes.count("import")),
        f"{score.percent} %",
        f"{run.first:.1f} s",
        f"{judgement.seconds:.1f} s",
        f"{judgement.cpu_seconds:.1f} s",
        f"{1000 * judgement.cpu_seconds / len(words):.1f} ms",
    ]


class Answers:
    """What plain pytest has said of mutants, by package and id: lines of a file that outlives the process, if given."""

    def __init__(self, suite: Suite, path: Path | None) -> None:
        self._package, self._path = f"{suite.name} {suite.version}", path
        self._said: dict[str, list[str]] = {}
        for line in path.read_text("utf-8").splitlines() if path is not None and path.exists() else ():
            package, _, answer = line.partition("\t")
            mutant, _, said = answer.partition("\t")
            if package == self._package and said:
                self._said.setdefault(mutant, []).append(said)

    def of(self, mutant: Mutant, count: int, ask: Callable[[], str]) -> list[str]:
        """Return so many answers, and ask for those that are not there yet."""
        known = self._said.setdefault(mutant.id, [])
        while len(known) < count:
            known.append(ask())
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(f"{self._package}\t{mutant.id}\t{known[-1]}\n")
        return known[:count]


def truth(
    run: Run, judgement: Judgement, count: int, seed: int, repeats: int, kept: Path | None = None
) -> list[list[str]]:
    """Judge some mutants again by plain pytest, and return those of which it says something else."""
    asked = [each for each in judgement.verdicts if each.word != "not run"]
    # Half of them survivors, for a wrong verdict on one of these misleads most.
    chance = random.Random(seed)
    undetected = [each for each in asked if each.word not in DETECTED]
    sample = chance.sample(undetected, min(count // 2, len(undetected)))
    detected = [each for each in asked if each.word in DETECTED]
    sample += chance.sample(detected, min(count - len(sample), len(detected)))
    rows = []
    answers = Answers(run.suite, kept)
    with tempfile.TemporaryDirectory(prefix="ordeal-truth-") as place:
        copy = Path(place, "copy")
        shutil.copytree(run.folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        # Plugins that the suite does not need cost half of the time of a short one.
        for plugins in (False, True):
            began = monotonic()
            if _plain_pytest(run, copy, plugins, keep_bytecode=True)() == "passes":
                break
        else:
            return [[run.suite.name, "-", "-", "the tests fail in the copy"]]
        # What was compiled serves for all files but those that mutants stand in.
        for cache in {(copy / each.shown).parent / "__pycache__" for each in run.sources}:
            shutil.rmtree(cache, ignore_errors=True)
        says = _plain_pytest(run, copy, plugins, max(_MUTANT_SECONDS, _TIMES * (monotonic() - began)))
        for verdict in sample:
            source = next(each for each in run.sources if each.shown == verdict.mutant.shown)
            target = copy / verdict.mutant.shown
            target.write_bytes(verdict.mutant.applied(source.text))
            said = answers.of(verdict.mutant, repeats, says)
            target.write_bytes(source.text)
            if any((each == "passes") == (verdict.word in DETECTED) for each in said):
                target.write_bytes(verdict.mutant.applied(source.text))
                pytest = ", ".join([*said, *(says() for _ in range(_AGAIN))])
                target.write_bytes(source.text)
                again = [run.judge([verdict.mutant], workers=1).verdicts[0] for _ in range(_AGAIN)]
                ours = ", ".join(each.word for each in [verdict, *again])
                rows.append([run.suite.name, verdict.mutant.id, f"{ours} ({verdict.route})", _told(verdict, pytest)])
    times = f" {repeats} times" if repeats > 1 else ""
    return [*rows, [run.suite.name, f"{len(sample)} asked{times}", f"{len(rows)} contradicted", ""]]


def again(run: Run, preset: str) -> str:
    """Run the command twice, and return how long the second run took."""
    with tempfile.TemporaryDirectory(prefix="ordeal-again-") as place:
        copy = Path(place, "copy")
        shutil.copytree(run.folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        path = [each.replace(str(run.folder), str(copy)) for each in run.suite.path()]
        line = [sys.executable, "-m", "ordeal", "mutate", run.suite.code, "--preset", preset]
        line += [f"--tests={shlex.join(run.suite.arguments)}"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
        for _ in range(2):
            began = monotonic()
            done = subprocess.run(line, cwd=copy, env=environment, capture_output=True, text=True, check=False)
        stood = "nothing has changed" in done.stderr
        return f"{monotonic() - began:.1f} s" if stood else "it judged again"


def same(run: Run, count: int, seed: int) -> list[list[str]]:
    """Judge some mutants in several ways, and return what differs from the first."""
    chosen = {each.id for each in random.Random(seed).sample(run.mutants, min(count, len(run.mutants)))}
    mutants = [each for each in run.mutants if each.id in chosen]
    ways = [(1, 0), (1, 0), (2, 0), (4, 0), (2, 4)]
    first: list[Verdict] = []
    rows = []
    for workers, loops in ways:
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
        try:
            found = run.judge(mutants, workers=workers).verdicts
        finally:
            for each in busy:
                each.kill()
                each.wait()
        first = first or found
        what = [f"{_short(one)}, {_short(other)}" for one, other in zip(first, found, strict=True) if one != other]
        way = f"{workers} workers, {loops} loops beside"
        rows.append([run.suite.name, str(len(mutants)), way, "; ".join(what) or "the same"])
    return rows


def _short(verdict: Verdict) -> str:
    told = f"{verdict.word} {verdict.killer.rpartition('/')[2]} {verdict.tests} {verdict.note}"
    return f"{verdict.mutant.id} {' '.join(told.split())}"


def _told(verdict: Verdict, said: str) -> str:
    mutant = verdict.mutant
    return (
        f"{mutant.shown}:{mutant.line} {mutant.operator} `{mutant.original}` to `{mutant.replacement}`: pytest {said}"
    )


def _plain_pytest(
    run: Run, copy: Path, plugins: bool, limit_s: float = _TRUTH_SECONDS, keep_bytecode: bool = False
) -> Callable[[], str]:
    path = [each.replace(str(run.folder), str(copy)) for each in run.suite.path()]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    environment |= {} if keep_bytecode else {"PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {} if plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    line = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *run.suite.arguments]
    # An editable install of ordeal makes pytest warn, which some suites take for an error.
    line += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]

    def says() -> str:
        try:
            done = subprocess.run(
                line,
                cwd=copy,
                env=environment,
                capture_output=True,
                timeout=limit_s,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_TRUTH_BYTES, _TRUTH_BYTES)),
            )
        except subprocess.TimeoutExpired:
            return "hangs"
        return "fails" if done.returncode else "passes"

    return says


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--preset", choices=list(PRESETS), default="standard")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--at-import", action="store_true")
    parser.add_argument("--truth", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--same", type=int, default=0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    wholes, contradicted, sames = [], [], []
    for suite in map(suite_named, given.packages) if given.packages else SUITES:
        try:
            run = Run.of(suite, given.preset)
            if given.at_import:
                run.mutants = [each for each in run.mutants if each.function is None]
            if given.again:
                print(f"{suite.name}: {again(run, given.preset)}")
                continue
            if given.same:
                sames += same(run, given.same, given.seed)
                continue
            asked = random.Random(given.seed).sample(run.mutants, min(given.sample or sys.maxsize, len(run.mutants)))
            judgement = run.judge(asked if given.sample else run.mutants, workers=given.workers)
        except (NoVerdictError, PeerError) as error:
            print(f"{suite.name}: {error}", file=sys.stderr)
            continue
        wholes.append(whole(run, judgement))
        contradicted += truth(run, judgement, given.truth, given.seed, given.repeats, given.kept) if given.truth else []
        print(wholes[-1], file=sys.stderr)
    if given.same:
        print(table(["package", "mutants", "how", "what differs from the first"], sames))
        return int(any(each[-1] != "the same" for each in sames))
    header = ["package", "tests", "mutants", "verdicts", "at import", "score", "first", "wall", "CPU", "CPU each"]
    print(table(header, wholes))
    if contradicted:
        print("\n" + table(["package", "mutant", "ordeal says", "plain pytest"], contradicted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
