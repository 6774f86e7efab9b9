// What a struct of ours holds, for the garbage collector: one list of its members serves all slots of its type.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// `kMembers` is an array of the members of `State` that are objects, or null. The slots are those of a type in the
// heap.
template <typename State, auto kMembers>
struct HeldObjects {
  static int visit_all(const State& state, visitproc visit, void* arg) noexcept {
    for (const auto member : kMembers) {
      Py_VISIT(state.*member);
    }
    return 0;
  }

  static void clear_all(State& state) noexcept {
    for (const auto member : kMembers) {
      Py_CLEAR(state.*member);
    }
  }

  static int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
    Py_VISIT(Py_TYPE(self));
    return visit_all(*reinterpret_cast<State*>(self), visit, arg);
  }

  static int clear(PyObject* self) noexcept {
    clear_all(*reinterpret_cast<State*>(self));
    return 0;
  }

  static void dealloc(PyObject* self) noexcept {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    type->tp_free(self);
    Py_DECREF(type);
  }
};

}  // namespace ordeal::bindings
