#include "bindings/cpython/quick_properties.h"

#include <utility>

namespace ordeal::bindings {
namespace {

py::object unwrapped(py::object function) {
  if (Py_TYPE(function.ptr()) != &PyInstanceMethod_Type) {
    return function;
  }
  return py::reinterpret_borrow<py::object>(PyInstanceMethod_GET_FUNCTION(function.ptr()));
}

void unwrap_properties_of(const py::handle& type) {
  const auto members = py::dict(type.attr("__dict__"));  // a copy, as members are replaced
  const auto property = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyProperty_Type));
  for (const auto& [name, member] : members) {
    if (Py_TYPE(member.ptr()) == &PyProperty_Type) {
      py::setattr(type, name,
                  property(unwrapped(member.attr("fget")), unwrapped(member.attr("fset")), member.attr("fdel"),
                           member.attr("__doc__")));
    }
  }
}

}  // namespace

void unwrap_properties(const py::module_& m) {
  for (const auto& [name, value] : py::dict(m.attr("__dict__"))) {
    if (PyType_Check(value.ptr()) != 0) {
      unwrap_properties_of(value);
    }
  }
}

}  // namespace ordeal::bindings
