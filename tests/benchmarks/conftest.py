"""Puts the folder of the benchmarks on the path, from which their scripts are run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
