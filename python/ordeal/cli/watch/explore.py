"""``ordeal explore --watch``: replays saved failures after each save of a file, and explores while none fails.

It explores in a process of its own, the same command without ``--watch``, which a save ends.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import override

from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.cli import terminal
from ordeal.cli.watch.seeds import Between, Watch, watch_seeds
from ordeal.config import OrdealConfig
from ordeal.config.options import ExplorationOptions, ExploreFlags
from ordeal.errors import ConfigError
from ordeal.result.exploration import is_installed

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
    def begin(self, watch: Watch, /) -> None:
        if watch.exit_code:
            terminal.say("Exploring begins when no seed fails. Watching; Ctrl-C ends.")
        else:
            self._process = subprocess.Popen([sys.executable, "-m", "ordeal", *self._arguments])

    @override
    def look(self, saved: Sequence[str], watch: Watch) -> bool:
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
