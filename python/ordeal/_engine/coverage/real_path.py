"""The real path of a file, even if it or the working folder is gone."""

import os


def real_path(path: str, folder: str = "") -> str:
    """Return ``path`` as an absolute path without links; unchanged if no file can have it, or the folder is gone.

    A relative path is resolved against ``folder``, or against the present working folder.
    """
    path = os.path.join(folder, path)  # noqa: PTH118 - what code names as its file need not be a path
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # code may name as its file what no file can be called
        return path
