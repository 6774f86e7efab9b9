#include "bindings/cpython/instance_attributes.h"

#include "bindings/cpython/c_api.h"

namespace ordeal::bindings {
namespace {

// Whether the class itself says what storing an attribute of this name does, as with a property.
bool is_caught(PyTypeObject* type, PyObject* name) {
  PyObject* const found = _PyType_Lookup(type, name);
  return found != nullptr && PyDescr_IsData(found) != 0;
}

}  // namespace

// Python 3.12 gives an instance its room for attributes in `object.__new__` alone, which refuses abstract classes.
// Their instances are older than what made them so, and get a dictionary.
py::object new_instance(PyTypeObject* type, PyTypeObject* base) {
  if (base == &PyBaseObject_Type && (type->tp_flags & Py_TPFLAGS_IS_ABSTRACT) != 0) {
    return owned(type->tp_alloc(type, 0));
  }
  static PyObject* const kNothing = PyTuple_New(0);
  return owned(base->tp_new(type, kNothing, nullptr));
}

void store_attribute(PyObject* object, PyObject* name, PyObject* value) {
  if (PyUnicode_CheckExact(name) != 0 && !is_caught(Py_TYPE(object), name)) {
    check(PyObject_GenericSetAttr(object, name, value));
  } else {
    check(PyDict_SetItem(owned(PyObject_GenericGetDict(object, nullptr)).ptr(), name, value));
  }
}

void store_attributes(PyObject* object, PyObject* attributes) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(attributes, &position, &name, &value) != 0) {
    store_attribute(object, name, value);
  }
}

}  // namespace ordeal::bindings
