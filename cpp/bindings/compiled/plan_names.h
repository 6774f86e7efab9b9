// The names that plans ask Python objects for, made once.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Interned, and kept as long as the process.
struct PlanNames {
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
  PyObject* plans;
};

const PlanNames& plan_names();

}  // namespace ordeal::bindings
