"""All failing machines whose smallest failure is known."""

from .challenge import CHALLENGE
from .fault_windows import FAULT_WINDOWS
from .known import Known
from .stateful import STATEFUL
from .sums import SUMS

MACHINES: list[Known] = [*CHALLENGE, *STATEFUL, *SUMS, *FAULT_WINDOWS]
