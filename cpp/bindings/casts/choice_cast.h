// Choice <-> Python value: bool, int, float, str, bytes.
#pragma once

#include "bindings/bindings.h"
#include "core/tape/choice.h"
#include "core/tape/wide_integer.h"

namespace ordeal::bindings {

py::object choice_to_python(const Choice& choice);
// Raises TypeError for any other type.
Choice choice_from_python(py::handle value);
// An int outside int64 in two's complement, little endian, at least nine bytes; the caller holds an int.
Choice big_integer_from_python(py::handle value);
// An int of at most 128 bits. Raises ValueError for a longer one.
Wide wide_from_python(py::handle value);

}  // namespace ordeal::bindings
