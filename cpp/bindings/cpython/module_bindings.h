// Where else an object is known: the names that modules hold for it.
#pragma once

#include <utility>
#include <vector>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// The modules of sys.modules, in its order, with each name in them that stands for one of the `wanted` objects. Runs no
// code of the program: lazily loaded modules stay so. Linear in all names of all modules; a few objects at most are
// wanted.
std::vector<std::pair<py::object, py::object>> module_bindings(const std::vector<py::object>& wanted);

}  // namespace ordeal::bindings
