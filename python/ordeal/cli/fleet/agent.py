"""What every launcher runs somewhere: the member of a fleet that the environment describes.

The address of the store, which may hold a password, is in the environment too, or is the first line of stdin.
"""

from __future__ import annotations

import os
import sys

from ordeal._base import interrupts
from ordeal._engine.parallel.fleet.agent import Agent, number_from
from ordeal._engine.parallel.fleet.plan import STORE_VARIABLE, TASK_VARIABLE, Task
from ordeal.cli import terminal
from ordeal.errors import WRONG_USE


def main() -> int:
    """Run the member; return 0 when it is done, 2 for wrong use, 3 when it was lost."""
    task = os.environ.get(TASK_VARIABLE)
    store = os.environ.get(STORE_VARIABLE) or (task and sys.stdin.readline().strip())
    if not task or not store:
        missing = STORE_VARIABLE if task else TASK_VARIABLE
        terminal.say_error(f"{missing} is not set", "`ordeal explore --on ...` starts members")
        return WRONG_USE
    attempt = os.environ.get("ORDEAL_FLEET_ATTEMPT", "")
    agent = Agent(
        Task.from_json(task),
        number_from(os.environ),
        store,
        attempt=int(attempt) if attempt.isdecimal() else 0,
        # A launcher that starts lost members again says so.
        resumes=not attempt,
        say=sys.stderr.write,
    )

    interrupts.heed(lambda *_: agent.stop())
    return agent.run()


if __name__ == "__main__":
    sys.exit(main())
