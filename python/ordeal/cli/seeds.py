"""``ordeal seeds``: replays every saved seed, reports which still fail, and can delete those that are fixed."""

from __future__ import annotations

import importlib
from pathlib import Path

from ordeal._engine.execution.bucket import traceback_text
from ordeal._engine.seed_corpus.corpus import SeedCorpus, SeedReplayer
from ordeal._engine.seed_corpus.paths import CORPUS_DIR
from ordeal._report.seeds import listed_seed, seed_details, seeds_header, seeds_json, seeds_summary
from ordeal.cli import terminal
from ordeal.config.flags import SeedsFlags
from ordeal.config.options import DEFAULT_PATH
from ordeal.config.settings_file import load_config
from ordeal.errors import FOUND, WRONG_USE, ConfigError
from ordeal.result import SeedStatus
from ordeal.result.failure import replay_command


def run(flags: SeedsFlags) -> int:
    """Replay the seeds with the options of the command line, and return the exit code."""
    if flags.words and flags.words[0] != "pull":
        raise ConfigError(f"`ordeal seeds {flags.words[0]}` is not a command", hint="write `ordeal seeds pull URL`")
    if flags.words and flags.prune_fixed:
        raise ConfigError("`pull` and `--prune-fixed` contradict each other", hint="drop one of them")
    reads = flags.dir is None or bool(flags.words)
    config = load_config(needs_tests=False) if reads and Path(DEFAULT_PATH).exists() else None
    corpus = SeedCorpus(flags.dir or (config.report.corpus_dir if config else CORPUS_DIR))
    if flags.words:
        pull = importlib.import_module("ordeal.cli.fleet.pull").pull
        return int(pull(flags.words[1:], config, corpus, verbose=flags.verbose, json=flags.json))
    paths = corpus.paths()
    if flags.dir is not None and not corpus.folder.is_dir():
        raise ConfigError(f"no folder {flags.dir} to read seeds from", hint="name the folder that holds the seeds")
    terminal.say(seeds_header(len(paths), corpus.folder, exists=corpus.folder.is_dir()))
    rule_timeout = config.explorer.rule_timeout if config else None
    replayer = SeedReplayer(rule_timeout, settings=Path(DEFAULT_PATH))
    replays = []
    for path in paths:
        with terminal.contained(verbose=flags.verbose):
            outcome = replayer.replay(path)
        replays.append(outcome)
        terminal.say(listed_seed(outcome))
        if flags.verbose:
            terminal.say(seed_details(outcome, "" if outcome.error is None else traceback_text(outcome.error)))
    fixed = [replay.path for replay in replays if replay.status is SeedStatus.FIXED]
    pruned, errors = corpus.remove(fixed) if flags.prune_fixed else ([], [])
    for error in errors:
        terminal.show_error(error)
    failing = [replay for replay in replays if replay.fails]
    unusable = sum(replay.status is SeedStatus.CLASS_UNUSABLE for replay in replays)
    if replays:
        terminal.say(seeds_summary(len(replays), len(failing), len(pruned), unusable=unusable))
    if failing:
        terminal.say(f"replay the first failure: {replay_command(str(failing[0].path))}")
    if flags.json:
        terminal.write(seeds_json(replays, corpus.folder, pruned))
    if failing:
        return FOUND
    return WRONG_USE if errors or unusable else 0
