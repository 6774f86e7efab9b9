"""Finds the seed files of a corpus, using only the standard library, so that pytest without seeds loads nothing more.

A seed is a saved failing trace, ``<corpus>/<TestClass>/seed-<hash>.json``, possibly compressed (``.gz``, ``.zst``).
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
    """Return the seeds below ``folder``, sorted; none when the folder does not exist.

    Other files are left out. A class folder that cannot be listed stands for its seeds, so that replaying it reports
    why and the seeds of other classes are not lost.

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
    """Return the seeds directly in ``folder``, sorted; the folder itself when it cannot be listed."""
    try:
        entries = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return [folder]
    return [entry for entry in entries if _SEED_NAME.fullmatch(entry.name)]


def seed_name(path: Path) -> str:
    """Return the name of a seed without suffixes, such as ``seed-0123456789ab``."""
    return path.name.partition(".json")[0]
