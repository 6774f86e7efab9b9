"""The only code that touches Hypothesis' internals: what a machine is, how arguments are drawn, what a run needs.

Modules are loaded when one of their names is first used: a test that only defines a machine needs few of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordeal._hypothesis.bundles import ENGINE_ATTRIBUTES, BundleState, add_to_bundles, resolve
    from ordeal._hypothesis.choice_source import ChoiceSource
    from ordeal._hypothesis.definition_checks import (
        check_constructor,
        forgotten_constructor,
        hint_for_definition,
        is_constructed,
        may_forget_constructor,
    )
    from ordeal._hypothesis.draws import Draw, compile_draw, describe_strategy, draws_from_bundle
    from ordeal._hypothesis.example_keys import database_key, reproducing_test
    from ordeal._hypothesis.exceptions import REJECTED, failure_types, skip_types
    from ordeal._hypothesis.machines import (
        BODY_ARGUMENT,
        Argument,
        Invariant,
        MachineDefinition,
        Rule,
        define_machine,
        holds,
        initialized,
        is_initializing,
        may_initialize,
        may_run,
        position_among_initializers,
        routes_results,
        set_rules_strategy,
    )
    from ordeal._hypothesis.markers import (
        DECORATOR_MARKS,
        INITIALIZE_MARKER,
        RULE_MARKER,
        invariants_of,
        machine_of_test_case,
        mark_as_machine_test,
        rewrap_rules,
    )
    from ordeal._hypothesis.provider import RunProvider, TapeProvider, given_up
    from ordeal._hypothesis.randoms import GlobalRandoms, give_own_generator, random_state
    from ordeal._hypothesis.run_context import LENGTH_MAX, RunContext
    from ordeal._hypothesis.step_loop import make_loop
    from ordeal._hypothesis.verbosity import unprinted_notes

__all__ = [
    "BODY_ARGUMENT",
    "DECORATOR_MARKS",
    "ENGINE_ATTRIBUTES",
    "INITIALIZE_MARKER",
    "LENGTH_MAX",
    "REJECTED",
    "RULE_MARKER",
    "Argument",
    "BundleState",
    "ChoiceSource",
    "Draw",
    "GlobalRandoms",
    "Invariant",
    "MachineDefinition",
    "Rule",
    "RunContext",
    "RunProvider",
    "TapeProvider",
    "add_to_bundles",
    "check_constructor",
    "compile_draw",
    "database_key",
    "define_machine",
    "describe_strategy",
    "draws_from_bundle",
    "failure_types",
    "forgotten_constructor",
    "give_own_generator",
    "given_up",
    "hint_for_definition",
    "holds",
    "initialized",
    "invariants_of",
    "is_constructed",
    "is_initializing",
    "machine_of_test_case",
    "make_loop",
    "mark_as_machine_test",
    "may_forget_constructor",
    "may_initialize",
    "may_run",
    "position_among_initializers",
    "random_state",
    "reproducing_test",
    "resolve",
    "rewrap_rules",
    "routes_results",
    "set_rules_strategy",
    "skip_types",
    "unprinted_notes",
]

_HOMES = {
    "Argument": "machines",
    "BODY_ARGUMENT": "machines",
    "BundleState": "bundles",
    "ChoiceSource": "choice_source",
    "DECORATOR_MARKS": "markers",
    "Draw": "draws",
    "ENGINE_ATTRIBUTES": "bundles",
    "GlobalRandoms": "randoms",
    "INITIALIZE_MARKER": "markers",
    "Invariant": "machines",
    "LENGTH_MAX": "run_context",
    "MachineDefinition": "machines",
    "REJECTED": "exceptions",
    "RULE_MARKER": "markers",
    "Rule": "machines",
    "RunContext": "run_context",
    "RunProvider": "provider",
    "TapeProvider": "provider",
    "add_to_bundles": "bundles",
    "check_constructor": "definition_checks",
    "compile_draw": "draws",
    "database_key": "example_keys",
    "define_machine": "machines",
    "describe_strategy": "draws",
    "draws_from_bundle": "draws",
    "failure_types": "exceptions",
    "forgotten_constructor": "definition_checks",
    "give_own_generator": "randoms",
    "given_up": "provider",
    "hint_for_definition": "definition_checks",
    "holds": "machines",
    "initialized": "machines",
    "is_constructed": "definition_checks",
    "is_initializing": "machines",
    "invariants_of": "markers",
    "machine_of_test_case": "markers",
    "make_loop": "step_loop",
    "mark_as_machine_test": "markers",
    "may_forget_constructor": "definition_checks",
    "may_initialize": "machines",
    "may_run": "machines",
    "position_among_initializers": "machines",
    "random_state": "randoms",
    "reproducing_test": "example_keys",
    "resolve": "bundles",
    "routes_results": "machines",
    "rewrap_rules": "markers",
    "set_rules_strategy": "machines",
    "skip_types": "exceptions",
    "unprinted_notes": "verbosity",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    return value
