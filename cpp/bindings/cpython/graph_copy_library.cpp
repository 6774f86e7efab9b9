// Copies of what the standard library defines: containers of `collections`, times, locks, counters and modules.
#include <cstddef>
#include <string>

#include "bindings/cpython/c_api.h"
#include "bindings/cpython/graph_copy.h"
#include "bindings/cpython/plain_values.h"

namespace ordeal::bindings {
namespace {

// Whether a thread has the lock, this one or another.
bool is_held(PyObject* lock, bool is_reentrant) {
  static PyObject* const kLocked = interned("locked");
  static PyObject* const kIsOwned = interned("_is_owned");
  static PyObject* const kAcquire = interned("acquire");
  static PyObject* const kRelease = interned("release");
  static const bool kTells = py::hasattr(py::module_::import("_thread").attr("RLock"), kLocked);
  const auto says = [&](PyObject* name) { return owned(PyObject_CallMethodNoArgs(lock, name)).is(py::bool_(true)); };
  if (!is_reentrant || kTells) {
    return says(kLocked);
  }
  // Before Python 3.14 a lock that its holder may take again has to be tried.
  if (says(kIsOwned) || owned(PyObject_CallMethodOneArg(lock, kAcquire, Py_False)).is(py::bool_(false))) {
    return true;
  }
  owned(PyObject_CallMethodNoArgs(lock, kRelease));
  return false;
}

}  // namespace

// A point in time whose zone is none, or its own copy, is its own copy.
py::object GraphCopy::copy_zoned(PyObject* original, const ObjectShape& shape) {
  static PyObject* const kZone = interned("tzinfo");
  const py::object zone = attribute(original, kZone);
  return zone.is_none() || copy(zone.ptr()).is(zone) ? borrowed(original) : copy_reduced(original, shape);
}

py::object GraphCopy::copy_deque(PyObject* original) {
  // A hook of the program may change the deque.
  py::object items = owned(PySequence_List(original));
  const py::object length_max = py::getattr(original, "maxlen");
  Py_ssize_t values = 0;
  while (values < PyList_GET_SIZE(items.ptr()) && is_value(PyList_GET_ITEM(items.ptr(), values))) {
    ++values;
  }
  const bool are_values = values == PyList_GET_SIZE(items.ptr());
  py::object copied = deque_type()(are_values ? items : py::tuple(), length_max);
  remember(original, copied);
  if (!are_values) {
    const py::object append = py::getattr(copied, "append");
    for (const py::handle item : items) {
      append(copy(item.ptr()));
    }
  }
  return copied;
}

py::object GraphCopy::copy_default_dict(PyObject* original) {
  const py::object factory = copy(py::getattr(original, "default_factory").ptr());
  py::object copied = default_dict_type()(factory);
  remember(original, copied);
  copy_items(original, copied.ptr());
  return copied;
}

py::object GraphCopy::copy_ordered_dict(PyObject* original) {
  if (PyDict_GET_SIZE(py::getattr(original, "__dict__").ptr()) > 0) {
    return copy_reduced(original, ObjectShape{});
  }
  if (has_only_values(original)) {
    py::object same = py::getattr(original, "copy")();
    remember(original, same);
    return same;
  }
  py::object copied = owned(PyODict_New());
  remember(original, copied);
  // In its order, which differs from that of its dictionary.
  for (const py::handle item : py::getattr(original, "items")()) {
    const py::object key = copy(PyTuple_GET_ITEM(item.ptr(), 0));
    check(PyODict_SetItem(copied.ptr(), key.ptr(), copy(PyTuple_GET_ITEM(item.ptr(), 1)).ptr()));
  }
  return copied;
}

// A free lock has no state: another one is as good. One that is held belongs to a thread, which no copy takes along.
py::object GraphCopy::copy_lock(PyObject* original, const ObjectShape& shape) {
  if (is_held(original, shape.function.is(borrowed(reinterpret_cast<PyObject*>(Py_TYPE(original)))))) {
    const py::object error = py::module_::import("copy").attr("Error");
    PyErr_Format(error.ptr(), "a lock that is held cannot be copied: %R", Py_TYPE(original));
    throw py::error_already_set();
  }
  py::object copied = shape.function();
  remember(original, copied);
  return copied;
}

// Since Python 3.14 a counter shows where it is only in its text; before, copying it is deprecated.
py::object GraphCopy::copy_counter(PyObject* original, const ObjectShape& shape) {
  const auto text = owned(PyObject_Repr(original)).cast<std::string>();
  const auto begin = text.find('(');
  const py::object arguments =
      py::module_::import("ast").attr("literal_eval")("(" + text.substr(begin + 1, text.size() - begin - 2) + ",)");
  py::object copied = shape.function(*arguments);
  remember(original, copied);
  return copied;
}

// An imported module exists once.
py::object GraphCopy::copy_module(PyObject* original, const ObjectShape& shape) {
  const auto name = py::getattr(original, "__name__", py::none());
  PyObject* const imported = PyDict_GetItemWithError(PyImport_GetModuleDict(), name.ptr());
  return imported == original ? borrowed(original) : copy_reduced(original, shape);
}

}  // namespace ordeal::bindings
