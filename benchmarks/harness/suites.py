"""Released packages with their tests, from their sdists, to be mutated."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from harness.peers import PEERS, PeerError, folder_with


@dataclass(frozen=True)
class Suite:
    """A package: what pip finds it by, its code and its tests in the sdist, and what the tests need beside it."""

    name: str
    version: str
    code: str
    tests: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """What pytest is given."""
        return [*self.tests, *self.options]

    def folder(self) -> Path:
        """Return the unpacked sdist. It is downloaded once.

        Raises:
            PeerError: it cannot be downloaded.
        """
        folder = PEERS / "sdists" / f"{self.name}-{self.version}"
        if not (folder / "unpacked").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            command = [*(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:")]
            command += ["--dest", str(folder), f"{self.name}=={self.version}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            archives = list(folder.glob("*.tar.gz"))
            if not archives:
                raise PeerError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no sdist")
            with tarfile.open(archives[0]) as archive:
                archive.extractall(folder / "unpacked", filter="data")
            # Without it, pytest would use the settings of this repository for a package that has none.
            (folder / "pytest.ini").touch()
        return next((folder / "unpacked").iterdir())

    def path(self) -> list[str]:
        """Return the folders that its tests are run with on the path."""
        folder = self.folder()
        code = folder / self.code
        home = code.parent if code.is_dir() or code.suffix == ".py" else folder
        libraries = [str(folder_with(f"{self.name}-needs", *self.needs))] if self.needs else []
        return [str(home), *([str(folder)] if home != folder else []), *libraries]


_NO_OPTIONS = ("-o", "addopts=")
SUITES = (
    Suite("cachetools", "8.0.2", "src/cachetools", ("tests",)),
    Suite("toolz", "1.2.0", "toolz", ("toolz/tests",)),
    Suite("inflection", "0.5.1", "inflection", ("test_inflection.py",)),
    Suite("semver", "3.1.1", "src/semver", ("tests",), options=_NO_OPTIONS),
    Suite("parse", "1.22.4", "parse", ("tests",), options=_NO_OPTIONS),
    Suite("python-slugify", "9.2.0", "slugify", ("tests",), ("text-unidecode==1.3",)),
    # Its tests leave files open, which pytest takes for errors of tests that come later.
    Suite("tinydb", "4.9.0", "tinydb", ("tests",), ("pyyaml",), (*_NO_OPTIONS, "-o", "filterwarnings=")),
    Suite("isodate", "0.7.2", "src/isodate", ("tests",)),
    Suite("schedule", "1.2.2", "schedule", ("test_schedule.py",), ("pytz",)),
    Suite("iniconfig", "2.3.1", "src/iniconfig", ("testing",)),
    Suite("asyncstdlib", "3.14.0", "asyncstdlib", ("unittests",)),
    Suite("boltons", "26.2.0", "boltons", ("tests",)),
    Suite("tenacity", "9.2.1", "tenacity", ("tests",), ("typeguard", "tornado")),
    Suite("funcy", "2.1", "funcy", ("tests",), ("whatever",)),
    Suite("cssselect", "1.6.0", "cssselect", ("tests",), ("lxml",)),
    Suite("deepmerge", "4.0.0", "deepmerge", ("deepmerge/tests",)),
    Suite("prettytable", "3.18.0", "src/prettytable", ("tests",), ("wcwidth", "pytest-lazy-fixtures")),
    Suite(
        "croniter",
        "7.0.0",
        "src/croniter",
        ("src/croniter/tests",),
        ("pytz", "tzlocal"),
        ("--ignore=src/croniter/tests/test_croniter_speed.py",),
    ),
    Suite("voluptuous", "0.16.0", "voluptuous", ("voluptuous/tests/tests.py",)),
    Suite("mistune", "3.4.0", "src/mistune", ("tests",)),
    Suite("simplejson", "4.3.0", "simplejson", ("simplejson/tests",)),
    # The ignored tests need the distribution.
    Suite(
        "structlog",
        "26.1.0",
        "src/structlog",
        ("tests",),
        ("pytest-asyncio", "time-machine"),
        ("--ignore=tests/test_packaging.py",),
    ),
    # Left out are tests that fail when the machine is busy.
    Suite("sqlparse", "0.6.1", "sqlparse", ("tests",), options=("--ignore=tests/test_dos_prevention.py",)),
    Suite("pluggy", "1.7.0", "src/pluggy", ("testing",), ("pytest-benchmark", "py-cpuinfo")),
)


def suite_named(name: str) -> Suite:
    """Return the package of a name.

    Raises:
        PeerError: there is none.
    """
    for suite in SUITES:
        if suite.name == name:
            return suite
    raise PeerError(f"{name} is none of {', '.join(each.name for each in SUITES)}")
