"""Where a file really is, whatever has become of it and of the working folder."""

import os


def real_path(path: str, folder: str = "") -> str:
    """``path`` from the root on, without links. As it is where it is relative and the working folder is gone.

    A relative one counts from ``folder``, or from the working folder of this moment.
    """
    path = os.path.join(folder, path)  # noqa: PTH118 - what code names as its file need not be a path
    try:
        return os.path.realpath(path)
    except OSError:
        return path
