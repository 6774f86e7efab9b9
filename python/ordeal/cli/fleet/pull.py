"""``ordeal seeds pull``: takes the failures of a store home as seeds, each replayed here first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ordeal._engine.parallel.fleet.home import read_failures
from ordeal._engine.parallel.fleet.plan import named_store
from ordeal._engine.seed_corpus.corpus import SeedCorpus, SeedReplayer
from ordeal._report.seeds import listed_seed, pulled_summary, seeds_json
from ordeal.cli import terminal
from ordeal.cli.terminal import contained
from ordeal.config.options import DEFAULT_PATH, STORE_VARIABLE
from ordeal.config.settings_file import OrdealConfig
from ordeal.errors import FOUND, ConfigError

#: How long the store may take, in seconds.
LIMIT_SECONDS = 8.0


def pull(words: Sequence[str], config: OrdealConfig | None, corpus: SeedCorpus, *, verbose: bool, json: bool) -> int:
    """Save the failures of a store that fail here too; return 1 if there are any, 0 otherwise.

    ``words`` are the address of the store and classes, both optional: the environment or the settings name the store,
    and the settings the classes.
    """
    url, classes = _named(words, config)
    with TemporaryDirectory(prefix="ordeal-pull-") as folder:
        saved, refused = read_failures(url, classes, Path(folder), project=Path.cwd(), seconds=LIMIT_SECONDS)
        for wrong in refused:
            terminal.say(f"  refused     {wrong}")
        replayer = SeedReplayer(config.explorer.rule_timeout if config else None, settings=Path(DEFAULT_PATH))
        replays, known = [], 0
        for path in saved:
            with contained(verbose=verbose):
                replay = replayer.replay(path)
            if replay.fails and replay.trace is not None:
                before = set(corpus.paths_of(replay.trace.test_class))
                known += corpus.save(replay.trace) in before
            replays.append(replay)
            terminal.say(listed_seed(replay))
    failing = [replay for replay in replays if replay.fails]
    passing = len(replays) - len(failing)
    terminal.say(pulled_summary(len(failing) - known, known, passing, corpus.folder))
    if json:
        terminal.write(seeds_json(replays, corpus.folder, []))
    return FOUND if failing else 0


def _named(words: Sequence[str], config: OrdealConfig | None) -> tuple[str, list[str]]:
    has_url = bool(words) and "://" in words[0]
    for word in words[has_url:]:
        if ":" not in word:
            kind = "a class" if has_url else "the URL of a store nor a class"
            raise ConfigError(
                f"`{word}` is {'not' if has_url else 'neither'} {kind}",
                hint="write `ordeal seeds pull redis://HOST/0 tests.test_shop:ShopChaos`",
            )
    settings = config.fleet.store if config else None
    url = named_store(words[0] if has_url else None, settings)
    if not url:
        raise ConfigError("no store is named", hint=f"write its URL, or set {STORE_VARIABLE}")
    classes = list(words[has_url:]) or [test.class_path for test in config.tests] if config else list(words[has_url:])
    if not classes:
        hint = f"name them behind the URL, as `module:Class`, or in [[tests]] of {DEFAULT_PATH}"
        raise ConfigError("no class is named whose failures to pull", hint=hint)
    return url, classes
