"""What recorded programs call for arguments that no expression makes: it draws them again from their strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._engine.execution.driver import RULE
from ordeal._hypothesis.machines import define_machine
from ordeal._hypothesis.run_context import RunContext
from ordeal.errors import TraceError


class _Entered:
    """The run that the last call has entered. It stays so: functions and ``data()`` draw while their rule runs."""

    run: RunContext | None = None


def drawn(machine: RuleBasedStateMachine, rule: str, choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return arguments of a rule, drawn from its strategies with the recorded ``choices`` of each.

    The choices of draws in the body of the rule stand under ``(body)``.

    Raises:
        TraceError: the machine has no such rule, or the rule no such argument.
    """
    definition = define_machine(type(machine))
    found = next((each for each in (*definition.rules, *definition.initializers) if each.name == rule), None)
    numbers = {name: number for number, name in enumerate(definition.argument_names)}
    arguments = {} if found is None else {each.name: each for each in found.arguments}
    if found is None or not {*arguments, definition.argument_names[0]}.issuperset(choices):
        raise TraceError(f"{type(machine).__name__} has no rule {rule!r} with the arguments of the program")
    recorded = [(numbers[name], list(made)) for name, made in choices.items()]
    replay = _native.Replay(_native.Tape.from_steps([(RULE, 0, 0, recorded)]))
    replay.next()
    if _Entered.run is not None:
        _Entered.run.__exit__(None, None, None)
    run = _Entered.run = RunContext(replay.source, len(definition.argument_names) - 1)
    run.records = True  # through Hypothesis: a program draws little, and what it draws may draw again
    run.__enter__()
    run.use_machine(machine)
    values = {}
    try:
        for name, argument in arguments.items():
            if name in choices:
                run.source.begin_argument(argument.number)
                values[name] = run.data.draw(argument.strategy)
    except BaseException:
        _Entered.run = None
        run.__exit__(None, None, None)
        raise
    run.source.begin_argument(0)
    return values
