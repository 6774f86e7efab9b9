"""Lines about the properties that a program tracked, for custom reports."""

from __future__ import annotations

from ordeal._base.property_text import property_lines, reliability_lines

__all__ = ["property_lines", "reliability_lines"]
