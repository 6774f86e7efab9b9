#include "bindings/faults/direct_call.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "bindings/cpython/c_api.h"
#include "bindings/faults/fault_switch.h"

namespace ordeal::bindings {
namespace {

enum Held : std::uint8_t { kSwitch, kOriginal, kReplacement, kAdmits, kBefore, kAnswer, kAfter, kHeldCount };

struct StruckCallObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  FaultSwitch* counts;
  std::array<PyObject*, kHeldCount> held;  // null for what is left out
};

// The result as the caller gets it; steals `result`. Null with an exception set if `after` raises one.
PyObject* changed(const StruckCallObject& call, PyObject* result) noexcept {
  PyObject* const made = PyObject_CallOneArg(call.held[kAfter], result);
  if (made != nullptr && made != result) {
    ++call.counts->changes;
  }
  Py_DECREF(result);
  return made;
}

// 1 if the fault strikes the call, 0 if its limits let it pass, and -1 with an exception set.
int strikes(const StruckCallObject& call, PyObject* number) noexcept {
  if (call.held[kAdmits] == nullptr) {
    return 1;
  }
  PyObject* const answer = PyObject_CallOneArg(call.held[kAdmits], number);
  if (answer == nullptr) {
    return -1;
  }
  const int is_true = PyObject_IsTrue(answer);
  Py_DECREF(answer);
  return is_true;
}

PyObject* struck(const StruckCallObject& call, PyObject* number, PyObject* const* arguments, std::size_t count,
                 PyObject* keywords) noexcept {
  if (call.held[kReplacement] != nullptr) {
    ++call.counts->changes;
    return PyObject_Vectorcall(call.held[kReplacement], arguments, count, keywords);
  }
  PyObject* const answer = call.held[kAnswer];
  if (answer != nullptr) {
    ++call.counts->changes;
  }
  if (call.held[kBefore] != nullptr) {
    PyObject* const done = PyObject_CallOneArg(call.held[kBefore], number);
    if (done == nullptr) {
      ++call.counts->changes;
      return nullptr;
    }
    Py_DECREF(done);
  }
  PyObject* const result = answer != nullptr ? PyObject_CallNoArgs(answer)
                                             : PyObject_Vectorcall(call.held[kOriginal], arguments, count, keywords);
  return result == nullptr || call.held[kAfter] == nullptr ? result : changed(call, result);
}

extern "C" {

PyObject* ordeal_call_directly(PyObject* function, PyObject* const* arguments, std::size_t count,
                               PyObject* keywords) noexcept {
  PyObject* const cell = PyTuple_GET_ITEM(reinterpret_cast<PyFunctionObject*>(function)->func_closure, 0);
  // Held: the variable may change while it is called, or in another thread at any time.
  PyObject* const callee = PyCell_Get(cell);
  PyObject* const result = PyObject_Vectorcall(callee, arguments, count, keywords);
  Py_DECREF(callee);
  return result;
}

PyObject* ordeal_struck_call(PyObject* self, PyObject* const* arguments, std::size_t count,
                             PyObject* keywords) noexcept {
  const auto& call = *reinterpret_cast<const StruckCallObject*>(self);
  PyObject* const number = PyLong_FromLongLong(call.counts->meet());
  if (number == nullptr) {
    return nullptr;
  }
  const int is_struck = strikes(call, number);
  PyObject* result = nullptr;
  if (is_struck > 0) {
    result = struck(call, number, arguments, count, keywords);
  } else if (is_struck == 0) {
    result = PyObject_Vectorcall(call.held[kOriginal], arguments, count, keywords);
  }
  Py_DECREF(number);
  return result;
}

int ordeal_struck_call_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  for (PyObject* const each : reinterpret_cast<StruckCallObject*>(self)->held) {
    Py_VISIT(each);
  }
  return 0;
}

// The cycles that it is part of lead through functions and sites, which are cleared.
void ordeal_struck_call_dealloc(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  for (PyObject* const each : reinterpret_cast<StruckCallObject*>(self)->held) {
    Py_XDECREF(each);
  }
  type->tp_free(self);
  Py_DECREF(type);
}

}  // extern "C"

PyTypeObject* struck_call_type() {
  static PyObject* const kType = [] {
    static std::array<PyMemberDef, 2> members{
        {{"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(StruckCallObject, vectorcall), Py_READONLY, nullptr},
         {nullptr, 0, 0, 0, nullptr}}};
    std::array<PyType_Slot, 5> slots{{slot(Py_tp_dealloc, ordeal_struck_call_dealloc),
                                      slot(Py_tp_traverse, ordeal_struck_call_traverse),
                                      slot(Py_tp_call, PyVectorcall_Call),
                                      {Py_tp_members, members.data()},
                                      {0, nullptr}}};
    PyType_Spec spec{
        "ordeal._native.StruckCall", sizeof(StruckCallObject), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
        slots.data()};
    return PyType_FromSpec(&spec);
  }();
  return reinterpret_cast<PyTypeObject*>(kType);
}

}  // namespace

void call_directly(const py::function& function) {
  auto* const object = reinterpret_cast<PyFunctionObject*>(function.ptr());
  if (PyFunction_Check(function.ptr()) == 0 || object->func_closure == nullptr ||
      PyTuple_GET_SIZE(object->func_closure) != 1 || PyCell_GET(PyTuple_GET_ITEM(object->func_closure, 0)) == nullptr) {
    throw py::type_error("a function with one free variable is needed");
  }
  PyFunction_SetVectorcall(object, ordeal_call_directly);
}

py::object struck_call(const Strike& strike) {
  PyTypeObject* const type = struck_call_type();
  auto made = owned(type == nullptr ? nullptr : type->tp_alloc(type, 0));
  auto& call = *reinterpret_cast<StruckCallObject*>(made.ptr());
  call.vectorcall = ordeal_struck_call;
  const std::array<const py::object*, kHeldCount> given{&strike.fault_switch, &strike.original, &strike.replacement,
                                                        &strike.admits,       &strike.before,   &strike.answer,
                                                        &strike.after};
  for (std::size_t i = 0; i < kHeldCount; ++i) {
    call.held[i] = given[i]->is_none() ? nullptr : Py_NewRef(given[i]->ptr());
  }
  call.counts = &strike.fault_switch.cast<FaultSwitch&>();
  return made;
}

}  // namespace ordeal::bindings
