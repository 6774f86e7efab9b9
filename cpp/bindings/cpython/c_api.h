// CPython's own interface where pybind11 has none or a slow one: what Python raises is thrown, what is new is owned.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// What Python raises is thrown, and else the object is owned.
inline py::object owned(PyObject* object) {
  if (object == nullptr) [[unlikely]] {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(object);
}

inline void check(int result) {
  if (result < 0) [[unlikely]] {
    throw py::error_already_set();
  }
}

// Interned once; they live as long as the process.
PyObject* interned(const char* name);

// The value of `object.name`; what Python raises is thrown.
py::object attribute(PyObject* object, PyObject* name);

// CPython's own way to store a METH_FASTCALL function: the flags say what it really is.
inline PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t) noexcept) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

template <typename Function>
PyType_Slot slot(int id, Function* function) noexcept {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace ordeal::bindings
