"""``ordeal pack``: a saved failure in one file, which `ordeal replay` runs elsewhere."""

from __future__ import annotations

import io
import zipfile
from importlib.metadata import distributions
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._base.trace_file import PACKED_NAME, Trace, write_atomically
from ordeal._engine.seed_corpus.lookup import find_failure
from ordeal._report.replay import packed_text
from ordeal.cli import terminal
from ordeal.cli.folders import corpus_folders, traces_folders
from ordeal.cli.own_files import is_trace, refuse_foreign
from ordeal.config.flags import PackFlags
from ordeal.errors import ConfigError
from ordeal.result.failure import failure_id

#: The first date that an archive can have: the same failure is to give the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


def run(flags: PackFlags) -> int:
    """Write the archive."""
    trace = Trace.load(find_failure(flags.trace, traces_folders(), corpus_folders()))
    bucket = "" if trace.failure is None else trace.failure.bucket
    output = flags.output or f"{failure_id(bucket) if bucket else trace.content_hash()}.zip"
    if not output.endswith(".zip"):
        raise ConfigError(f"`{one_line(output)}` does not end in .zip", hint="write a name that ends in .zip")
    refuse_foreign("-o", output, is_trace, force=flags.force)
    packages = sorted({f"{each.name}=={each.version}" for each in distributions()}, key=str.lower)
    members = {
        PACKED_NAME: trace.to_json(),
        "failure.txt": packed_text(trace).encode("utf-8", "backslashreplace"),
        "requirements.txt": "".join(f"{each}\n" for each in packages).encode(),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
    try:
        write_atomically(Path(output), packed.getvalue())
    except OSError as error:
        raise ConfigError(
            f"cannot write {one_line(output)}: {error.strerror or error}", hint="name another path"
        ) from None
    terminal.say(
        f"Packed: {one_line(output)}; `ordeal replay {one_line(output)}` runs it where the class can be imported"
    )
    return 0
