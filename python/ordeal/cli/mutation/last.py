"""The verbs of ``ordeal mutate`` that judge no new mutant: show, apply, accept, report and rerun."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._base.git import ended
from ordeal._base.trace_file import write_atomically
from ordeal._report.mutation import difference, survivor_text
from ordeal._report.mutation_files import FORMATS
from ordeal._tools.mutation.accepted import accept
from ordeal._tools.mutation.mutants import CHIMP, Mutant, mutants_of
from ordeal._tools.mutation.saved import Saved, load
from ordeal._tools.mutation.source import Source
from ordeal.cli import terminal
from ordeal.cli.mutation.settings import with_settings
from ordeal.config.flags import MutateOptions
from ordeal.errors import ConfigError


def verb_of(paths: Sequence[str]) -> str:
    """Return the verb that stands where a path may stand; empty if none does, or if it is a path."""
    return paths[0] if paths and paths[0] in VERBS and not Path(paths[0]).exists() else ""


def run(given: Mapping[str, Any]) -> int:
    """Do what the verb says. Return 0."""
    verb, *words = given["paths"]
    saved = load(Path.cwd())
    if saved is None:
        raise ConfigError(f"no saved run to {verb} from", hint="run `ordeal mutate` first")
    if len(words) != 1:
        what = f"one of {', '.join(FORMATS)}" if verb == "report" else "the id of a mutant"
        raise ConfigError(f"`{verb}` needs one word", hint=f"write {what} after it")
    return VERBS[verb](saved, words[0], given)


def _show(saved: Saved, word: str, _given: Mapping[str, Any]) -> int:
    verdict = saved.one(word)
    source, mutant = source_of(verdict.mutant), verdict.mutant
    if verdict.word == "survived":
        terminal.write(survivor_text(source, verdict))
    else:
        where = f"{mutant.shown}:{mutant.line}  {mutant.name or 'module'}"
        diff = "".join(f"  {each}\n" for each in difference(source, mutant).split("\n"))
        terminal.write(one_line(f"{where}  {verdict.word}  {mutant.operator}  {mutant.id}") + f"\n{diff}")
    for what, described in (("noticed by", verdict.killer), ("note", verdict.note)):
        if described:
            terminal.write(f"  {what}: {one_line(described)}\n")
    for name in verdict.covering if verdict.word == "survived" else ():
        terminal.write(f"  runs it: {one_line(name)}\n")
    return 0


def _apply(saved: Saved, word: str, _given: Mapping[str, Any]) -> int:
    mutant = saved.one(word).mutant
    source = source_of(mutant)
    if not source.path.resolve().is_relative_to(Path.cwd().resolve()):
        raise ConfigError(f"{one_line(mutant.shown)} is not below this folder", hint="apply it in its own project")
    # The record of a run may come with a project, from anybody.
    made = {(each.start, each.end, each.replacement) for each in mutants_of(source, [mutant.operator])}
    if (mutant.start, mutant.end, mutant.replacement) not in made:
        raise ConfigError(
            one_line(f"the record of the last run is not of ordeal: {mutant.shown} has no mutant {mutant.id}"),
            hint="run `ordeal mutate` again",
        )
    path = source.path.resolve()
    done = ended(path.parent, "status", "--porcelain", "--ignored", "--", str(path))
    if done.returncode or done.stdout.strip():
        raise ConfigError(
            f"{source.shown} differs from what git holds", hint="commit it first, so that the mutant can be undone"
        )
    try:
        mark = source.path.read_bytes().removesuffix(source.text)
        source.path.write_bytes(mark + mutant.applied(source.text))
    except OSError as error:
        raise ConfigError(
            f"{mutant.shown} cannot be written: {error.strerror}", hint="check who may write it"
        ) from None
    terminal.write(
        one_line(f"{mutant.shown} holds mutant {mutant.id} now; `git checkout {mutant.shown}` takes it back")
    )
    terminal.write("\n")
    return 0


def _accept(saved: Saved, word: str, given: Mapping[str, Any]) -> int:
    mutant = saved.one(word).mutant
    reason = (given["reason"] or "").strip()
    if not reason:
        raise ConfigError(
            "no reason is given for accepting the mutant", hint=f'add --reason "..." to `accept {mutant.id}`'
        )
    path = Path(with_settings(given).accept_file)
    accept(mutant, reason, path)
    terminal.write(one_line(f"accepted {mutant.id} in {path}") + "\n")
    return 0


def _report(saved: Saved, word: str, _given: Mapping[str, Any]) -> int:
    if word not in FORMATS:
        raise ConfigError(f"`{word}` is not a format", hint=f"there are {', '.join(FORMATS)}")
    judgement = saved.judgement()
    shown = dict.fromkeys(each.mutant.shown for each in judgement.verdicts)
    by_name = {verdict.mutant.shown: source_of(verdict.mutant) for verdict in judgement.verdicts}
    name, make = FORMATS[word]
    path = Path(".ordeal", "mutate", name)
    files = [by_name[each] for each in shown]
    try:
        text = make(files, judgement)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the report format `{word}` needs the package `{error.name}`", hint=f"`pip install {error.name}`"
        ) from None
    try:
        write_atomically(path, (text if isinstance(text, str) else json.dumps(text, indent=2) + "\n").encode())
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}", hint="check who may write it") from None
    if word == "github":
        terminal.write(str(text))
    else:
        terminal.write(f"{path}\n")
    return 0


def source_of(mutant: Mutant) -> Source:
    """Return the file of a mutant of the last run.

    Raises:
        ConfigError: it has changed since.
    """
    source = Source.of(Path(mutant.shown), mutant.shown)
    if source.text[mutant.start : mutant.end].decode("utf-8", "replace") != mutant.original:
        raise ConfigError(f"{mutant.shown} has changed since the last run", hint="run `ordeal mutate` again")
    return source


def as_rerun(given: MutateOptions) -> MutateOptions:
    """Return what was given; with the word ``rerun`` first, the changes and files of the last run.

    Raises:
        ConfigError: no last run is saved, or it left nothing to judge again.
    """
    if given.paths[:1] != ("rerun",) or Path("rerun").exists():
        return given
    saved = load(Path.cwd())
    if saved is None:
        raise ConfigError("no saved run to judge again", hint="run `ordeal mutate` first")
    left = [each.mutant for each in saved.verdicts() if each.word in _OPEN]
    if not left:
        raise ConfigError("the last run has no survivors", hint="`ordeal mutate` judges all again")
    paths = given.paths[1:] or tuple(dict.fromkeys(each.shown for each in left))
    operators = tuple(dict.fromkeys(each.operator for each in left))
    chosen = {"preset": CHIMP} if CHIMP in operators else {"operators": given.operators or operators}
    return given.replaced(**chosen, paths=paths, rerun=True)


def left_open(saved: Saved | None) -> set[str]:
    """Return the ids of the survivors of the last run."""
    return {each.mutant.id for each in saved.verdicts() if each.word in _OPEN} if saved is not None else set()


_OPEN = ("survived", "uncovered", "not run")
VERBS: dict[str, Callable[[Saved, str, Mapping[str, Any]], int]] = {
    "show": _show,
    "apply": _apply,
    "accept": _accept,
    "report": _report,
}
