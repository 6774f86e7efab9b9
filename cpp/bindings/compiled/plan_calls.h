// Plan nodes that call what the user wrote: map, filter, builds, flatmap and composite.
#pragma once

#include <utility>
#include <vector>

#include "bindings/compiled/plan.h"

namespace ordeal::bindings {

// Raised by assume() and by draws that could not be satisfied: a map tries again.
void set_unsatisfied(py::object exception);

PlanNodePtr map_node(PlanNodePtr mapped, py::object function);
PlanNodePtr filter_node(PlanNodePtr filtered, std::vector<py::object> conditions);
PlanNodePtr builds_node(py::object target, std::vector<PlanNodePtr> arguments,
                        std::vector<std::pair<py::object, PlanNodePtr>> keywords);
// `depth`: how many spans of Hypothesis are open while the user's function runs.
PlanNodePtr flatmap_node(PlanNodePtr base, py::object expand, int depth);
PlanNodePtr composite_node(py::object definition, const py::tuple& arguments, const py::dict& keywords, int depth);

}  // namespace ordeal::bindings
