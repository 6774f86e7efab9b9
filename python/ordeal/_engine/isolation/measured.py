"""Has coverage.py, where it measures this process, measure a fork as well.

Of a fork that ends by itself all is kept. One that is killed, or ends in the middle of a rule, has told nothing.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

#: What the command line or a file may have told coverage.py, and decides what it measures and how.
_OPTIONS = (
    *("run:branch", "run:concurrency", "run:context", "run:cover_pylib", "run:dynamic_context", "run:include"),
    *("run:omit", "run:relative_files", "run:source", "run:source_dirs", "run:source_pkgs", "run:timid"),
)


class Measured:
    """Where a fork leaves what was measured in it. Made before the fork; nothing where nobody measures."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        if _current() is not None:
            with suppress(OSError):
                self._folder = Path(tempfile.mkdtemp(prefix="ordeal-coverage-"))

    def begin(self) -> Any:
        """In the fork: measure into a file of its own. What is returned goes to ``end``."""
        outer = _current()
        if self._folder is None or outer is None:
            return None
        # It is a help for the one who looks at the program, and nothing of it may end a search.
        with suppress(Exception):
            outer.stop()
            own = type(outer)(data_file=str(self._file), config_file=False, messages=False)
            for name in _OPTIONS:
                # Not every version has each of them.
                with suppress(Exception):
                    own.set_option(name, outer.get_option(name))
            own.start()
            return own
        return None

    def end(self, measurement: Any) -> None:
        """In the fork: write what was measured since ``begin``."""
        if measurement is not None:
            with suppress(Exception):
                measurement.stop()
                measurement.save()

    def join(self) -> None:
        """In the process that forked, once the fork is over: add what it has left."""
        if self._folder is None:
            return
        outer = _current()
        with suppress(Exception):
            if outer is not None and self._file.is_file():
                left = sys.modules["coverage"].CoverageData(basename=str(self._file))
                left.read()
                outer.get_data().update(left)
                left.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None

    @property
    def _file(self) -> Path:
        assert self._folder is not None
        return self._folder / "data"


def _current() -> Any:
    """The measurement of this process that is under way."""
    kind = getattr(sys.modules.get("coverage"), "Coverage", None)
    return None if kind is None else kind.current()
