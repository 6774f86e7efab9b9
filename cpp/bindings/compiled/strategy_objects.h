// The types CompiledStrategy and DrawContext of the extension: plain C types, so that a draw costs only a C call.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

void add_strategy_objects(py::module_& m);

}  // namespace ordeal::bindings
