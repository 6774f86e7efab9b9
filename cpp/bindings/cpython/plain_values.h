// Values that a copy shares with the original, as nothing can change them. Needs the GIL.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// An immutable object, of a type that programs use much.
inline bool is_value(PyObject* object) noexcept {
  const PyTypeObject* const type = Py_TYPE(object);
  return type == &PyUnicode_Type || type == &PyLong_Type || object == Py_None || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyBytes_Type;
}

inline bool has_only_values(PyObject* dictionary) noexcept {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dictionary, &position, &key, &value) != 0) {
    if (!is_value(key) || !is_value(value)) {
      return false;
    }
  }
  return true;
}

}  // namespace ordeal::bindings
