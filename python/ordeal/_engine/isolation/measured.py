"""Lets coverage.py, if it measures this process, measure a fork as well.

A fork that exits keeps all measurements. One that is killed, or dies in the middle of a rule, keeps none.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

#: The settings of coverage.py that decide what it measures and how.
_OPTIONS = (
    *("run:branch", "run:concurrency", "run:context", "run:cover_pylib", "run:dynamic_context", "run:include"),
    *("run:omit", "run:relative_files", "run:source", "run:source_dirs", "run:source_pkgs", "run:timid"),
)


class Measured:
    """The file for the measurements of a fork. Made before the fork; does nothing if nothing is measured."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        if _current() is not None:
            with suppress(OSError):
                self._folder = Path(tempfile.mkdtemp(prefix="ordeal-coverage-"))

    def begin(self) -> Any:
        """In the fork: measure into a separate file. The result is for ``end``."""
        outer = _current()
        if self._folder is None or outer is None:
            return None
        # Measuring is only an aid, so no error in it may end a search.
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
        """In the forking process, once the fork is over: add its measurements."""
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
    """Return the running measurement of this process."""
    kind = getattr(sys.modules.get("coverage"), "Coverage", None)
    return None if kind is None else kind.current()
