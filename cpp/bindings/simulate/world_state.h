// What a simulated world does after each callback: it counts the steps of nodes, and asks what must be true.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

struct WorldState {
  PyObject_HEAD PyObject* always;  // a tuple of (name, condition): what must be true
  PyObject* waits;                 // a tuple of (condition, future): what coroutines wait for
  char is_asking;
};

// Its base in Python.
py::object world_state_type();

// A callback has run, of a node unless `life` is None.
void note_callback(PyObject* world, PyObject* life);

}  // namespace ordeal::bindings
