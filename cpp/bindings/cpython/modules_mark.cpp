#include "bindings/cpython/modules_mark.h"

#include <atomic>
#include <cstdint>

#include "bindings/cpython/c_api.h"

namespace ordeal::bindings {
namespace {

std::atomic<std::uint64_t> changes = 1;  // of the table of modules, by imports in any thread

extern "C" int ordeal_modules_changed(PyDict_WatchEvent /*event*/, PyObject* /*dict*/, PyObject* /*key*/,
                                      PyObject* /*value*/) noexcept {
  ++changes;
  return 0;
}

// Whether changes of `modules` are counted from now on. They are not if other extensions have taken all watchers.
bool is_watched(PyObject* modules) {
  static PyObject* watched = nullptr;
  if (watched == modules) [[likely]] {
    return true;
  }
  static const int kWatcher = PyDict_AddWatcher(ordeal_modules_changed);
  if (kWatcher < 0 || PyDict_Watch(kWatcher, modules) < 0) {
    PyErr_Clear();
    return false;
  }
  watched = Py_NewRef(modules);
  ++changes;
  return true;
}

py::object last_of(PyObject* modules) {
  const py::object backwards = owned(PyObject_CallMethodNoArgs(modules, interned("__reversed__")));
  PyObject* const last = PyIter_Next(backwards.ptr());
  if (last == nullptr && PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  return last == nullptr ? py::none() : py::reinterpret_steal<py::object>(last);
}

}  // namespace

py::object modules_mark() {
  // Lives as long as the process, like the table.
  static PyObject* mark = Py_NewRef(Py_None);
  static std::uint64_t marked = 0;
  PyObject* const modules = PyImport_GetModuleDict();
  if (is_watched(modules) && marked == changes) [[likely]] {
    return py::reinterpret_borrow<py::object>(mark);
  }
  marked = changes;
  const py::object now = py::make_tuple(PyDict_Size(modules), last_of(modules));
  const int is_same = PyObject_RichCompareBool(now.ptr(), mark, Py_EQ);
  check(is_same);
  if (is_same == 0) {
    Py_SETREF(mark, Py_NewRef(now.ptr()));
  }
  return py::reinterpret_borrow<py::object>(mark);
}

}  // namespace ordeal::bindings
