"""``ordeal artifacts`` and ``pack``: a saved failure with all that belongs to it, in a folder or in one file."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

from ordeal._base.formatting import JSON_SCHEMA_VERSION, one_line, runnable_program
from ordeal._base.limits import INPUT_BYTES_MAX, RECORDED_CHARS_MAX
from ordeal._base.regular_file import read_regular, read_whole
from ordeal._base.trace_file import PACKED_NAME, Trace, step_text, write_atomically
from ordeal._engine.runs.folder import EVENTS, RESULT, RUNS_PATH, run_folders
from ordeal._engine.seed_corpus.lookup import saved_failures
from ordeal._report.comparing import read_document
from ordeal._report.formats.document import line
from ordeal._report.replay import packed_text
from ordeal.cli import terminal
from ordeal.cli.folders import corpus_folders, failure_path, traces_folders
from ordeal.cli.own_files import is_export, is_trace, place_for
from ordeal.config.flags import ArtifactsFlags, PackFlags
from ordeal.errors import ConfigError, OrdealError
from ordeal.result.failure import failure_id

#: The first date that an archive can have: the same failure is to give the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


def run(flags: PackFlags | ArtifactsFlags) -> int:
    """Pack, list or export. Return the exit code."""
    if isinstance(flags, PackFlags):
        trace, name = _failure(flags.trace)
        output = flags.output or f"{name}.zip"
        if not output.endswith(".zip"):
            raise ConfigError(f"`{one_line(output)}` does not end in .zip", hint="write a name that ends in .zip")
        output = place_for("-o", output, is_trace, flags.on_exists)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in _members(trace).items():
                archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
        _write(Path(output), packed.getvalue())
        terminal.say(
            f"Packed: {one_line(output)}; `ordeal replay {one_line(output)}` runs it where the class can be imported"
        )
        return 0
    return _list(flags) if flags.action == "list" else _export(flags)


def _export(flags: ArtifactsFlags) -> int:
    """Write a folder with all that belongs to a failure."""
    trace, name = _failure(flags.trace)
    output = Path(place_for("-o", flags.output or name, is_export, flags.on_exists))
    program = runnable_program(trace.program, trace.test_class)
    members = {
        **_members(trace),
        "program.py": program.encode("utf-8", "backslashreplace"),
        "decisions.txt": "".join(f"{each}\n" for each in _decisions(trace)).encode("utf-8", "backslashreplace"),
        **_of_its_run(name),
    }
    for each, data in members.items():
        _write(output / each, data)
    terminal.say(one_line(f"Exported to {output}: {', '.join(members)}"))
    return 0


def _list(flags: ArtifactsFlags) -> int:
    if flags.trace is not None or flags.output is not None:
        raise ConfigError("`ordeal artifacts list` takes no ID and no `-o`", hint="`ordeal artifacts export ID`")
    saved = saved_failures(traces_folders(), corpus_folders())
    rows = [{"id": each.names[0], "test_class": each.test_class, "path": str(each.path)} for each in saved]
    if flags.json:
        document = {"schema_version": JSON_SCHEMA_VERSION, "tool": "artifacts", "failures": rows}
        terminal.write(json.dumps(document, indent=2) + "\n")
    else:
        terminal.write("".join(f"{line('  '.join(row.values()))}\n" for row in rows) or "no failure is saved here\n")
    return 0


def _failure(name: str | None) -> tuple[Trace, str]:
    """Return a saved failure, and its id or the hash of the trace."""
    trace = Trace.load(failure_path(name))
    bucket = "" if trace.failure is None else trace.failure.bucket
    return trace, failure_id(bucket) if bucket else trace.content_hash()


def _members(trace: Trace) -> dict[str, bytes]:
    packages = sorted({f"{each.name}=={each.version}" for each in distributions()}, key=str.lower)
    return {
        PACKED_NAME: trace.to_json(),
        "failure.txt": packed_text(trace).encode("utf-8", "backslashreplace"),
        "requirements.txt": "".join(f"{each}\n" for each in packages).encode(),
        **{name: read_whole(name, INPUT_BYTES_MAX) for name in trace.records if _is_record(Path(name))},
    }


def _is_record(path: Path) -> bool:
    """Return True for a record of this project: a trace from elsewhere may name any file."""
    is_below = not path.is_absolute() and ".." not in path.parts and path.resolve().is_relative_to(Path.cwd())
    return is_below and path.suffix in (".jsonl", ".yaml", ".yml") and path.is_file()


def _decisions(trace: Trace) -> Iterator[str]:
    """Yield each step with the choices from which its arguments were drawn, by name."""
    for number, step in enumerate(trace.taken_steps(), 1):
        yield f"{number}. {one_line(step_text(step))}"
        for name, choices in step.choices.items():
            yield one_line(f"     {name}: {', '.join(map(repr, choices))}", limit=RECORDED_CHARS_MAX)


def _of_its_run(name: str) -> dict[str, bytes]:
    """Return the report and the events of the last run that found a failure, if they are still there."""
    for folder in reversed(run_folders(Path(RUNS_PATH))):
        with suppress(OSError, OrdealError):
            document = read_document(folder / RESULT)
            if any(each["id"] == name for result in document["results"] for each in result["failures"]):
                return {each: read_regular(folder / each, INPUT_BYTES_MAX) for each in (RESULT, EVENTS)}
    return {}


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    except OSError as error:
        raise ConfigError(
            one_line(f"cannot write {path}: {error.strerror or error}"), hint="name another path"
        ) from None
