#include "bindings/loop/state_numbers.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "bindings/cpython/c_api.h"
#include "core/base/rng.h"
#include "core/coverage/features.h"

namespace ordeal::bindings {
namespace {

// What is stored in the instance, or null. A class may define the name as a slot; anything else there is code.
py::object stored(PyObject* object, PyObject* name) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type->tp_getattro != PyObject_GenericGetAttr) {
    return {};
  }
  PyObject* const defined = _PyType_Lookup(type, name);
  if (defined != nullptr && !Py_IS_TYPE(defined, &PyMemberDescr_Type) && Py_TYPE(defined)->tp_descr_get != nullptr) {
    return {};
  }
  PyObject* const value = PyObject_GenericGetAttr(object, name);
  if (value == nullptr) {
    PyErr_Clear();
  }
  return py::reinterpret_steal<py::object>(value);
}

// A number, or the length of a collection; nothing for anything else.
std::optional<double> size_of(PyObject* value) noexcept {
  if (PyLong_Check(value) != 0) {
    const double number = PyLong_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return HUGE_VAL;
    }
    return number;
  }
  if (PyFloat_Check(value) != 0) {
    return PyFloat_AS_DOUBLE(value);
  }
  if (PyDict_Check(value) != 0) {
    return static_cast<double>(PyDict_GET_SIZE(value));
  }
  if (PyAnySet_Check(value) != 0) {
    return static_cast<double>(PySet_GET_SIZE(value));
  }
  if (PyUnicode_Check(value) != 0) {
    return static_cast<double>(PyUnicode_GET_LENGTH(value));
  }
  if (PyList_Check(value) != 0 || PyTuple_Check(value) != 0 || PyBytes_Check(value) != 0 ||
      PyByteArray_Check(value) != 0 || std::string_view(Py_TYPE(value)->tp_name) == "collections.deque") {
    return static_cast<double>(Py_SIZE(value));
  }
  return std::nullopt;
}

}  // namespace

void StateNumbers::add(const std::vector<std::string>& path) {
  Node* node = &machine_;
  for (const std::string& name : path) {
    const auto is_it = [&](const Node& part) { return part.name.equal(py::str(name)); };
    auto part = std::ranges::find_if(node->parts, is_it);
    if (part == node->parts.end()) {
      node->parts.push_back({borrowed(interned(name.c_str())), hash_bytes(name, node->label) >> 1U, {}});
      part = node->parts.end() - 1;
    }
    node = &*part;
  }
}

template <typename See>
void StateNumbers::walk(const Node& node, PyObject* object, const See& see) {
  for (const Node& part : node.parts) {
    const py::object value = stored(object, part.name.ptr());
    if (!value) {
      continue;
    }
    if (!part.parts.empty()) {
      walk(part, value.ptr(), see);
    } else if (const auto size = size_of(value.ptr())) {
      see(part.label, rounded_down(*size));
    }
  }
}

void StateNumbers::look(PyObject* machine, Session& session) const {
  if (session.reads_numbers()) {
    walk(machine_, machine, [&](std::uint64_t label, double number) { session.magnitude(label, number); });
  }
}

std::vector<std::pair<std::uint64_t, double>> StateNumbers::all(PyObject* machine) const {
  std::vector<std::pair<std::uint64_t, double>> found;
  walk(machine_, machine, [&](std::uint64_t label, double number) { found.emplace_back(label, number); });
  return found;
}

}  // namespace ordeal::bindings
