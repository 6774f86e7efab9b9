// The types Plan and PlanRun of the extension: plain C types, because a draw is to cost no more than a C call.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

void add_plan_objects(py::module_& m);

}  // namespace ordeal::bindings
