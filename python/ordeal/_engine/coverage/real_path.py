"""Where a file really is, whatever has become of it and of the working folder."""

import os


def real_path(path: str) -> str:
    """``path`` from the root on, without links. As it is where it is relative and the working folder is gone."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path
