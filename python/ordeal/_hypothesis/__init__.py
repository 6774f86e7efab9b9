"""The only code that touches Hypothesis' internals: what a machine is, how arguments are drawn, what a run needs.

Modules are loaded when one of their names is first used: a test that only defines a machine needs few of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordeal._hypothesis.bundles import ENGINE_ATTRIBUTES, BundleState, add_to_bundles, resolve
    from ordeal._hypothesis.definition_checks import (
        check_constructor,
        forgotten_constructor,
        hint_for_definition,
        is_constructed,
        may_forget_constructor,
        precondition_error,
        raised_in_precondition,
    )
    from ordeal._hypothesis.draws import Draw, compile_draw, describe_strategy, draws_from_bundle
    from ordeal._hypothesis.internals import (
        REJECTED,
        database_key,
        end_run_after,
        failure_types,
        reproducing_test,
        skip_types,
        unprinted_notes,
    )
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
        SAMPLED_MARKER,
        invariants_of,
        machine_of_test_case,
        mark_as_machine_test,
        rewrap_rules,
        sampled_of,
    )
    from ordeal._hypothesis.provider import ChoiceSource, RunProvider, TapeProvider, given_up
    from ordeal._hypothesis.randoms import GlobalRandoms, give_own_generator, random_state
    from ordeal._hypothesis.run_context import LENGTH_MAX, RunContext
    from ordeal._hypothesis.step_loop import make_loop

__all__ = [
    "BODY_ARGUMENT",
    "DECORATOR_MARKS",
    "ENGINE_ATTRIBUTES",
    "INITIALIZE_MARKER",
    "LENGTH_MAX",
    "REJECTED",
    "RULE_MARKER",
    "SAMPLED_MARKER",
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
    "end_run_after",
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
    "precondition_error",
    "raised_in_precondition",
    "random_state",
    "reproducing_test",
    "resolve",
    "rewrap_rules",
    "routes_results",
    "sampled_of",
    "set_rules_strategy",
    "skip_types",
    "unprinted_notes",
]

_NAMES = {
    "bundles": "BundleState ENGINE_ATTRIBUTES add_to_bundles resolve",
    "definition_checks": (
        "check_constructor forgotten_constructor hint_for_definition is_constructed may_forget_constructor "
        "precondition_error raised_in_precondition"
    ),
    "draws": "Draw compile_draw describe_strategy draws_from_bundle",
    "internals": "REJECTED database_key end_run_after failure_types reproducing_test skip_types unprinted_notes",
    "machines": (
        "Argument BODY_ARGUMENT Invariant MachineDefinition Rule define_machine holds initialized "
        "is_initializing may_initialize may_run position_among_initializers routes_results set_rules_strategy"
    ),
    "markers": (
        "DECORATOR_MARKS INITIALIZE_MARKER RULE_MARKER SAMPLED_MARKER sampled_of invariants_of machine_of_test_case "
        "mark_as_machine_test rewrap_rules"
    ),
    "provider": "ChoiceSource RunProvider TapeProvider given_up",
    "randoms": "GlobalRandoms give_own_generator random_state",
    "run_context": "LENGTH_MAX RunContext",
    "step_loop": "make_loop",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    return value
