"""The findings of an exploration: each failure confirmed from fresh machines, counted by its bucket, and shrunk."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path

import msgspec
import msgspec.structs

import ordeal._native as _native
from ordeal._base.formatting import describe_error, one_line
from ordeal._base.limits import TRIES_MAX
from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal._base.untrusted import error_message, type_name
from ordeal._engine.execution.bucket import (
    ends_process,
    falls_into,
    is_killed,
    place_of,
    step_of,
)
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.storage.state_file import Provenance
from ordeal.result import FoundFailure, KnownFailure
from ordeal.result.failure import failure_id

#: More distinct failures than this are a flood; the rest is only counted.
BUCKETS_MAX = 1_000
#: How many steps that break an invariant at one place get separate buckets; others count with the first of them.
SIBLINGS_MAX = 32
#: What separates the place of a failure from the text that names it.
_BY_TEXT = " [known as "
#: Run 0 of an exploration is not a run but the replay of a seed.
OF_SEED = Provenance(run_id=0, checkpoint=0, swarm=None, edges=0)


class Confirmation(Enum):
    """What replays from fresh machines show of a failing run."""

    KNOWN = "known"  # the bucket was found before
    CONFIRMED = "confirmed"  # it fails from a fresh machine as well
    FLAKY = "flaky"  # it does not fail each time
    UNFAITHFUL = "unfaithful"  # it fails only from a copied machine, so the copy is wrong
    DROPPED = "dropped"  # not examined: too many
    BETTER = "better"  # the bucket was found before, by a longer run or one that does not fail each time


class Finding(msgspec.Struct):
    """A bucket with the tape that fails in it."""

    bucket: str
    tape: _native.Tape
    origin: Provenance
    error: BaseException
    count: int = 1
    flaky: bool = False
    error_traceback: str = ""  # for an error of an earlier process, whose frames are gone
    seed: Path | None = None  # the file of the seed that fails in this bucket
    improved: bool = False  # triage replaced the tape of its seed by a better one
    flaky_reason: str = ""  # how often it came back
    outside: bool = False  # replays in its process went another way: something outside the machine had a part in it

    @property
    def needs_own_process(self) -> bool:
        """Whether runs with this failure end their process, or must be ended with it."""
        return ends_process(type_name(type(self.error)), self.bucket)

    @property
    def was_killed(self) -> bool:
        """Whether SIGKILL ended its process, which others may send as well."""
        return is_killed(self.bucket)

    @property
    def broken_by(self) -> list[str]:
        """The step after which an invariant failed, if one did."""
        return [step for step in [step_of(self.bucket)] if step]

    def reported(self) -> FoundFailure:
        """Return what is known of it before it is shrunk."""
        error = describe_error(self.error)
        if error == type_name(type(self.error)) and self.bucket.startswith(error):
            # An assertion without a message: its condition distinguishes them.
            error = one_line(place_of(self.bucket))
        return FoundFailure(failure_id(self.bucket), self.bucket, error, self.origin.run_id, len(self.tape))

    @property
    def is_timeout(self) -> bool:
        """Whether each run of it takes as long as the limit of a rule."""
        return type_name(type(self.error)) == RuleTimeoutError.__name__

    def replace_by(self, other: Finding) -> bool:
        """Take over the run of another finding of the bucket if that is better.

        One that fails each time is, then a shorter one, then an earlier one.
        """
        if (other.flaky, len(other.tape), other.origin.run_id) >= (self.flaky, len(self.tape), self.origin.run_id):
            return False
        self.tape, self.origin, self.error = other.tape, other.origin, other.error
        self.error_traceback, self.flaky, self.outside = other.error_traceback, other.flaky, other.outside
        self.improved = True
        return True


class Findings:
    """The findings of one exploration, in the order of their discovery."""

    def __init__(self, replayer: Replayer) -> None:
        self._replayer = replayer
        self._by_bucket: dict[str, Finding] = {}
        self._siblings: dict[str, dict[str, Finding]] = {}  # by place, then by bucket
        self._unfaithful: dict[str, int] = {}
        self._take_long: dict[str, bool] = {}  # by bucket
        self._tried: dict[str, int] = {}  # steps of the shortest run that was compared, by bucket
        self._gone: dict[str, int] = {}  # tries that are left for a run that fails again, by bucket of one that did not

    def __len__(self) -> int:
        return len(self._by_bucket)

    def count(self, bucket: str, met: Container[str] = ()) -> bool:
        """Count a run in ``bucket``, unless it was counted in one of those ``met``; False when it is unknown."""
        known = self.known(bucket)
        if known is not None:
            known.count += known.bucket not in met
        return known is not None

    def known(self, bucket: str) -> Finding | None:
        """Return the finding that stands for failures in ``bucket``, if there is one."""
        known = self._by_bucket.get(bucket)
        if known is not None:
            return known
        place = place_of(bucket)
        siblings = self._siblings.get(place, {})
        return next(iter(siblings.values())) if len(siblings) >= SIBLINGS_MAX else siblings.get(place)

    def _keep(self, finding: Finding) -> Finding:
        """Return the finding of its bucket: itself, unless there is one."""
        known = self.known(finding.bucket)
        return known if known is not None else self._put(finding)

    def _put(self, finding: Finding) -> Finding:
        self._by_bucket[finding.bucket] = finding
        self._siblings.setdefault(place_of(finding.bucket), {})[finding.bucket] = finding
        return finding

    def add(
        self,
        finding: Finding,
        *,
        from_copy: bool,
        replayer: Replayer | None = None,
        met: Container[str] = (),
        took_limit: bool = False,
    ) -> Confirmation:
        """Confirm a new failure by replays from fresh machines, and keep it unless a copy caused it.

        The run has ``met`` other buckets. ``replayer`` makes the replays that this object's own cannot make, as when
        they end their process. A rule that ``took_limit`` need not take it again: it does so when it is minimal.
        """
        tries = self._unfaithful.get(finding.bucket, 0)
        if len(self) >= BUCKETS_MAX or tries >= TRIES_MAX:
            return Confirmation.DROPPED
        replays = (replayer or self._replayer).confirm(finding.tape, took_limit=took_limit)
        seen = [replayed.bucket for replayed in replays]
        places = [place_of(bucket) for bucket in seen]
        steady = bool(seen[0]) and len(set(places)) == 1
        # What earlier runs left outside the machine, such as a cache in a module, makes runs fail sooner or not at all.
        # Only the run's own tape may then fail in a process where nothing ran before.
        finding.outside = not from_copy and not (steady and len(replays[0].tape) >= len(finding.tape))
        if not steady and place_of(finding.bucket) not in places and from_copy:
            self._unfaithful[finding.bucket] = tries + 1
            return Confirmation.UNFAITHFUL
        if steady and not finding.outside:
            # If all fresh machines show the same failure, it counts, even if the run showed another. If another step
            # breaks an invariant each time, that step is irrelevant.
            finding.bucket = seen[0] if len(set(seen)) == 1 else places[0]
            finding.tape = replays[0].tape
        finding.flaky = not steady
        if self.count(finding.bucket, met):
            return Confirmation.KNOWN
        if not any(seen):
            self._gone[finding.bucket] = TRIES_MAX
        self._keep(finding)
        return Confirmation.FLAKY if finding.flaky else Confirmation.CONFIRMED

    def may_improve(self, known: Finding, steps: int) -> bool:
        """Return True if a later run of the bucket of ``known``, with that many ``steps``, is worth its replays."""
        if known.flaky:
            return self._gone.get(known.bucket, 0) > 0
        return not known.outside and steps < self._tried.get(known.bucket, len(known.tape))

    def improve(self, known: Finding, finding: Finding) -> bool:
        """Replace ``known`` by a later ``finding`` of its bucket, if that fails each time and may improve it."""
        replays = self._replayer.confirm(finding.tape)
        if known.flaky:
            # What comes back now and then must not pass for what always does.
            self._gone[known.bucket] -= 1
            replays += self._replayer.confirm(finding.tape)
        else:
            self._tried[known.bucket] = len(finding.tape)
        if not all(falls_into(replayed.bucket, known.bucket) for replayed in replays):
            return False
        finding.tape = replays[0].tape
        return known.replace_by(finding)

    def suspect(self, finding: Finding, met: Container[str] = ()) -> Confirmation:
        """Keep a step suspected of hanging, since the search cannot wait longer; triage decides after the search."""
        if len(self) >= BUCKETS_MAX:
            return Confirmation.DROPPED
        if self.count(finding.bucket, met):
            return Confirmation.KNOWN
        self._keep(finding)
        return Confirmation.CONFIRMED

    def takes_long(self, known: Finding) -> bool:
        """Return True if what fails like ``known`` takes as long as many other runs: it hangs, or ends its process.

        Asked once for each bucket, since runs that meet a known failure are many.
        """
        takes_long = self._take_long.get(known.bucket)
        if takes_long is None:
            takes_long = self._take_long[known.bucket] = known.needs_own_process or known.is_timeout
        return takes_long

    def declare(self, finding: Finding) -> None:
        """Keep a failure that the user declares as known, without confirming it."""
        self._keep(finding)

    def add_seed(self, path: Path, tape: _native.Tape) -> Finding | None:
        """Run the tape of a seed. If it fails, now or each time, it becomes a finding that no run has met yet.

        Returns:
            The finding, or None.

        Raises:
            OrdealError: the machine is invalid.
        """
        replays = self._replayer.confirm(tape)
        failed = next((replayed for replayed in replays if replayed.bucket), None)
        if failed is None or failed.outcome.error is None:
            return None
        flaky = any(replayed.bucket != failed.bucket for replayed in replays)
        finding = Finding(failed.bucket, failed.tape, OF_SEED, failed.outcome.error, count=0, flaky=flaky)
        self._keep_of_seed(finding, path)
        return finding

    def add_replayed_seed(self, finding: Finding) -> None:
        """Keep the result of ``add_seed`` from another process or another set of findings."""
        self._keep_of_seed(finding, finding.seed)

    def _keep_of_seed(self, finding: Finding, path: Path | None) -> None:
        known = self._keep(finding)
        known.seed = known.seed or path

    def all(self) -> list[Finding]:
        """Return the findings, in the order of their discovery."""
        return list(self._by_bucket.values())

    def unfaithful(self) -> dict[str, int]:
        """Return how often the failure of each bucket turned out to be a copy's fault."""
        return dict(self._unfaithful)

    def restore(self, findings: Sequence[Finding], unfaithful: Mapping[str, int]) -> None:
        """Continue with what an earlier process had found and confirmed."""
        for finding in findings:
            self._put(finding)
        self._unfaithful.update(unfaithful)


