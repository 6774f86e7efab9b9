"""Which records of the outside this process has used, for the traces of its runs, and whether it may add to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ordeal._base.limits import INPUT_BYTES_MAX
from ordeal._base.regular_file import read_whole
from ordeal._base.trace_file import Trace, of_archive
from ordeal.errors import TraceError


class RecordsUsed:
    """A process has one: ``records``.

    Attributes:
        paths: the files that were used, relative to the current folder where they lie in it.
        only_serve: whether nothing may ask the real thing, as in a replay, or with ORDEAL_RECORD=never.
        unpacked: where records are read instead, by path: those of an archive.
    """

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.unpacked: dict[str, Path] = {}
        self.only_serve = os.environ.get("ORDEAL_RECORD") == "never"

    @contextmanager
    def replaying(self, trace: Trace | None = None) -> Iterator[None]:
        """Ask nothing of the real thing during the block, and read the records of a packed ``trace`` from its archive.

        Raises:
            TraceError: the archive cannot be read, or is too large once it is unpacked.
        """
        before = self.only_serve, self.unpacked
        with ExitStack() as stack:
            if trace is not None and trace.archive and trace.records:
                folder = Path(stack.enter_context(TemporaryDirectory()))
                self.unpacked = {**self.unpacked, **self._unpack(trace, folder)}
            self.only_serve = True
            try:
                yield
            finally:
                self.only_serve, self.unpacked = before

    def _unpack(self, trace: Trace, folder: Path) -> dict[str, Path]:
        unpacked: dict[str, Path] = {}
        try:
            packed, left = read_whole(trace.archive, INPUT_BYTES_MAX), INPUT_BYTES_MAX
            for number, name in enumerate(trace.records):
                with suppress(LookupError):  # it was not there to be packed
                    data = of_archive(packed, name)
                    left -= len(data)
                    if left < 0:
                        raise ValueError(f"together they have more than {INPUT_BYTES_MAX} bytes")
                    # A number, as a name in an archive from a stranger may lead anywhere.
                    unpacked[name] = Path(folder, f"{number}{Path(name).suffix}")
                    unpacked[name].write_bytes(data)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise TraceError(f"cannot read the records in {trace.archive}: {reason}", hint="pack it again") from None
        return unpacked


records = RecordsUsed()
"""Those of this process."""
