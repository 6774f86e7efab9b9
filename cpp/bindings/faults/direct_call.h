// Calls of Python functions that go on to another callable at once, without a frame of ours.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Has calls of `function`, a Python function whose one free variable is what its body calls with all its arguments, go
// straight to that. The function looks unchanged to the program. Raises TypeError for another function.
void call_directly(const py::function& function);

// What a fault does in each call that meets it; see CallFault in faults/call_faults.py, which does the same for
// functions of other kinds. What is None is left out.
struct Strike {
  py::object fault_switch;
  py::object original;     // called with the arguments
  py::object replacement;  // called instead, if the fault strikes; then the rest does not matter
  py::object admits;       // called with the number of the call: whether the fault strikes
  py::object before;       // called with the number
  py::object answer;       // called without arguments in place of the original
  py::object after;        // called with the result, returns what the caller gets
};

py::object struck_call(const Strike& strike);

}  // namespace ordeal::bindings
