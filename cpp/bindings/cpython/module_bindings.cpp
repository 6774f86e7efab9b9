#include "bindings/cpython/module_bindings.h"

#include <algorithm>

namespace ordeal::bindings {

std::vector<std::pair<py::object, py::object>> module_bindings(const std::vector<py::object>& wanted) {
  std::vector<std::pair<py::object, py::object>> found;
  PyObject* module = nullptr;
  Py_ssize_t at_module = 0;
  while (PyDict_Next(PyImport_GetModuleDict(), &at_module, nullptr, &module) != 0) {
    if (!PyModule_Check(module)) {
      continue;
    }
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at_name = 0;
    while (PyDict_Next(PyModule_GetDict(module), &at_name, &name, &value) != 0) {
      const auto is_value = [value](const py::object& each) { return each.ptr() == value; };
      if (PyUnicode_Check(name) && std::ranges::any_of(wanted, is_value)) {
        found.emplace_back(py::reinterpret_borrow<py::object>(module), py::reinterpret_borrow<py::object>(name));
      }
    }
  }
  return found;
}

}  // namespace ordeal::bindings
