// CPython's own interface where pybind11 has none or a slow one: Python errors are thrown, new references are owned.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Throws if Python raised an error, else owns the object.
inline py::object owned(PyObject* object) {
  if (object == nullptr) [[unlikely]] {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(object);
}

inline py::object borrowed(PyObject* object) { return py::reinterpret_borrow<py::object>(object); }

inline void check(int result) {
  if (result < 0) [[unlikely]] {
    throw py::error_already_set();
  }
}

// Interned once; they live as long as the process.
PyObject* interned(const char* name);

// What a module has by a name. Asked for once; it lives as long as the process.
PyObject* member_of(const char* module, const char* name);

// Returns `object.name`, or throws the error of Python.
py::object attribute(PyObject* object, PyObject* name);

// Calls `object.name(...)`, or throws the error of Python.
py::object called(PyObject* object, PyObject* name);
py::object called(PyObject* object, PyObject* name, PyObject* argument);
py::object called(PyObject* object, PyObject* name, PyObject* first, PyObject* second);

// CPython's own way to store a METH_FASTCALL function: the flags say what it really is.
inline PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t) noexcept) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// The same for METH_FASTCALL | METH_KEYWORDS.
inline PyCFunction with_keywords(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t,
                                                       PyObject*) noexcept) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

template <typename Function>
PyType_Slot slot(int id, Function* function) noexcept {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace ordeal::bindings
