"""``--watch`` of ``ordeal seeds`` and ``ordeal explore``: after each save, replays the seeds that run the saved code.

``explore`` also searches between two saves, in a separate process: the same command without ``--watch``. This process
runs no code of the user's: a warm one does, which is ended and started again when it takes too long.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, override

import msgspec

from ordeal._base.formatting import counted, one_line
from ordeal._base.interpreter import LineReader, end, start
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal._native import monotonic
from ordeal.cli import terminal
from ordeal.config.flags import ExploreFlags
from ordeal.config.options import ExplorationOptions
from ordeal.config.settings_file import OrdealConfig
from ordeal.errors import ConfigError
from ordeal.result.exploration import is_installed

FOUND = 1
#: So long may all seeds of a class take; a rule that hangs has a limit of its own.
SECONDS_MAX = 120.0
#: So long an answer may be.
LINE_BYTES_MAX = 2**20
#: A change is reported when there was no other for so long; editors write a file in several steps.
QUIET_MILLISECONDS, WAIT_MILLISECONDS = 20, 400
#: Without a change, a look at what goes on in between.
LOOK_MILLISECONDS = 500


class WatchAnswer(msgspec.Struct, frozen=True):
    """A line of the warm process: what became of a seed, the files of the code, or that a request is done."""

    seed: str = ""
    status: str = ""
    fails: bool = False
    line: str = ""
    files: list[str] | None = None
    done: bool = False


_ANSWER = msgspec.json.Decoder(WatchAnswer)


class WarmProcess:
    """A process that replays seeds, see ``warm_replay``; it is started again when it has ended."""

    def __init__(self, rule_timeout: float | None, caches: Path, *, seconds_max: float = SECONDS_MAX) -> None:
        self._rule_timeout, self._caches, self._seconds_max = rule_timeout, caches, seconds_max
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: LineReader | None = None
        self._lines: list[bytes] = []

    def forget(self, file: str) -> None:
        """Delete what was compiled of a file: its time is too coarse to tell two savings of one second apart."""
        if file.endswith(".py"):
            folder = self._caches / Path(file).parent.relative_to("/")
            for path in folder.glob(f"{Path(file).stem}.*.pyc"):
                path.unlink(missing_ok=True)

    def replay(self, seeds: Sequence[Path]) -> Iterator[WatchAnswer]:
        """Yield what becomes of each seed, then the files of the code. A seed that ends its process has no answer."""
        try:
            yield from self._replay(seeds)
        except (OSError, ValueError, msgspec.DecodeError):
            self.close()

    def _replay(self, seeds: Sequence[Path]) -> Iterator[WatchAnswer]:
        deadline = monotonic() + self._seconds_max
        process = self._started(deadline)
        assert process.stdin is not None
        request = {
            "seeds": list(map(str, seeds)),
            "path": sys.path,
            "caches": str(self._caches),
            "rule_timeout": self._rule_timeout,
        }
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        while not (answer := self._answer(deadline)).done:
            yield answer

    def _started(self, deadline: float) -> subprocess.Popen[bytes]:
        if self._process is None:
            code = "import sys; sys.path[:] = sys.argv[1:]; from ordeal.cli.warm_replay import main; main()"
            self._process = start([sys.executable, "-P", "-c", code, *sys.path], pipes=["stdin", "stdout"])
            self._reader, self._lines = LineReader(self._process.stdout, LINE_BYTES_MAX), []
            self._answer(deadline)
        return self._process

    def _answer(self, deadline: float) -> WatchAnswer:
        """Return the next line. Raises ``ValueError`` where there is none in time, or it is too long."""
        while not self._lines:
            left = deadline - monotonic()
            if left <= 0 or self._reader is None or self._reader.is_over:
                raise ValueError("the process ended, writes too much or does not answer in time")
            self._lines += self._reader.read(left)
        return _ANSWER.decode(self._lines.pop(0))

    def close(self) -> None:
        """End the process with all that it started."""
        if self._process is not None:
            end(self._process)
            self._process = None


@dataclass(slots=True)
class SeedGroup:
    """The seeds of a class, the files that its code came from, and which seeds fail."""

    name: str
    seeds: list[Path]
    files: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)
    whole: bool = False

    def belongs(self, changed: Iterable[str]) -> bool:
        """Whether a change is one of its code; where that could not be imported, each one may be."""
        changed = set(changed)
        return (
            bool(changed & self.files) or (not self.whole and bool(changed)) or bool(changed & set(self._own_files()))
        )

    def _own_files(self) -> Iterator[str]:
        return (os.path.realpath(path) for path in self.seeds)


class SeedWatch:
    """Replays the groups of a corpus, and tells what became of them."""

    def __init__(self, corpus: SeedCorpus, warm: WarmProcess, say: Callable[[str], None]) -> None:
        self._corpus, self._warm, self._say = corpus, warm, say
        self.groups: dict[str, SeedGroup] = {}
        self._read()

    def _read(self) -> None:
        """Take the seeds as they are now."""
        by_class: dict[str, list[Path]] = {}
        for path in self._corpus.paths():
            by_class.setdefault(path.parent.name, []).append(path)
        self.groups = {name: self._group(name, seeds) for name, seeds in by_class.items()}

    def _group(self, name: str, seeds: list[Path]) -> SeedGroup:
        known = self.groups.get(name)
        if known is None or known.seeds != seeds:
            return SeedGroup(name, seeds, set() if known is None else known.files)
        return known

    def replay_all(self) -> None:
        """Replay every seed."""
        self._replay(self.groups.values())

    def changed(self, files: Iterable[str]) -> bool:
        """Replay the seeds that a change of ``files`` concerns; return whether there were any."""
        changed = [os.path.realpath(file) for file in files]
        before = dict(self.groups)
        self._read()
        for file in changed:
            self._warm.forget(file)
        concerned = [
            each for each in self.groups.values() if each.belongs(changed) or before.get(each.name) is not each
        ]
        if concerned:
            if changed:
                self._say(f"\n{', '.join(sorted({one_line(Path(file).name) for file in changed}))} changed")
            self._replay(concerned)
        return bool(concerned)

    def _replay(self, groups: Iterable[SeedGroup]) -> None:
        began, number = monotonic(), 0
        for group in groups:
            number += len(group.seeds)
            self._replay_group(group)
        failing = sum(len(each.failing) for each in self.groups.values())
        verdicts = [f"{failing} failing"] if failing else []
        verdicts += ["not all could be replayed"] if not all(each.whole for each in self.groups.values()) else []
        took = f"{counted(number, 'seed')} run in {monotonic() - began:.2f} s"
        self._say(f"{took}: {', '.join(verdicts) or 'no seed fails'}")

    def _replay_group(self, group: SeedGroup) -> None:
        told: set[str] = set()
        group.failing.clear()
        group.whole = True
        ended = True
        unusable = 0
        for answer in self._warm.replay(group.seeds):
            if answer.files is not None:
                group.files |= set(answer.files)
                ended = False
                continue
            told.add(answer.seed)
            group.whole &= answer.status != "class_unusable"
            if answer.fails:
                group.failing.add(answer.seed)
            # A class that cannot be loaded is said once, not for each of its seeds.
            unusable += answer.status == "class_unusable"
            if answer.status != "class_unusable" or unusable == 1:
                self._say(answer.line)
        if unusable > 1:
            self._say(f"  NO CLASS    {counted(unusable - 1, 'more seed')} of {group.name}")
        if ended:
            # The one after the last that was told of ended the process, or took too long.
            group.whole = False
            rest = [path for path in group.seeds if str(path) not in told]
            for path in rest[:1]:
                group.failing.add(str(path))
                self._say(f"  REGRESSION  {one_line(path.name)}  ended its process, or took too long")
            if len(rest) > 1:
                self._say(f"  {counted(len(rest) - 1, 'seed')} of {group.name} not replayed after it")

    @property
    def folders(self) -> list[str]:
        """The folders in which a change may concern a seed: not those below, which may hold anything."""
        found = {Path.cwd()}
        for group in self.groups.values():
            found |= {each.resolve().parent for each in group.seeds}
            found |= {Path(file).parent for file in group.files}
        return sorted(str(folder) for folder in found if folder.is_dir())

    @property
    def exit_code(self) -> int:
        """1 while a seed fails."""
        return FOUND if any(group.failing for group in self.groups.values()) else 0


def is_watched(name: str) -> bool:
    """Whether a file may be code or a seed."""
    return name.endswith((".py", ".toml")) or (Path(name).name.startswith("seed-") and ".json" in name)


class Between(Protocol):
    """What goes on between two saves."""

    @property
    def folders(self) -> list[str]:
        """The folders in which a change may concern it, besides those of the seeds."""

    def begin(self, watch: SeedWatch, /) -> None:
        """Begin, once all seeds have been replayed."""

    def look(self, saved: Sequence[str], watch: SeedWatch) -> bool:
        """Take up what was saved, or look how it goes without that; return whether there are other folders now."""

    def end(self) -> None:
        """End."""


class Waiting(Between):
    """Nothing goes on."""

    @property
    @override
    def folders(self) -> list[str]:
        return []

    @override
    def begin(self, _watch: SeedWatch, /) -> None:
        terminal.say("Watching; Ctrl-C ends.")

    @override
    def look(self, saved: Sequence[str], watch: SeedWatch) -> bool:
        return bool(saved) and watch.changed(saved)

    @override
    def end(self) -> None:
        pass


def watch_seeds(corpus: SeedCorpus, rule_timeout: float | None, between: Between | None = None) -> int:
    """Replay all seeds, then those of what is saved, until Ctrl-C; return 1 when a seed failed in the end, else 0.

    Raises:
        ConfigError: what notices changes is not installed.
    """
    if importlib.util.find_spec("watchfiles") is None:
        hint = "`pip install watchfiles`"
        raise ConfigError("`--watch` needs the package `watchfiles`", hint=hint)
    changes = importlib.import_module("watchfiles").watch
    with tempfile.TemporaryDirectory(prefix="ordeal-watch-") as folder:
        warm = WarmProcess(rule_timeout, Path(folder))
        try:
            watch = SeedWatch(corpus, warm, terminal.say)
            watch.replay_all()
            between = between or Waiting()
            try:
                between.begin(watch)
                _follow(watch, between, changes)
            except KeyboardInterrupt:
                if terminal.is_terminal():
                    # What follows begins below the ^C.
                    terminal.say("")
            between.end()
            return watch.exit_code
        finally:
            warm.close()


def _follow(watch: SeedWatch, between: Between, changes: Callable[..., Iterator[set[tuple[Any, str]]]]) -> None:
    while True:
        folders = _folders(watch, between)
        found = changes(
            *folders,
            watch_filter=lambda _, name: is_watched(name),
            step=QUIET_MILLISECONDS,
            debounce=WAIT_MILLISECONDS,
            recursive=False,
            raise_interrupt=True,
            rust_timeout=LOOK_MILLISECONDS,
            yield_on_timeout=True,
        )
        for batch in found:
            moved = between.look([name for _, name in batch], watch)
            if moved and _folders(watch, between) != folders:
                break


def _folders(watch: SeedWatch, between: Between) -> list[str]:
    return sorted({*watch.folders, *between.folders})


#: A search that does not end so long after a save is killed.
END_SECONDS = 5.0
#: More folders of code than this are not watched.
FOLDERS_MAX = 500


class Exploring(Between):
    """The search between two saves. ``arguments`` are those of the command line, ``modules`` are what it explores.

    Each begins anew: what was learned of other code, and what failed in it, says little of this.
    """

    def __init__(self, arguments: Sequence[str], modules: Iterable[str]) -> None:
        self._arguments, self._modules = arguments, tuple(modules)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @override
    def folders(self) -> list[str]:
        return list(dict.fromkeys(folder for name in self._modules for folder in _folders_of(name)))[:FOLDERS_MAX]

    @override
    def begin(self, watch: SeedWatch, /) -> None:
        if watch.exit_code:
            terminal.say("Exploring begins when no seed fails. Watching; Ctrl-C ends.")
        else:
            self._process = subprocess.Popen([sys.executable, "-m", "ordeal", *self._arguments])

    @override
    def look(self, saved: Sequence[str], watch: SeedWatch) -> bool:
        code = [name for name in saved if name.endswith(".py")]
        if code and self._process is not None:
            # It ends beside the replays, which come first.
            self._process.send_signal(signal.SIGINT)
        if saved and not watch.changed(saved) and code:
            terminal.say(f"\n{', '.join(sorted({Path(name).name for name in code}))} changed")
        if code:
            self.end()
            self.begin(watch)
            return True
        if self._process is None or self._process.poll() is None:
            return bool(saved)
        self._process = None
        # What it found is a seed now.
        watch.changed([])
        terminal.say("Watching; Ctrl-C ends.")
        return True

    @override
    def end(self) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def _folders_of(module: str) -> Iterator[str]:
    """Yield the folders of the code around a module, without importing it; nothing of installed code."""
    with suppress(ImportError, ValueError, AttributeError):
        spec = importlib.util.find_spec(module.partition(".")[0])
        places = [] if spec is None else list(spec.submodule_search_locations or ())
        if spec is not None and not places and spec.origin:
            yield from [str(Path(spec.origin).parent)] * (not is_installed(spec.origin))
        for place in places:
            if is_installed(place):
                continue
            for folder, below, _ in os.walk(place):
                below[:] = [name for name in below if not name.startswith((".", "__"))]
                yield folder


def explore_and_watch(flags: ExploreFlags, config: OrdealConfig, options: ExplorationOptions) -> int:
    """Replay and explore until Ctrl-C; return 1 when a seed failed in the end, else 0.

    Raises:
        ConfigError: the options contradict each other, or what notices changes is not installed.
    """
    against = {
        "--json": flags.json,
        "--dashboard": flags.dashboard,
        "--no-seeds": flags.no_seeds,
        "--prune-fixed-seeds": flags.prune_fixed_seeds,
        "--resume": options.resume_from is not None,
        "--on": options.on is not None,
    }
    for option in (name for name, given in against.items() if given):
        raise ConfigError(f"`--watch` and `{option}` contradict each other", hint="drop one of them")
    modules = [*(test.class_path.partition(":")[0] for test in config.tests), *options.target_modules]
    exploring = Exploring([argument for argument in sys.argv[1:] if argument != "--watch"], modules)
    return watch_seeds(SeedCorpus(config.report.corpus_dir), config.explorer.rule_timeout, exploring)
