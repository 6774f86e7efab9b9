"""Tells the frames and series of pandas from other values, without importing it."""

from __future__ import annotations

import sys
from typing import Any


def is_frame(value: Any) -> bool:
    """Whether it is a DataFrame. Only who has imported pandas can have one."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_table(value: Any) -> bool:
    """Whether it is a DataFrame or a Series."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def is_missing(value: Any) -> bool:
    """Whether it is what pandas has where a value is missing."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)
