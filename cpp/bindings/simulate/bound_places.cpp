#include "bindings/simulate/bound_places.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/cpython/c_api.h"

namespace ordeal::bindings {
namespace {

struct Place {
  PyObject* owner;
  PyObject* name;
  PyObject* names;
  PyObject* replacement;
};

// Precondition: the tuple has four items.
Place place_at(const py::list& places, Py_ssize_t number) {
  PyObject* const place = PyList_GET_ITEM(places.ptr(), number);
  if (!PyTuple_Check(place) || PyTuple_GET_SIZE(place) != 4) {
    throw py::type_error("a place is a tuple of four");
  }
  return {PyTuple_GET_ITEM(place, 0), PyTuple_GET_ITEM(place, 1), PyTuple_GET_ITEM(place, 2),
          PyTuple_GET_ITEM(place, 3)};
}

// The attributes of a module are the items of its dictionary; a subclass may refuse to set them.
void store(const Place& place, PyObject* value) {
  if (PyModule_Check(place.owner) && PyDict_CheckExact(place.names)) {
    check(PyDict_SetItem(place.names, place.name, value));
  } else {
    check(PyObject_SetAttr(place.owner, place.name, value));
  }
}

// What stands there now, or nothing.
py::object present(const Place& place) {
  if (PyDict_CheckExact(place.names)) {
    PyObject* const found = PyDict_GetItemWithError(place.names, place.name);
    if (found == nullptr && PyErr_Occurred() != nullptr) {
      throw py::error_already_set();
    }
    return found == nullptr ? py::object() : borrowed(found);
  }
  PyObject* const found = PyObject_GetItem(place.names, place.name);
  if (found == nullptr && PyErr_ExceptionMatches(PyExc_KeyError) != 0) {
    PyErr_Clear();
    return {};
  }
  return owned(found);
}

}  // namespace

py::list replace_at(const py::list& places) {
  py::list originals;
  const auto count = static_cast<Py_ssize_t>(places.size());
  for (Py_ssize_t number = 0; number < count; ++number) {
    const Place place = place_at(places, number);
    py::object original = present(place);
    if (!original) {
      throw py::key_error(py::str(place.name).cast<std::string>());
    }
    originals.append(std::move(original));
  }
  for (Py_ssize_t number = 0; number < count; ++number) {
    const Place place = place_at(places, number);
    store(place, place.replacement);
  }
  return originals;
}

py::list restore_at(const py::list& places, const py::list& originals) {
  py::list foreign;
  const auto count = static_cast<Py_ssize_t>(std::min(places.size(), originals.size()));
  for (Py_ssize_t number = 0; number < count; ++number) {
    const Place place = place_at(places, number);
    if (present(place).is(py::handle(place.replacement))) {
      store(place, PyList_GET_ITEM(originals.ptr(), number));
    } else {
      foreign.append(py::int_(number));
    }
  }
  return foreign;
}

}  // namespace ordeal::bindings
