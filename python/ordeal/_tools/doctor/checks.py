"""Turns the counts of an examination into checks, each with a status, a message and what to do."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from msgspec import to_builtins

from ordeal._base.formatting import counted, one_line, percent
from ordeal._base.limits import LISTED_MAX
from ordeal._base.outside import NOTE
from ordeal._base.property_text import json_properties
from ordeal._base.untrusted import source_line
from ordeal.result import ExplorationResult
from ordeal.result.exploration import blind_lines, ranges
from ordeal.result.parts import RUNS_TO_REMARK, unused_remark

Status = Literal["ok", "warning", "error"]

#: Fewer runs than this say nothing about a rule.
RUNS_MIN = 50
#: What this many runs do not reach needs a change of the machine.
RUNS_MANY = 20_000
#: With fewer calls, a share says nothing.
_CALLS_MIN = 20
#: What takes this share of the time, and this many seconds each time, is worth a look.
_SLOW_SHARE, _SLOW_SECONDS = 0.5, 0.001
#: So is what waits for this many seconds each time.
_LONG_SECONDS = 0.01
#: Exceptions that no program raises on purpose.
_MISTAKES = frozenset(
    {"AssertionError", "AttributeError", "NameError", "RecursionError", "TypeError", "UnboundLocalError"}
)

Examined = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Advice:
    """One check. ``subject`` is the class; it is empty if the check concerns all classes."""

    name: str
    status: Status
    message: str
    hint: str = ""
    subject: str = ""


def checks_of(examined: Examined) -> Iterator[Advice]:
    """Yield what one examination of a class shows."""
    error = examined.get("error")
    if error:
        yield Advice(
            "class", "error", one_line(error["message"], limit=500), one_line(error.get("hint", ""), limit=500)
        )
        return
    result = examined["result"]
    runs = result["total_runs"]
    if result.get("inconclusive"):
        yield Advice(
            "runs", "warning", one_line(result["inconclusive"]["reason"]), one_line(result["inconclusive"]["hint"])
        )
    elif result["failures"] and runs < RUNS_MIN and result["stopped_reason"] != "time":
        yield Advice("runs", "warning", f"failures ended the search at {counted(runs, 'run')}", "see `ordeal explore`")
    else:
        yield Advice("runs", "ok", f"{counted(runs, 'run')}, {counted(result['total_steps'], 'step')}")
    yield from _or_ok("target modules", _targets(result))
    yield from _or_ok("rules", _rules(examined["rules"], runs))
    yield from _or_ok("swallowed exceptions", _swallowed(examined["rules"], runs))
    yield from _or_ok("faults", faults_without_calls(result["faults"], runs, result["calling"]))
    yield from _or_ok("invariants", _invariants(examined["invariants"], examined["rules"]))
    yield from _or_ok("properties", properties_never_reached(result["properties"]))
    yield from _or_ok("copies", _copies(result, examined["copies"]))
    yield _speed(examined)


def _or_ok(name: str, found: Iterator[Advice]) -> Iterator[Advice]:
    advice = list(found)
    yield from advice or [Advice(name, "ok", "")]


def _targets(result: Mapping[str, Any]) -> Iterator[Advice]:
    if result["target_modules"] == []:
        imported = result["imported_modules"][:LISTED_MAX]
        names = ", ".join(f'"{name}"' for name in imported)
        message = "no `target_modules`: the search is blind"
        if imported:
            message += f"; {', '.join(f'`{name}`' for name in imported)} is imported by the machine"
        add = f"add `target_modules = [{names}]` to [explorer]"
        hint = add if imported else 'name what is tested in [explorer]: `target_modules = ["myapp"]`'
        yield Advice("target modules", "warning", one_line(message, limit=400), one_line(hint, limit=400))
    if compiled := result["compiled"]:
        names = ", ".join(compiled[:LISTED_MAX]) + ", ..." * (len(compiled) > LISTED_MAX)
        message = f"compiled, so that their code cannot be watched, and does not steer the search: {names}"
        hint = "install the package without its compiled modules, if it can do without"
        yield Advice("target modules", "warning", one_line(message, limit=400), hint)


def _rules(rules: Sequence[Mapping[str, Any]], runs: int) -> Iterator[Advice]:
    if runs < RUNS_MIN:
        return
    for rule in rules:
        name = f"rule `{one_line(rule['name'])}`"
        if rule["lacks_return"]:
            yield Advice("rules", "warning", f"{name} fills a bundle with None", "return what the bundle is to hold")
        if not rule["starts"]:
            never = [each for each in rule["preconditions"] if each["starts"] and not each["true"]]
            source = f": its precondition was never true: `{one_line(never[0]['source'])}`" if never else ""
            hint = "see that a rule fills the bundles that it draws from, or raise its weight"
            hint = "see which rule should make it true" if never else hint
            yield Advice("rules", "warning", f"{name} never ran in {counted(runs, 'run')}{source}", hint)
        elif rule["starts"] < _CALLS_MIN:
            continue
        elif rule["rejected"] >= 0.9 * rule["starts"]:
            share = percent(rule["rejected"] / rule["starts"])
            message = f"{name}: `assume` rejects {share} of its {rule['starts']} calls"
            yield Advice("rules", "warning", message, "draw what the rule accepts, or write a precondition")
        elif not rule["returns"] and rule["raised"]:
            kind = max(rule["raised"], key=lambda each: rule["raised"][each])
            message = f"{name} always raises: {one_line(kind)} in all of {counted(rule['starts'], 'call')}"
            yield Advice("rules", "warning", message, "mend this first: each run ends where it raises")


def _swallowed(rules: Sequence[Mapping[str, Any]], runs: int) -> Iterator[Advice]:
    for rule in rules:
        for kind, count in rule["swallowed"].items():
            # Until a search is deep, refusals may be all that the program answers.
            always = runs >= RUNS_TO_REMARK and count >= max(_CALLS_MIN, rule["starts"])
            if kind in _MISTAKES or always:
                message = (
                    f"rule `{one_line(rule['name'])}` swallows {one_line(kind)} in {count} of "
                    f"{counted(rule['starts'], 'call')}"
                )
                yield Advice("swallowed exceptions", "warning", message, "catch only errors that the program may raise")


def faults_without_calls(faults: Sequence[Mapping[str, Any]], runs: int, called: Collection[str]) -> Iterator[Advice]:
    """Yield the faults that were on in many runs while nobody called their target.

    Those ``called`` by a line of the targets meet a call when the search comes there while they are on: up to
    ``RUNS_MANY`` that it has not is not a reason to look at the fault.
    """
    for fault in faults if runs >= RUNS_TO_REMARK else ():
        if fault["runs"] >= 5 and not fault["calls"]:
            if runs < RUNS_MANY and fault["name"] in called:
                continue
            message = (
                f"the target of {one_line(fault['name'])} was never called while it was on, "
                f"in {counted(fault['runs'], 'run')}"
            )
            yield Advice("faults", "warning", message, "see that the rules call it by the name that the fault replaces")


def _invariants(invariants: Sequence[Mapping[str, Any]], rules: Sequence[Mapping[str, Any]]) -> Iterator[Advice]:
    if not invariants and not any("AssertionError" in rule["raised"] for rule in rules):
        return
    for invariant in invariants:
        if invariant["starts"] >= _CALLS_MIN and invariant["states"] <= 1 and not invariant["opaque"]:
            message = (
                f"invariant `{one_line(invariant['name'])}` saw one state in {counted(invariant['starts'], 'call')}"
            )
            yield Advice("invariants", "warning", message, "no rule changes the attributes of the machine")


def properties_never_reached(properties: Sequence[Mapping[str, Any]]) -> Iterator[Advice]:
    """Yield what should happen at some time, and never did."""
    for each in properties:
        kind, name = each.get("type", each.get("kind", "")), one_line(str(each.get("name", "")))
        if kind in ("sometimes", "reachable") and each.get("status") == "FAIL":
            message = f"{kind} `{name}` was never {'true' if kind == 'sometimes' else 'reached'}"
            yield Advice("properties", "warning", message, "see which rules and arguments lead there")


def _copies(result: Mapping[str, Any], copies: Sequence[Mapping[str, str]]) -> Iterator[Advice]:
    if copies and result["snapshot_kind"] != "copy":
        first = copies[0]
        message = (
            f"states cannot be copied, so their steps are repeated: `{one_line(first['path'])}`: "
            f"{one_line(first['reason'])}"
        )
        hint = "make it a function that opens it when it is needed, or give its class `__deepcopy__`"
        yield Advice("copies", "warning", message, hint)


def _speed(examined: Examined) -> Advice:
    """Report the speed, and any rule or invariant that takes most of the time."""
    result = examined["result"]
    seconds, runs = max(result["seconds"], 1e-9), result["total_runs"]
    kinds = [("rule", each) for each in examined["rules"]] + [("invariant", each) for each in examined["invariants"]]
    rate = f"{runs / seconds:,.0f} runs/s"
    if not kinds:
        return Advice("speed", "ok", rate)
    kind, slowest = max(kinds, key=lambda each: each[1]["seconds"])
    share, each_call = slowest["seconds"] / seconds, slowest["seconds"] / max(1, slowest["starts"])
    share_text = f"{kind} `{one_line(slowest['name'])}` takes {percent(share)} of the time"
    works = slowest["processor"] / max(1, slowest["starts"])
    # On a busy machine each call waits for its turn, which says nothing of the call.
    if share >= _SLOW_SHARE and (works >= _SLOW_SECONDS or each_call - works >= _LONG_SECONDS):
        hint = "more runs find more: make it cheaper" + (", or check less often" if kind == "invariant" else "")
        return Advice("speed", "warning", f"{share_text}, {1000 * each_call:.1f} ms a call, at {rate}", hint)
    rest = max(0.0, 1 - sum(use["seconds"] for _, use in kinds) / seconds)
    return Advice("speed", "ok", f"{rate}; {share_text}, and drawing, checking and tracing {percent(rest)}")


def stability(runs: Sequence[Examined]) -> Iterator[Advice]:
    """Yield whether the same seed did the same: in two equal processes, and in one with another hash seed."""
    if len(runs) < 3 or not all("result" in each for each in runs):
        return
    first, again, other = (_signature(each["result"]) for each in runs)
    if first != again:
        yield Advice(
            "stability",
            "warning",
            f"the same seed does not do the same twice: {_difference(*runs[:2])}",
            "see where the program asks for time, threads, identities or its own random numbers",
        )
    elif first != other:
        yield Advice(
            "stability",
            "warning",
            f"what runs depends on PYTHONHASHSEED: {_difference(runs[0], runs[2])}",
            "sort sets before their order matters, or set PYTHONHASHSEED",
        )
    else:
        yield Advice("stability", "ok", "the same seed does the same in three processes")


def _signature(result: Mapping[str, Any]) -> tuple[Any, ...]:
    return result["total_runs"], result["total_steps"], result["unique_edges"], result["covered_lines"]


def _difference(one: Examined, other: Examined) -> str:
    a, b = _signature(one["result"]), _signature(other["result"])
    for file in sorted({*a[3], *b[3]}):
        differ = sorted({*ranges(a[3].get(file, ""))} ^ {*ranges(b[3].get(file, ""))})
        if differ:
            more = f" and {counted(len(differ) - 1, 'more line')}" if differ[1:] else ""
            return one_line(f"{file}:{differ[0]}{more} ran in one process and not in the other", limit=300)
    words = ("runs", "steps", "edges")
    return ", ".join(f"{x} and {y} {word}" for x, y, word in zip(a[:3], b[:3], words, strict=True) if x != y)


def unhealthy(result: ExplorationResult, wanted: Collection[str]) -> list[Advice]:
    """Return the warnings about a class whose names are ``wanted``, or all of them."""
    return [check for check in _warnings(result) if "all" in wanted or check.name in wanted]


def _warnings(result: ExplorationResult) -> Iterator[Advice]:
    runs = result.total_runs
    for line in blind_lines(result):
        what, _, hint = line.partition(". ")
        yield Advice("target modules", "warning", what, hint)
    if remark := unused_remark(result.rules, runs):
        what, _, hint = remark.partition(": ")
        yield Advice("rules", "warning", what, hint)
    yield from faults_without_calls([to_builtins(use) for use in result.faults], runs, called_faults(result))
    if runs >= RUNS_TO_REMARK:
        yield from properties_never_reached(json_properties(result.properties))
    if result.unconfirmed:
        what = f"{counted(result.unconfirmed, 'failure')} did not fail again from a fresh machine"
        yield Advice("stability", "warning", what, "`ordeal doctor` says what differs when the same seed runs again")
    for note in result.notes:
        if note.startswith(NOTE):
            yield Advice(
                "outside", "warning", note.rstrip("."), "handle it where it happens, or set `outside` of `[explorer]`"
            )


def called_faults(result: ExplorationResult) -> list[str]:
    """Return the faults whose target a line of the target modules calls, as it is written there.

    A line that was reached must call it as an attribute: a name that another module has imported is not the one that a
    fault replaces. One that no run has reached may call it by any name.
    """
    idle = [use.name for use in result.faults if use.runs and not use.calls and not use.is_of_world]
    found = []
    for name in idle:
        named = re.search(r"\((?:\w+\.)+(\w+)", name)
        if named is None:
            continue
        own = re.escape(named[1])
        lines = chain(
            _matching(result.missed_lines, rf"\b{own}\s*\("), _matching(result.covered_lines, rf"\.\s*{own}\s*\(")
        )
        if any(lines):
            found.append(name)
    return found


def _matching(lines: Mapping[str, Collection[int]], pattern: str) -> Iterator[bool]:
    call = re.compile(pattern)
    for file, numbers in lines.items():
        for number in numbers:
            yield call.search(source_line(file, number)) is not None
