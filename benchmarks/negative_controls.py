"""Programs that depend on what no simulation decides: whether that is noticed, how, and whether the place is named.

usage: python benchmarks/negative_controls.py

The twelve controls of `tests/unit/samples/negative_controls.py`. A place is named if the message has the line of the
control that does something else from run to run, and not only that of a helper which it calls. What finalisers and
weak references do comes at the same place in each run, so that nothing depends on it: these two are held.
"""

import inspect
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.report import command, host, table

from ordeal import simulate

ROOT = Path(__file__).parents[1]
#: What the collector of garbage brings about.
HELD = ("finaliser", "weak_reference")


def noticed(control: Callable[..., Any]) -> tuple[str, str]:
    """How a control is noticed, and what is said of it; empty if it is not."""
    try:
        found = simulate.explore(control, runs=1).nondeterministic
        if " in one run and " in found:
            return "a repeated run differs", found
        simulate.check(control, runs=5)
    except simulate.EscapedSimulation as error:
        return "stopped at the call", str(error)
    except simulate.NotDeterministic as error:
        return "another process differs", str(error)
    return ("a repeated run differs", found) if found else ("", "")


def row(control: Callable[..., Any]) -> tuple[str, str, str]:
    """A line of the table."""
    how, message = noticed(control)
    lines = [line.strip().partition("  #")[0] for line in inspect.getsource(control).splitlines()[1:]]
    named = [line for line in lines if f"{control.__name__}: {line}" in message]
    if control.__name__ in HELD:
        return control.__name__, how or "held: no run differs", ""
    return control.__name__, how or "no", f"`{named[0]}`" if named else "no"


def main() -> None:
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    from tests.unit.samples import negative_controls  # noqa: PLC0415 - found through the path above

    controls = [
        each
        for name, each in vars(negative_controls).items()
        if inspect.iscoroutinefunction(each) and each.__module__ == negative_controls.__name__ and name != "for_ms"
    ]
    rows = [row(each) for each in controls]
    caught = sum(how not in ("no", "") for _, how, _ in rows)
    located = sum(place not in ("no", "") for _, _, place in rows)
    rows.append((f"**{len(rows)}**", f"**{caught} noticed or held**", f"**{located} located**"))
    print(host(), command(), table(("control", "noticed", "line that is named"), rows), sep="\n\n")


if __name__ == "__main__":
    main()
