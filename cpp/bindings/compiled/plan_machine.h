// Plan nodes that look at the machine of the run, and those that leave a draw to Hypothesis.
#pragma once

#include <optional>

#include "bindings/compiled/plan.h"
#include "bindings/compiled/plan_choices.h"

namespace ordeal::bindings {

// A value (or a reference to it) of a bundle inside another strategy.
PlanNodePtr bundle_node(py::object name, bool consumes, bool draws_references, Transformations transformations);
// The machine, or `otherwise` where there is none.
PlanNodePtr runner_node(PlanNodePtr otherwise);
// Through Hypothesis, with so many of its spans open.
PlanNodePtr generic_node(py::object strategy, int depth);

// Nothing with an exception.
std::optional<bool> is_bundle_empty(PlanRun& run, PyObject* name);

}  // namespace ordeal::bindings
