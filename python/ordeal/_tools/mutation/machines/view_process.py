"""Shows one mutant beside the original, in an interpreter of its own that runs no rule itself.

``python -m ordeal._tools.mutation.machines.view_process ORDER FD PARENT`` writes what it finds in lines of JSON.
"""

from __future__ import annotations

import msgspec

from ordeal._tools.mutation.forks import Job, Say, run_jobs
from ordeal._tools.mutation.machines.judge_process import KeepingJudge, Order, Refused, answering
from ordeal._tools.mutation.machines.side_by_side import side_by_side
from ordeal._tools.mutation.machines.views import SideBySide
from ordeal._tools.mutation.own_process import begun

_SECONDS = 120.0


class Viewer(KeepingJudge):
    """A judge of one mutant that shows the run which notices it, or the one whose state differs, or the first."""

    def view(self) -> SideBySide:
        """Judge the mutant, and return its run beside that of the original.

        Raises:
            Refused: no machine runs it.
        """
        self.judge()
        (mutant,) = self._order.mutants
        finding = self._findings[mutant.id]
        if finding.word in ("not run", "uncovered"):
            raise Refused(f"no machine can show it: {finding.note or finding.word}")
        known = [each.trace for each in finding.kills] or ([finding.difference.trace] if finding.difference else [])
        kept = self._kept[known[0] - 1] if known else self._judging(mutant)[0][0]
        bench = self._bench(kept.machine)
        source = self._sources[mutant.shown]

        def show(say: Say) -> None:
            found = side_by_side(bench, kept.trace, kept.tape, kept.number, self._live, source, mutant)
            say({"view": msgspec.to_builtins(found)})

        ended = next(run_jobs([Job(show, 0, _SECONDS)], 1))
        for each in ended.said:
            if "view" in each:
                return msgspec.convert(each["view"], SideBySide)
        raise Refused(f"it cannot be shown: {ended.raised or 'its run did not come to an end'}")


def main() -> None:
    """Show the mutant of an order."""
    text, say = begun()
    with answering(say):
        say({"view": msgspec.to_builtins(Viewer(msgspec.json.decode(text, type=Order)).view())})


if __name__ == "__main__":
    main()
