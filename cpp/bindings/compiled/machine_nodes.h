// Strategy nodes that use the machine of the run, and nodes that draw through Hypothesis.
#pragma once

#include <optional>

#include "bindings/compiled/choice_nodes.h"
#include "bindings/compiled/compiled_strategy.h"

namespace ordeal::bindings {

// A value of a bundle (or a reference to it) inside another strategy.
StrategyNodePtr bundle_node(py::object name, bool consumes, bool draws_references, Transformations transformations);
// The machine, or `otherwise` if there is none.
StrategyNodePtr runner_node(StrategyNodePtr otherwise);
// Draws through Hypothesis, with `depth` of its spans open.
StrategyNodePtr generic_node(py::object strategy, int depth);

// Nothing with an exception.
std::optional<bool> is_bundle_empty(DrawContext& run, PyObject* name);

}  // namespace ordeal::bindings
