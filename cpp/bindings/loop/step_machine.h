// A machine class as the step loop needs it: its rules, initialize rules and invariants with all names looked up.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/compiled/compiled_strategy.h"
#include "bindings/loop/step_bundles.h"

namespace ordeal::bindings {

// An argument of a rule. For a plain value of a bundle, `bundle` is the name; otherwise it is null, and `draw` draws
// the argument.
struct StepArgument {
  std::uint32_t number = 0;              // in the table of argument names
  py::object draw;                       // called with the run context, unless it is a compiled strategy
  CompiledStrategy* compiled = nullptr;  // of `draw`; null if that is something else
  py::object bundle;
  bool consumes = false;
};

struct StepRule {
  py::object rule;  // the definition's own, for Python
  py::object name;
  py::object function;
  py::object original;  // Hypothesis' own rule
  py::object keywords;  // a tuple of the argument names
  std::vector<StepArgument> arguments;
  std::vector<py::object> required_bundles;
  std::vector<py::object> preconditions;
  std::vector<TargetBundle> targets;
  std::vector<std::pair<std::uint32_t, py::object>> fills;  // bundles whose size it changes, by number and name
  bool draws_in_body = false;
  bool is_coroutine = false;
  // Whether draws of its arguments change nothing, so that others may take their place.
  [[nodiscard]] bool may_draw_again() const noexcept {
    return !arguments.empty() && required_bundles.empty() && !draws_in_body;
  }

  double slowest = 0;  // seconds of a step that ended well, as far as they were measured
};

struct StepInvariant {
  py::object name;
  py::object function;
  std::vector<py::object> preconditions;
  bool check_during_init = false;
};

// Reads the Python definition. `bundle_of` returns a strategy's bundle and whether it consumes, or None.
std::vector<StepRule> read_rules(const py::handle& rules, const py::function& bundle_of);
std::vector<StepInvariant> read_invariants(const py::handle& invariants);

// Calls `visit` with each object that a rule or an invariant holds, for the garbage collector.
template <typename Visit>
int visit_each(const std::vector<py::object>& objects, Visit visit) {
  for (const py::object& object : objects) {
    if (const int stop = visit(object.ptr()); stop != 0) {
      return stop;
    }
  }
  return 0;
}

}  // namespace ordeal::bindings
