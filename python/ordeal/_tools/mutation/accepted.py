"""Mutants that the user has accepted, with the reason: by a comment in the program, or in a file next to it.

``# ordeal: no-mutate reason`` at the end of a line is for the mutants of that line; of a line that begins a block, as
``def`` and ``if`` do, for those of the whole block. ``no-mutate[arithmetic,negate] reason`` is for these operators.

An entry of the file names one mutant by its ``id``, or the lines that match a ``pattern``.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Sequence
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._base.limits import SOURCE_BYTES_MAX
from ordeal._base.regular_file import read_regular, read_whole
from ordeal._base.trace_file import write_atomically
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.operators import OPERATORS
from ordeal._tools.mutation.source import Source
from ordeal.errors import ConfigError

_COMMENT = re.compile(r"#\s*ordeal:\s*no[- ]mutate\b\s*(?:\[([^\]]*)\])?\s*(?:--|:)?\s*(.*)")
#: Matches misspelt forms of the comment.
_NEARLY = re.compile(r"#\s*ordeal:\s*(no[-_ ]?mut\w*)", re.IGNORECASE)
_EXAMPLE = "`# ordeal: no-mutate only a faster way`"


def accepted(sources: Sequence[Source], mutants: Sequence[Mutant], path: Path) -> dict[str, str]:
    """Return the reasons by the ids of the mutants that are accepted, by comments and by the file ``path``.

    Raises:
        ConfigError: a reason is missing, an operator is unknown, or a pattern is not valid.
    """
    found, patterns = _of_file(path)
    lines = {source.shown: source.text.decode().split("\n") for source in sources if patterns}
    silenced = {source.shown: list(_silenced(source)) for source in sources}
    for mutant in mutants:
        for first, last, operators, reason in silenced[mutant.shown]:
            if first <= mutant.line <= last and (not operators or mutant.operator in operators):
                found.setdefault(mutant.id, reason)
        for pattern, reason in patterns:
            if pattern.search(lines[mutant.shown][mutant.line - 1]):
                found.setdefault(mutant.id, reason)
    ids = {mutant.id for mutant in mutants}
    return {each: reason for each, reason in found.items() if each in ids}


def accept(mutant: Mutant, reason: str, path: Path) -> None:
    """Write into the file ``path`` that a mutant is accepted, and why."""
    _of_file(path)
    where = f"{mutant.shown}:{mutant.line} {mutant.name} {mutant.operator}"
    entry = f"[[accepted]]\nid = {json.dumps(mutant.id)}\nreason = {_quoted(reason)}\nwhere = {_quoted(where)}\n"
    try:
        before = read_whole(path, SOURCE_BYTES_MAX).decode("utf-8") + "\n" if path.exists() else ""
        # A full disk must not lose what others have accepted; a link stays a link.
        write_atomically(path.resolve(), (before + entry).encode())
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be written: {error.strerror}", hint="check who may write it") from None


def _quoted(text: str) -> str:
    return json.dumps("".join(each if each.isprintable() else " " for each in text), ensure_ascii=False)


def _of_file(path: Path) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """Return the reasons by id, and those by pattern."""
    hint = "each [[accepted]] needs an id or a pattern, and a reason"
    try:
        document = tomllib.loads(read_regular(path, SOURCE_BYTES_MAX).decode("utf-8-sig"))
        entries = document.get("accepted", [])
        if not isinstance(entries, list):
            raise TypeError("`accepted` is not a table in two pairs of brackets")
        found = [(each.get("id"), each.get("pattern"), str(each.get("reason", "")).strip()) for each in entries]
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError, TypeError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ConfigError(f"{path.name} cannot be read: {reason}", hint=hint) from None
    except RecursionError:
        raise ConfigError(f"{path.name} nests brackets too deeply", hint=hint) from None
    for key in document.keys() - {"accepted"}:
        raise ConfigError(f"{path.name} has the unknown key `{one_line(key)}`", hint="write `[[accepted]]`")
    for name, pattern, reason in found:
        named = [each for each in (name, pattern) if isinstance(each, str) and each]
        if len(named) != 1 or (name is None) == (pattern is None):
            raise ConfigError(f"{path.name} has an entry without an id or a pattern, or with both", hint=hint)
        if not reason:
            raise ConfigError(f"{path.name} gives no reason for {named[0]}", hint='write reason = "..."')
    patterns = [(_compiled(path, pattern), reason) for _, pattern, reason in found if pattern is not None]
    return {name: reason for name, _, reason in found if name is not None}, patterns


def _compiled(path: Path, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(
            f"{path.name} has the pattern `{pattern}`, which is not a regular expression: {error}",
            hint="put a backslash before special characters",
        ) from None


def _silenced(source: Source) -> list[tuple[int, int, set[str], str]]:
    if b"ordeal:" not in source.text:
        return []
    found = []
    blocks = {
        node.lineno: node.end_lineno or node.lineno
        for node in ast.walk(source.tree)
        if isinstance(node, ast.stmt) and (getattr(node, "body", None) or getattr(node, "cases", None))
    }
    for token in tokenize.tokenize(io.BytesIO(source.text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        # Other comments, such as those for linters, may come before it.
        match = _COMMENT.search(token.string)
        if match is None and (nearly := _NEARLY.search(token.string)):
            raise ConfigError(
                f"{source.shown}:{line} has the comment `{nearly[1]}`, which has no effect", hint=f"write {_EXAMPLE}"
            )
        if match:
            if match[2].startswith("[") or (match[1] is not None and not match[1].strip(" ,")):
                raise ConfigError(
                    f"{source.shown}:{line} names no operator between brackets",
                    hint="write `# ordeal: no-mutate[comparison] reason`, or leave the brackets out",
                )
            names = {each.strip() for each in (match[1] or "").split(",") if each.strip()}
            unknown = sorted(names - OPERATORS.keys())
            if unknown:
                raise ConfigError(
                    f"{source.shown}:{line} names `{unknown[0]}`, which is not an operator",
                    hint=f"there are {', '.join(OPERATORS)}",
                )
            if not match[2].strip():
                raise ConfigError(
                    f"{source.shown}:{line} gives no reason",
                    hint=f"write why no test needs to notice, such as {_EXAMPLE}",
                )
            found.append((line, blocks.get(line, line), names, match[2].strip()))
    return found
