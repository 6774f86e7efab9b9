// Distinguishes code objects of the same qualified name, in the same way in every process.
#pragma once

#include <cstdint>
#include <string_view>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Covers the instructions, their positions relative to the first line, the names and the constants. Does not depend on
// the position in the file, nor on the process. Throws error_already_set.
std::uint64_t hash_code_body(PyCodeObject* code);

// A string of Python as UTF-8; a view into the object. Throws error_already_set when it has no UTF-8 form.
std::string_view utf8(PyObject* text);

}  // namespace ordeal::bindings
