#include "bindings/cpython/c_api.h"

namespace ordeal::bindings {

PyObject* interned(const char* name) { return owned(PyUnicode_InternFromString(name)).release().ptr(); }

py::object attribute(PyObject* object, PyObject* name) { return owned(PyObject_GetAttr(object, name)); }

}  // namespace ordeal::bindings
