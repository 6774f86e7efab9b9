"""Finds the seed files of a corpus, with the standard library alone: a pytest that has no seeds must not wait for more.

A seed is a saved failing trace, ``<corpus>/<TestClass>/seed-<hash>.json``; it may be packed as ``.gz`` or ``.zst``.
"""

from __future__ import annotations

import re
from pathlib import Path

from ordeal.errors import OrdealError

CORPUS_DIR = ".ordeal/seeds"
_SEED_NAME = re.compile(r"seed-.+\.json(\.gz|\.zst)?", re.DOTALL)
FOLDER_HINT = "name the folder of the seeds as `corpus_dir` in [report], or change the rights of this one"


class SeedError(OrdealError):
    """A seed corpus cannot be read or written."""


def seed_paths(folder: Path) -> list[Path]:
    """Return the seeds below ``folder``, sorted; none when there is no such folder.

    What lies there and is no seed is left out. The folder of a class that cannot be listed stands for its seeds, so
    that replaying it tells why; the seeds of the other classes are not lost with it.

    Raises:
        SeedError: ``folder`` itself cannot be listed.
    """
    try:
        entries = sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise SeedError(f"cannot read the seed corpus {folder}: {reason}", hint=FOLDER_HINT) from error
    return [path for entry in entries for path in class_seed_paths(entry)]


def class_seed_paths(folder: Path) -> list[Path]:
    """Return the seeds right in ``folder``, sorted; the folder itself when it cannot be listed."""
    try:
        entries = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return [folder]
    return [entry for entry in entries if _SEED_NAME.fullmatch(entry.name)]


def seed_name(path: Path) -> str:
    """Return the name of a seed without what says how it is packed, as ``seed-0123456789ab``."""
    return path.name.partition(".json")[0]