class KnownFailures:
    """The failures that the user declares as known: they are counted and named, and the search goes past them.

    ``entries`` are buckets, ids of reports, and texts of messages.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self._entries = tuple(dict.fromkeys(entries))

    def __bool__(self) -> bool:
        return bool(self._entries)

    def entry_of(self, finding: Finding) -> str | None:
        """Return the entry that names the failure of ``finding``, if there is one."""
        return self.entry_for(finding.bucket, finding.error)

    def entry_for(self, bucket: str, error: BaseException) -> str | None:
        """Return the entry that names a bucket, or an error by its text, if there is one."""
        return self._by_bucket(bucket) or self._by_text(error)

    def claim(self, finding: Finding) -> bool:
        """Return True if an entry names the failure of a run. It counts by that entry, where a text names it.

        Other failures in its bucket may have another message, and are not known.
        """
        if self._by_bucket(finding.bucket):
            return True
        entry = self._by_text(finding.error)
        if entry is not None:
            finding.bucket = f"{place_of(finding.bucket)}{_BY_TEXT}{entry}]"
        return entry is not None

    def split(
        self, findings: Iterable[Finding], count_of: Callable[[Finding], int]
    ) -> tuple[list[Finding], list[KnownFailure]]:
        """Return the findings to report, and what is known of the others: by entry and place, from any bucket."""
        unknown: list[Finding] = []
        known: dict[tuple[str, str], KnownFailure] = {}
        for finding in findings:
            entry = self.entry_of(finding) if self else None
            if entry is None:
                unknown.append(finding)
                continue
            place = place_of(finding.bucket.partition(_BY_TEXT)[0])
            error_type, message = type_name(type(finding.error)), error_message(finding.error)
            one = KnownFailure(entry, finding.bucket, error_type, message, count_of(finding))
            first = known.setdefault((entry, place), one)
            if first is not one:
                known[entry, place] = msgspec.structs.replace(first, count=first.count + one.count)
        return unknown, list(known.values())

    def _by_bucket(self, bucket: str) -> str | None:
        names = {bucket, place_of(bucket)}
        names |= {failure_id(name) for name in names}
        return next((entry for entry in self._entries if entry in names), None)

    def _by_text(self, error: BaseException) -> str | None:
        if not self._entries:
            return None
        text = f"{type_name(type(error))}: {error_message(error)}"
        return next((entry for entry in self._entries if entry in text), None)
