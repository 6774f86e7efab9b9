#include "bindings/cpython/c_api.h"

#include <array>

namespace ordeal::bindings {

PyObject* interned(const char* name) { return owned(PyUnicode_InternFromString(name)).release().ptr(); }

PyObject* member_of(const char* module, const char* name) {
  return py::module_::import(module).attr(name).cast<py::object>().release().ptr();
}

py::object attribute(PyObject* object, PyObject* name) { return owned(PyObject_GetAttr(object, name)); }

py::object called(PyObject* object, PyObject* name) { return owned(PyObject_CallMethodNoArgs(object, name)); }

py::object called(PyObject* object, PyObject* name, PyObject* argument) {
  return owned(PyObject_CallMethodOneArg(object, name, argument));
}

py::object called(PyObject* object, PyObject* name, PyObject* first, PyObject* second) {
  const std::array<PyObject*, 3> arguments{object, first, second};
  return owned(PyObject_VectorcallMethod(name, arguments.data(), arguments.size(), nullptr));
}

}  // namespace ordeal::bindings
