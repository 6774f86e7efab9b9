"""Judges mutants by machines, in a separate interpreter that runs no rule itself: all that runs is a fork of it.

``python -m ordeal._tools.mutation.machines.judge_process ORDER FD PARENT`` writes what it finds in lines of JSON.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ordeal._base.trace_file import Trace
from ordeal._engine.execution.class_path import load_class
from ordeal._native import monotonic
from ordeal._tools.mutation.forks import Ended, Job, Message, Say, limit_memory, run_jobs
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines import traces
from ordeal._tools.mutation.machines.batch import JUDGING_MAX, PATIENCE, Batch, Judging, covering
from ordeal._tools.mutation.machines.bench import TraceReplayer
from ordeal._tools.mutation.machines.evidence import JudgingMachine, MachineFinding, Order
from ordeal._tools.mutation.machines.turns import TurnLimit
from ordeal._tools.mutation.mutants import Mutant, raising
from ordeal._tools.mutation.own_process import Refused, begun, send_output_to
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, OwnLines
from ordeal.errors import OrdealError

BATCH = 100
#: How many findings of a batch are reported at a time: the original runs once for all of them.
GROUP = 50
_SPOILT = "the trace that notices it fails on the original afterwards"
#: The time limit of a rule in a replay: many mutants hang, so the usual limit would take too long.
RULE_SECONDS = 0.2
FORCED_MAX = 5
_MEASURING_SECONDS = 300.0


class Judge:
    """The machines with their traces, and the mutants judged by them."""

    def __init__(self, order: Order, say: Say) -> None:
        self._order, self._say = order, say
        limit_memory(order.options.memory)
        self._folder = str(Path.cwd())
        self._sources = {shown: Source.of(Path(path), shown) for path, shown in order.sources}
        self._paths = {real_path(str(source.path)) for source in self._sources.values()}
        self._kept: list[traces.JudgingTrace] = []
        self._benches: list[TraceReplayer] = []
        self._limits: list[float] = []
        self._unsteady: list[list[str]] = []
        self._own_lines = OwnLines(self._sources)
        self._judges: dict[tuple[str, frozenset[int]], list[Judging]] = {}

    def judge(self) -> None:
        """Report the verdict on each mutant."""
        self._benches = [TraceReplayer(load_class(path), self._folder) for path in self._order.options.machines]
        for bench in self._benches:
            bench.prepare()  # otherwise each fork would spend that time
        self._live = LiveFunctions(self._paths)
        gc.freeze()  # no fork's garbage collector looks through present objects again
        for number, path in enumerate(self._order.options.machines):
            self._prepare(number, path)
        before = _cpu_seconds()
        reached: list[Mutant] = []
        for mutant in self._order.mutants:
            if mutant.function is None:
                self._tell(
                    MachineFinding(mutant.id, "not run", note="at import, unseen by machines; --with tests judges it")
                )
            elif not self._covering(mutant):
                self._tell(MachineFinding(mutant.id, "uncovered"))
            else:
                reached.append(mutant)
        self._forced_failures(reached)
        waiting = [reached[at : at + BATCH] for at in range(0, len(reached), BATCH)]
        # A batch whose process ends leaves the mutants after the one that ended it.
        while waiting:
            ended = run_jobs(map(self._job, waiting), self._order.options.workers)
            waiting = [each for one in ended for each in self._take(one)]
        self._say({"judged": True, "cpu": _cpu_seconds() - before})

    # The traces

    def _prepare(self, number: int, path: str) -> None:
        options, bench = self._order.options, self._benches[number]
        drawing = Job(
            lambda say: traces.drawn(
                path, options.targets, runs=options.runs, seconds=options.seconds, seed=options.seed, say=say
            ),
            0,
            options.seconds * 3 + 60,
        )
        said = _said(drawing, f"{path} cannot be explored")
        drawn = [Trace.from_json(each["trace"].encode()) for each in said if "trace" in each]
        found: dict[str, Trace] = {}
        for trace in (*drawn, *traces.saved(path, options.saved)):
            found.setdefault(trace.content_hash(), trace)
        pairs = [(trace, tape) for trace in found.values() for tape in traces.tapes_of(trace, bench)]
        of_tape, tapes = [trace for trace, _ in pairs], [tape for _, tape in pairs]
        measuring = Job(lambda say: traces.measured(bench, tapes, self._paths, self._live, say), 0, _MEASURING_SECONDS)
        first, *whole, last = _said(measuring, f"{path} cannot be replayed")
        # A tape is left out if it is the one before it without the last step.
        pairs_of = zip([None, *whole], whole, strict=False)
        good = [each for last, each in pairs_of if last is None or of_tape[each["tape"]] is not of_tape[last["tape"]]]
        self._unsteady.append(first["unsteady"])
        bench.hide(first["unsteady"])
        if "reads" not in last or not good:
            raise Refused(f"no trace of {path} runs the same way twice on the unchanged program")
        # Times differ from run to run, and the order decides which trace is named: so steps stand for them.
        for each in sorted(good, key=lambda each: (each["steps"], each["tape"])):
            at, hits = each["tape"], {(file, line): hits for file, line, hits in each["lines"]}
            sketches = [(rule, state) for rule, state in each["sketches"]]
            place = len(self._kept) + 1, number, of_tape[at], tapes[at], hits, each["seconds"], sketches
            self._kept.append(traces.JudgingTrace(*place, each["turns"]))
        self._limits.append(max(RULE_SECONDS, 4 * max(each["seconds"] for each in good)))
        definition = bench.definition
        reads = {name: tuple(found) for name, found in last["reads"].items()}
        read = {name for names in reads.values() for name in names}
        machine = JudgingMachine(
            path,
            len(good),
            sum(each["steps"] for each in good),
            len(found) - len(good),
            tuple(rule.name for rule in (*definition.initializers, *definition.rules)),
            tuple(fault.name for fault in bench.driver.faults),
            tuple(each.name for each in definition.invariants),
            reads,
            tuple(dict.fromkeys(each for each in last["attributes"] if each not in read)),
            any("cut short" in each for each in said),
            tuple(self._unsteady[number]),
        )
        self._say({"machine": msgspec.to_builtins(machine)})

    # The mutants

    def _covering(self, mutant: Mutant) -> list[Judging]:
        """Return the traces that run a mutant's lines, those that judge it first."""
        source = self._sources[mutant.shown]
        lines = frozenset(self._own_lines.of(mutant))
        key = mutant.shown, lines
        if key not in self._judges:
            path = real_path(str(source.path))
            self._judges[key] = covering(self._kept, {(path, line) for line in lines})
        return self._judges[key]

    def _judging(self, mutant: Mutant) -> list[Judging]:
        return self._covering(mutant)[:JUDGING_MAX]

    def _forced_failures(self, mutants: list[Mutant]) -> None:
        """Refuse machines that notice the unchanged program, or nothing in functions that raise at once."""
        functions = {mutant.place: mutant for mutant in reversed(mutants)}
        tried = list(functions.values())[-FORCED_MAX:]
        if not tried:
            return
        judging = {each.number: each for mutant in mutants for each, _ in self._judging(mutant)}
        forced = [raising(self._sources[each.shown], each) for each in tried]

        def run(say: Say) -> None:
            failed = 0
            for number in range(len(self._benches)):
                bench = self._bench(number, PATIENCE)
                with bench.running():
                    of_machine = [judging[each] for each in sorted(judging) if judging[each].machine == number]
                    failed += sum(bench.run(each.tape, each.number) is not None for each in of_machine)
            say({"failed": failed})
            self._judge_batch(forced, say)

        ended = next(run_jobs([Job(run, 0, _MEASURING_SECONDS)], 1))
        failed = next((each["failed"] for each in ended.said if "failed" in each), None)
        if failed is None:
            why = ended.raised or "its process did not come to an end"
            raise Refused(f"the unchanged program cannot be replayed: {why}")
        if failed:
            raise Refused("the unchanged program fails where mutants are judged, so no verdict would be true")
        found = msgspec.convert(_findings(ended), list[MachineFinding])
        if ended.raised:
            raise Refused(f"functions that raise at once cannot be judged: {ended.raised}")
        if found and all(each.why_it_survived == "nothing differs" for each in found):
            raise Refused("the machines do not notice functions that raise at once, so they do not run this program")

    def _job(self, mutants: list[Mutant]) -> Job:
        # The time limit begins again with each mutant. A rule that hangs gets its limit, then more; after a group each
        # trace that noticed one runs on the original.
        slowest = max(sum(each.seconds for each, _ in self._judging(mutant)) for mutant in mutants)
        wall = 10.0 + (20 + min(GROUP, len(mutants))) * slowest + (1 + PATIENCE) * max(self._limits)
        return Job(lambda say: self._judge_batch(mutants, say), 0, wall, mutants)

    def _bench(self, machine: int, patience: int = 1, turns: TurnLimit | None = None) -> TraceReplayer:
        limit = self._limits[machine] * patience
        return self._benches[machine].limited(limit, turns, max(each.turns for each in self._kept))

    def _judge_batch(self, mutants: list[Mutant], say: Say) -> None:
        """Judge mutants, and report findings in groups: the original runs once for each group."""
        send_output_to(os.devnull)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        turns = TurnLimit(self._live)
        benches = [self._bench(number, turns=turns) for number in range(len(self._benches))]
        batch = Batch(benches, self._bench, turns.watch)
        group: list[MachineFinding] = []
        for number, mutant in enumerate(mutants):
            say({"at": number})  # the parent must know it when the fork has died
            chosen, runs = self._judging(mutant), len(self._covering(mutant))
            signal.setitimer(signal.ITIMER_PROF, 2.0 + 50 * sum(each.seconds for each, _ in chosen))
            group.append(batch.finding(self._live, self._sources[mutant.shown], mutant, chosen, runs))
            if len(group) < GROUP and number + 1 < len(mutants):
                continue
            is_spoilt = not batch.original_passes()
            if is_spoilt and len(mutants) > 1:
                say({"spoilt": [each.id for each in group]})
                return
            if is_spoilt:
                group = [MachineFinding(mutant.id, "not run", note=_SPOILT)]
            say({"findings": msgspec.to_builtins(group)})
            group.clear()

    def _take(self, ended: Ended) -> Iterator[list[Mutant]]:
        """Report the verdicts of a batch; yield the rest of it, without the mutant that ended its process."""
        mutants: list[Mutant] = ended.job.tag
        done = _findings(ended)
        if done:
            self._say({"findings": done})
        spoilt = {name for each in ended.said for name in each.get("spoilt", ())}
        rest = mutants[len(done) :]
        if not rest:
            return
        if spoilt:
            # One of them has left something in the process: each gets its own process, and the others a new one.
            yield from ([each] for each in rest if each.id in spoilt)
            if others := [each for each in rest if each.id not in spoilt]:
                yield others
            return
        last = max((each["at"] for each in ended.said if "at" in each), default=0)
        at = mutants[max(last, len(done))]
        rest.remove(at)
        if len(mutants) > 1:
            # It may only have met leftovers of another mutant: it is judged again, alone.
            yield [at]
        else:
            word, note = ended.verdict()
            # No rule raises here: those errors are caught.
            is_ours = word == "killed" and bool(ended.raised)
            self._tell(MachineFinding(at.id, "not run" if is_ours else word, note=note))
        if rest:
            yield rest

    def _tell(self, finding: MachineFinding) -> None:
        self._say({"findings": [msgspec.to_builtins(finding)]})


def _findings(ended: Ended) -> list[Message]:
    return [finding for each in ended.said for finding in each.get("findings", ())]


def _said(job: Job, problem: str) -> list[Message]:
    ended = next(run_jobs([job], 1))
    if ended.raised or ended.signal or ended.is_late:
        raise Refused(f"{problem}: {ended.raised or 'its process did not come to an end'}")
    return ended.said


def _cpu_seconds() -> float:
    """Return the CPU time that this process and its forks have used so far."""
    used = (resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


@contextmanager
def answering(say: Say) -> Iterator[None]:
    """Report why the verdict is missing, where the block ends with an error."""
    try:
        yield
    except Refused as refused:
        say({"refused": [str(refused)]})
    except OrdealError as error:
        say({"refused": [error.message, *([error.hint] if error.hint else [])]})
    except Exception as error:  # noqa: BLE001 - the caller must learn why it gets no answer
        say({"refused": [f"the judge ended with {type(error).__name__}: {error}"[:300]]})


def main() -> None:
    """Judge the mutants of an order."""
    order, say = begun()
    began = monotonic()
    with answering(say):
        Judge(msgspec.json.decode(order, type=Order), say).judge()
    say({"done": True, "seconds": monotonic() - began})


if __name__ == "__main__":
    main()
