"""The failing machines of tests/puzzles/shrinking, a package of the checkout which nothing installs."""

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.puzzles.shrinking.known import Known

sys.path.insert(0, str(Path(__file__).parents[2]))

MACHINES: "list[Known]" = importlib.import_module("tests.puzzles.shrinking.machines").MACHINES
