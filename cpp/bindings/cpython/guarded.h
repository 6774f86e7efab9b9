// For C++ that the interpreter calls directly and not through pybind11: turns C++ exceptions into Python's.
#pragma once

#include <exception>

#include "bindings/bindings.h"
#include "core/base/check.h"

namespace ordeal::bindings {

// Returns the result of `work`, or null with a Python exception set: a thrown Python exception, an AssertionError for a
// failed check, and `refusal` for anything else.
template <typename Work>
PyObject* guarded(Work work, PyObject* refusal = PyExc_ValueError) noexcept {
  try {
    return work();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const CheckFailure& failure) {
    PyErr_SetString(PyExc_AssertionError, failure.what());
  } catch (const std::exception& error) {
    PyErr_SetString(refusal, error.what());
  }
  return nullptr;
}

}  // namespace ordeal::bindings
