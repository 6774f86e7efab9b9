// Gives objects attributes the way the interpreter does, so that they are as fast to use as those that a class makes.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Makes an object of a type, with nothing in it, as the builtin type under it does. Throws py::error_already_set.
py::object new_instance(PyTypeObject* type, PyTypeObject* base);

// Stores what `object.__dict__[name] = value` would store. The dictionary itself is made only if it is needed: code
// that was specialized for objects without one is slow with all others. Throws py::error_already_set.
void store_attribute(PyObject* object, PyObject* name, PyObject* value);

// Does so for all items of a dictionary, in its order. No code of a program can run meanwhile.
void store_attributes(PyObject* object, PyObject* attributes);

}  // namespace ordeal::bindings
