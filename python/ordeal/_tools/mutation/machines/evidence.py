"""The evidence of a machine about a mutant: what failed and where, or what differed although nothing failed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from ordeal._tools.mutation.forks import MEMORY_MIB
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.verdicts import STATE_DIFFERS, Word


class MachineOptions(msgspec.Struct, frozen=True):
    """How machines judge: what they explore, and how many runs of it.

    The traces in the folders ``saved`` judge as well.
    """

    machines: tuple[str, ...]
    targets: tuple[str, ...] = ()
    runs: int = 1500
    seconds: float = 120.0
    seed: int = 0
    workers: int = 1
    saved: tuple[str, ...] = ()
    memory: int = MEMORY_MIB
    passed: tuple[str, ...] = ()


class Order(msgspec.Struct):
    """An order for a judge: the paths and names of files, and the mutants. To close one may take ``budget`` seconds."""

    sources: list[tuple[str, str]]
    mutants: list[Mutant]
    options: MachineOptions
    budget: float = 0.0


#: An index or a key within the path of a part of the state.
_KEY = re.compile(r"\[(?:'[^']*'|\"[^\"]*\"|[^\]]*)\]")


class Kill(msgspec.Struct, frozen=True):
    """A failure of a replay that passes on the original.

    Attributes:
        kind: what it failed with: ``assertion``, ``exception``, ``timeout`` or ``memory``.
        by: the name of the invariant, rule or property that raised, as ``invariant:NAME``; ``program`` for others.
        invariants: all invariants that fail in the state where the run failed, in their order.
        rule: the rule that ran last; empty after the switch of a fault.
        faults: the faults that were on, or had changed a call, until then.
        asserted: the file and line of the ``assert`` that failed; empty for other errors.
        error: the type of the error.
    """

    trace: int
    step: int
    kind: str
    by: str
    invariants: tuple[str, ...]
    rule: str
    faults: tuple[str, ...]
    asserted: str
    error: str


class StateDifference(msgspec.Struct, frozen=True):
    """The first state of a replay that is not that of the original: which step led to it, and the first path."""

    trace: int
    step: int
    rule: str
    path: str
    original: str
    mutant: str

    @property
    def attribute(self) -> str:
        """The attribute that holds it, without keys: what an invariant would read."""
        return attribute_of(self.path)


class MachineFinding(msgspec.Struct, frozen=True):
    """The verdict of machines on one mutant.

    Attributes:
        word: the verdict.
        kills: the first failure, if any.
        difference: of a survivor, where its state first differs; None where it never does.
        traces: how many traces run its lines; ``replays`` how many of them were run for the verdict.
    """

    id: str
    word: Word
    kills: tuple[Kill, ...] = ()
    difference: StateDifference | None = None
    traces: int = 0
    replays: int = 0
    note: str = ""

    @property
    def why_it_survived(self) -> str:
        """One of ``never reached``, ``nothing differs``, ``state differs``; empty where it did not survive."""
        if self.word == "uncovered":
            return "never reached"
        if self.word != "survived":
            return ""
        return "nothing differs" if self.difference is None else STATE_DIFFERS


class JudgingMachine(msgspec.Struct, frozen=True):
    """A machine that judged: its traces, and the attributes that its invariants read.

    Attributes:
        left_out: how many traces did not run the same way twice on the original.
        reads: the attributes that each invariant reads.
        unread: attributes of the state that no invariant reads.
        cut_short: whether its exploration was ended by its time: then it has other traces the next time.
        unsteady: attributes that differ from run to run, and are not compared.
    """

    name: str
    traces: int
    steps: int
    left_out: int
    rules: tuple[str, ...]
    faults: tuple[str, ...]
    invariants: tuple[str, ...]
    reads: dict[str, tuple[str, ...]]
    unread: tuple[str, ...]
    cut_short: bool = False
    unsteady: tuple[str, ...] = ()


def attribute_of(path: str) -> str:
    """Return the path of the attribute that holds a part of the state, keys as ``*``: ``orders.*.units``."""
    text = _KEY.sub(".*", path)
    while text.endswith(".*"):
        text = text[:-2]
    return text


@dataclass
class Row:
    """A row of a table of kills: how many, and how many that no other row has."""

    kills: int = 0
    only_it: int = 0


@dataclass
class KillTable:
    """Kills by what noticed them, and under what; ``rule_faults`` by a rule and each fault that it ran under."""

    invariants: dict[str, Row] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    rule_faults: dict[str, int] = field(default_factory=dict)
    properties: dict[str, int] = field(default_factory=dict)
    asserts: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)


def table_of(findings: Iterable[MachineFinding], machines: Iterable[JudgingMachine]) -> KillTable:
    """Count the kills. A mutant counts once in a row, however many of its traces fail."""
    table = KillTable()
    for machine in machines:
        table.invariants |= {name: Row() for name in machine.invariants}
        table.rules |= dict.fromkeys(machine.rules, 0)
        table.faults |= dict.fromkeys(machine.faults, 0)
    for finding in findings:
        if not finding.kills:
            continue
        failing = {name for kill in finding.kills for name in kill.invariants}
        for name in failing:
            row = table.invariants.setdefault(name, Row())
            row.kills += 1
            row.only_it += len(failing) == 1 and all(kill.invariants for kill in finding.kills)
        properties = {kill.by.partition(":")[2] for kill in finding.kills if kill.by.startswith("property:")}
        _count(table.rules, {kill.rule for kill in finding.kills})
        _count(table.faults, {name for kill in finding.kills for name in kill.faults})
        under = {f"{kill.rule} under {name}" for kill in finding.kills for name in kill.faults if kill.rule}
        _count(table.rule_faults, under)
        _count(table.properties, properties)
        _count(table.asserts, {kill.asserted for kill in finding.kills})
        _count(table.kinds, {finding.kills[0].kind})
    return table


def _count(table: dict[str, int], names: Iterable[str]) -> None:
    for name in sorted(names):
        if name:
            table[name] = table.get(name, 0) + 1


#: How a file of written tests begins.
HEADER = '"""Written by `ordeal mutate kill`. Each test says which change of the program it notices."""\n'


class Closed(msgspec.Struct, frozen=True):
    """The outcome for a survivor: ``killed`` or ``open``, and the test with how often it was right.

    ``why`` is what fails, or why nothing does; ``trace`` is the run that fails, as JSON.
    """

    how: str
    why: str
    test: str = ""
    steps: int = 0
    failed: int = 0
    passed: int = 0
    searched: int = 0
    trace: str = ""


def one_file(tests: Sequence[str]) -> str:
    """Return the text of one file with the tests of several."""
    imports: dict[str, None] = {}
    functions = []
    for text in tests:
        lines = text.split("\n")
        for node in ast.parse(text).body:
            part = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports[part] = None
            elif not isinstance(node, ast.Expr):
                functions.append(part)
    parts = [HEADER.strip(), "", *sorted(imports), *(f"\n\n{each}" for each in functions)]
    return "\n".join(parts) + "\n"
