// What a simulated loop asks of the life of a node and of its clock at each callback: read without Python code.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// One life of a node, from its start to its crash.
struct LifeState {
  PyObject_HEAD PyObject* clock;
  PyObject* held;  // callbacks that wait until the node goes on, and those that were freed and come first
  PyObject* freed;
  double held_until;
  double step_s;  // how long each step takes
  long long steps;
  long long next_strike;  // the step after which a fault strikes
  char is_dead;
  char is_silent;
};

// The clock of a node: it shows `base` at the time `since` of the world, and goes at `rate` from there.
struct ClockState {
  PyObject_HEAD double rate;
  double since;
  double base;
};

// The bases of both in Python.
py::object life_state_type();
py::object clock_state_type();

// Throws unless it is a life.
LifeState& life_state_of(PyObject* life);

// Whether a callback may not run at the time `now` of the world; its life takes care of it then.
bool keeps_back(PyObject* life, PyObject* handle, double now);

// Whether a clock shows the time of the world.
bool is_right(PyObject* clock);

}  // namespace ordeal::bindings
