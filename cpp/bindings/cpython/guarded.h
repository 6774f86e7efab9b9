// Where C++ is called by the interpreter itself and not through pybind11: what it throws becomes what Python raises.
#pragma once

#include <exception>

#include "bindings/bindings.h"
#include "core/base/check.h"

namespace ordeal::bindings {

// What `work` returns, or null with a Python exception set: its own, an AssertionError for a failed check, and one of
// the type `refusal` for what else was thrown.
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
