"""The formats of ``--report``: one module each, which is loaded when its format is wanted.

A module has a function ``write(document, folder, run) -> Path``. The document is what ``json_document`` returns, the
data of the JSON report; ``run`` is the folder of the run, or None.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordeal.errors import ConfigError

Document = Mapping[str, Any]


def write_report(name: str, document: Document, folder: Path, *, run: Path | None = None) -> Path:
    """Write the report in the format ``name`` into ``folder``, which is made if it is not there; return the file.

    ``run`` is the folder of the run. Each format is given it; the page shows its events.

    Raises:
        ConfigError: the format needs a package that is not installed.
        OSError: the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path: Path = format_module(name).write(document, folder, run)
    return path


def format_module(name: str) -> Any:
    """Return the module that writes the format ``name``.

    Raises:
        ConfigError: the format needs a package that is not installed.
    """
    own = f"{__name__}.{name}"
    try:
        return importlib.import_module(own)
    except ModuleNotFoundError as error:
        if error.name == own:
            raise ConfigError(f"this version has no report format `{name}`", hint=f"leave out `{name}`") from None
        raise ConfigError(
            f"the report format `{name}` needs the package `{error.name}`", hint=f"`pip install {error.name}`"
        ) from None


def recognised(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the formats that the service of CI, in which this runs, shows without being asked."""
    return ("github", "md") if environment.get("GITHUB_ACTIONS") == "true" else ()
