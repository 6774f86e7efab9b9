"""Deals mutants to forks, and turns their answers into verdicts.

A lane is a row of mutants of one file that are judged in their order, so that the test which noticed one runs first for
the next of its function. The verdicts do not depend on the number of forks, or on whether each mutant has its own.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ordeal._tools.mutation.forks import Ended, Job, Refilled, Say, run_jobs
from ordeal._tools.mutation.judging.suite import Suite
from ordeal._tools.mutation.judging.trials import Trial
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.pytest_items import ASSERTED

LANE = 50
_PATIENCE = 4.0
#: After these verdicts a process ends, without judging the mutants that were to follow.
_LAST = frozenset(("dirty", "loop"))
_NO_ANSWER = frozenset(("raised", "lost", "turning"))


@dataclass(slots=True)
class _Lane:
    left: deque[Mutant]
    killers: dict[tuple[str, tuple[int, int] | None], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Tag:
    """The subject of a job. ``lane`` is None for a mutant that is judged again, alone."""

    lane: _Lane | None
    trials: list[Trial]
    factor: float = 1.0
    was_blocked: bool = False


class Lanes:
    """Judges mutants in memory. Those that must be imported to be judged are kept in ``at_import``.

    Some of these only matter to the tests that read their file: ``readers`` has these tests by the id of the mutant.
    """

    def __init__(self, suite: Suite, say: Say) -> None:
        self._suite, self._say = suite, say
        self._waiting: deque[_Lane | Job] = deque()
        self._reverse: Job | None = None
        self._undecided: list[tuple[Mutant, Trial]] = []
        self.at_import: list[Mutant] = []
        self.readers: dict[str, list[str]] = {}

    def judge(self, mutants: Sequence[Mutant]) -> None:
        """Report the verdict on each mutant."""
        if mutants:
            self._reverse = self._suite.reverse_run()
            self._waiting.append(self._reverse)
        for first in range(0, len(mutants), LANE):
            self._waiting.append(_Lane(deque(mutants[first : first + LANE])))
        for ended in run_jobs(Refilled(self.next_job), self._suite.workers):
            self._take(ended)

    def leave_to_readers(self, mutant: Mutant) -> None:
        """Leave a mutant that no test has noticed in memory to the tests that read its file."""
        self.at_import.append(mutant)
        self.readers[mutant.id] = self._suite.readers(mutant)

    def next_job(self) -> Job | None:
        """Return the next job for a free fork; None while there is none."""
        while self._waiting:
            lane = self._waiting.popleft()
            if isinstance(lane, Job):
                return lane
            if lane.left:
                mutants = self._next_of(lane)
                trials = [self._suite.trial(each, lane.killers.get(each.place)) for each in mutants]
                return self._job(_Tag(lane, trials))
        return None

    def _next_of(self, lane: _Lane) -> list[Mutant]:
        """Return the mutants that one fork judges.

        One whose lines run on behalf of other tests gets a fork alone, because leftovers of earlier tests may hide it.
        Until those are known, each mutant gets one.
        """
        if not self._suite.is_reverse_known:
            return [lane.left.popleft()]
        mutants: list[Mutant] = []
        while lane.left:
            runs_once = self._suite.runs_for_others(lane.left[0])
            if runs_once and mutants:
                break
            mutants.append(lane.left.popleft())
            if runs_once:
                break
        return mutants

    def _job(self, tag: _Tag) -> Job:
        job = self._suite.job(tag.trials, tag.factor)
        job.tag = tag
        return job

    def _again(self, mutant: Mutant, killer: int | None, factor: float = 1.0, *, was_blocked: bool = False) -> None:
        """Judge a mutant once more, in a separate fork."""
        if self._suite.covering(mutant):
            trials = [self._suite.trial(mutant, killer, factor, alone=True)]
            self._waiting.appendleft(self._job(_Tag(None, trials, factor, was_blocked)))
        else:
            self._verdict(mutant, "not run", note="the only test that runs it is not stable")

    def _take(self, ended: Ended) -> None:
        if ended.job is self._reverse:
            self._suite.learn_reverse(ended.said)
            undecided, self._undecided = self._undecided, []
            for mutant, trial in undecided:
                self._survived(mutant, trial)
            return
        tag: _Tag = ended.job.tag
        said = [message for message in ended.said if _NO_ANSWER.isdisjoint(message)]
        done = 0
        for trial, message in zip(tag.trials, said, strict=False):
            done += 1
            self._take_message(tag, trial, message)
        if done < len(tag.trials) and not (said and _LAST.intersection(said[-1])):
            self._take_end(tag, tag.trials[done], ended)
            done += 1
        if tag.lane is not None:
            tag.lane.left.extendleft(trial.mutant for trial in reversed(tag.trials[done:]))
            if tag.lane.left:
                self._waiting.appendleft(tag.lane)

    def _take_message(self, tag: _Tag, trial: Trial, said: dict[str, Any]) -> None:
        mutant = trial.mutant
        if "not swappable" in said:
            self.at_import.append(mutant)
        elif "not run" in said:
            self._verdict(mutant, "not run", note=said["not run"])
        elif "loop" in said and trial.alone:
            self._verdict(mutant, "timeout", tests=len(trial.numbers), note="loop limit")
        elif not trial.alone and not said.keys().isdisjoint(("dirty", "loop", "survived")):
            self._again(mutant, self._killer(tag, trial))
            if tag.lane is not None and "dirty" in said:
                tag.lane.killers[mutant.place] = said["dirty"]
        elif "survived" in said:
            self._survived(mutant, trial)
        elif "failed" in said:
            self._failed(tag, trial, said)

    def _killer(self, tag: _Tag, trial: Trial) -> int | None:
        return tag.lane.killers.get(trial.mutant.place) if tag.lane else trial.numbers[0]

    def _survived(self, mutant: Mutant, trial: Trial) -> None:
        covering = self._suite.covering(mutant)
        if self._suite.runs_at_import(mutant):
            self.at_import.append(mutant)
        elif not self._suite.is_reverse_known:
            self._undecided.append((mutant, trial))
        elif len(trial.numbers) == len(covering) and self._suite.runs_for_others(mutant):
            # Other tests may use what the mutant left behind, and notice it.
            self._waiting.appendleft(self._job(_Tag(None, [self._suite.trial_by_all(mutant)])))
        elif self._suite.readers(mutant):
            self.leave_to_readers(mutant)
        else:
            nearest = self._suite.nearest(covering)
            self._verdict(mutant, "survived", tests=len(covering), nearest=nearest, covering=covering)

    def _failed(self, tag: _Tag, trial: Trial, said: dict[str, Any]) -> None:
        mutant, killer = trial.mutant, said["failed"]
        ran = trial.numbers[: trial.numbers.index(killer) + 1]
        # Its own process may have run the original already; a batch always has.
        if said.get("passes"):
            self._suite.trust(killer)
        elif len(tag.trials) == 1 and not self._suite.is_true(ran):
            # In this order it fails without a mutant too: its verdict does not count, and the mutant is judged again.
            if trial.alone and killer in self._suite.dependent:
                self._suite.leave_out(killer)
            self._suite.dependent.add(killer)
            self._again(mutant, None)
            return
        if tag.lane is not None:
            tag.lane.killers[mutant.place] = killer
        word = "memory" if said["kind"] == "MemoryError" else "killed"
        names, count = self._suite.names, said.get("ran", len(ran))
        more = {"covering": self._suite.covering(mutant), "asserted": said["kind"] == ASSERTED}
        self._verdict(mutant, word, killer=names[killer], tests=count, **more)

    def _take_end(self, tag: _Tag, trial: Trial, ended: Ended) -> None:
        """Handle a process that ended while it judged a mutant: its end is the verdict."""
        mutant, tests = trial.mutant, len(trial.numbers)
        if ended.lost or (ended.signal == signal.SIGKILL and not ended.is_late):
            # Something other than the mutant may have ended it.
            if tag.lane is not None:
                self._again(mutant, self._killer(tag, trial))
                return
            if ended.lost:
                self._verdict(mutant, *ended.verdict())
                return
        took_long = ended.is_late or ended.signal == signal.SIGPROF
        if took_long and any("turning" in each for each in ended.said):
            self._verdict(mutant, "timeout", tests=tests, note="loop limit")
        elif ended.is_blocked and tag.factor == 1.0 and not tag.was_blocked:
            # Its tests wait for something that never comes, which is not the fault of a busy machine: more time would
            # be lost.
            self._again(mutant, self._killer(tag, trial), was_blocked=True)
        elif ended.is_blocked and tag.was_blocked:
            self._verdict(mutant, "timeout", tests=tests)
        elif (took_long and tag.factor == 1.0) or (len(tag.trials) > 1 and not took_long):
            # A busy machine may have made it slow: it gets four times as long. Or an earlier mutant may have ended it.
            self._again(mutant, self._killer(tag, trial), _PATIENCE if took_long else 1.0)
        else:
            self._verdict(mutant, *ended.verdict(), tests=tests)

    def _verdict(self, mutant: Mutant, word: str, note: str = "", **more: Any) -> None:
        self._say({"verdict": word, "id": mutant.id, "route": "swap", "note": note, **more})
