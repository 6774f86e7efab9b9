// The attribute names that compiled strategies look up, made once.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Interned, and kept as long as the process.
struct InternedNames {
  PyObject* bundles;
  PyObject* data;
  PyObject* depth;
  PyObject* draw;
  PyObject* follow;
  PyObject* frozen;
  PyObject* hypothesis_runner;
  PyObject* label;
  PyObject* length;
  PyObject* machine;
  PyObject* mark_invalid;
  PyObject* mark_overrun;
  PyObject* name;
  PyObject* names_to_values;
  PyObject* observe_as;
  PyObject* draw_context;
};

const InternedNames& interned_names();

}  // namespace ordeal::bindings
