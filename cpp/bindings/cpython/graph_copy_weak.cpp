// Copies of weak references, and of the sets and dictionaries that are made of them.
//
// Whether a target is a part of the graph is known when all has been copied. One that was met before is, which serves
// children that know their parent; where one is met later, all is copied once more with what was learnt.
#include "bindings/cpython/c_api.h"
#include "bindings/cpython/graph_copy.h"
#include "bindings/cpython/plain_values.h"

namespace ordeal::bindings {
namespace {

// What a weak reference or proxy leads to; nothing if that is gone.
py::object target_of(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* target = nullptr;
  check(PyWeakref_GetRef(reference, &target));
  return py::reinterpret_steal<py::object>(target);
#else
  PyObject* const target = PyWeakref_GetObject(reference);
  return target == Py_None ? py::object() : borrowed(target);
#endif
}

}  // namespace

py::object GraphCopy::copy_weak(PyObject* original) {
  const py::object target = target_of(original);
  if (!target) {
    return borrowed(original);
  }
  const py::object copied_target = copy_target(target.ptr());
  if (copied_target.is(target)) {
    return borrowed(original);
  }
  PyObject* const callback = reinterpret_cast<PyWeakReference*>(original)->wr_callback;
  const py::object copied_callback = callback == nullptr ? py::object() : copy(callback);
  // The target, or the callback, may lead back here.
  if (PyObject* const copied = known(original); copied != nullptr) {
    return borrowed(copied);
  }
  py::object copied =
      owned(PyWeakref_CheckProxy(original) != 0 ? PyWeakref_NewProxy(copied_target.ptr(), copied_callback.ptr())
                                                : PyWeakref_NewRef(copied_target.ptr(), copied_callback.ptr()));
  remember(original, copied);
  return copied;
}

py::object GraphCopy::copy_weak_holder(PyObject* original, const ObjectShape& shape) {
  static PyObject* const kSet = member_of("weakref", "WeakSet");
  static PyObject* const kByKey = member_of("weakref", "WeakKeyDictionary");
  py::object copied = shape.function();
  remember(original, copied);
  if (shape.function.ptr() == kSet) {
    for (const py::handle each : owned(PySequence_List(original))) {
      copied.attr("add")(copy_target(each.ptr()));
    }
    return copied;
  }
  const bool is_by_key = shape.function.ptr() == kByKey;
  for (const py::handle item : owned(PySequence_List(py::getattr(original, "items")().ptr()))) {
    PyObject* const key = PyTuple_GET_ITEM(item.ptr(), 0);
    PyObject* const value = PyTuple_GET_ITEM(item.ptr(), 1);
    const py::object new_key = is_by_key ? copy_target(key) : copy(key);
    const py::object new_value = is_by_key ? copy(value) : copy_target(value);
    check(PyObject_SetItem(copied.ptr(), new_key.ptr(), new_value.ptr()));
  }
  return copied;
}

// The copy of a target that is a part of the graph, as far as that is known, or else the target.
py::object GraphCopy::copy_target(PyObject* target) {
  if (PyObject* const copied = known(target); copied != nullptr) {
    return borrowed(copied);
  }
  if (parts_.contains(target)) {
    return copy(target);
  }
  if (!is_value(target)) {
    kept_targets_.push_back(borrowed(target));
  }
  return borrowed(target);
}

// Whether a target that was kept is a part of the graph. Then nothing has been copied yet.
bool GraphCopy::try_again() {
  PyObject* missed = nullptr;
  for (const py::object& each : kept_targets_) {
    if (known(each.ptr()) != nullptr && parts_.emplace(each.ptr(), each).second) {
      missed = each.ptr();
    }
  }
  kept_targets_.clear();
  if (missed == nullptr) {
    return false;
  }
  // A `__deepcopy__` of the program has seen copies of the first attempt, and may have kept them.
  if (memoized_ > 0) {
    refuse_copy("a weak reference that is not copied leads to an object of type %R that is", missed);
  }
  forget_after(0);
  closed_over_.clear();
  made_anew_.clear();
  return true;
}

}  // namespace ordeal::bindings
