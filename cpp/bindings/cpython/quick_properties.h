// Makes the properties of bound classes twice as fast to read and to set.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// pybind11 wraps the functions of a property as it wraps methods. A property calls them with the object itself and
// needs no such wrapper, which hides from the interpreter that they can be called without a tuple of arguments. To be
// called when all classes are in the module.
void unwrap_properties(const py::module_& m);

}  // namespace ordeal::bindings
