// Strategy nodes that call functions of the user's: map, filter, builds, flatmap and composite.
#pragma once

#include <utility>
#include <vector>

#include "bindings/compiled/compiled_strategy.h"

namespace ordeal::bindings {

// Sets the exception of assume() and of draws that cannot be satisfied, after which a map tries again.
void set_unsatisfied(py::object exception);

StrategyNodePtr map_node(StrategyNodePtr mapped, py::object function);
StrategyNodePtr filter_node(StrategyNodePtr filtered, std::vector<py::object> conditions);
StrategyNodePtr builds_node(py::object target, std::vector<StrategyNodePtr> arguments,
                            std::vector<std::pair<py::object, StrategyNodePtr>> keywords);
// `depth`: how many spans of Hypothesis are open while the user's function runs.
StrategyNodePtr flatmap_node(StrategyNodePtr base, py::object expand, int depth);
StrategyNodePtr composite_node(py::object definition, const py::tuple& arguments, const py::dict& keywords, int depth);

}  // namespace ordeal::bindings
