"""How throughput grows with workers: the Universal Scaling Law, fitted to measurements."""

from __future__ import annotations

from ordeal.scaling.law import Law, Measurement, analyse

__all__ = ["Law", "Measurement", "analyse"]
