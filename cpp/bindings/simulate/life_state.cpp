#include "bindings/simulate/life_state.h"

#include <array>
#include <cstddef>

#include "bindings/cpython/c_api.h"
#include "bindings/simulate/held_objects.h"

namespace ordeal::bindings {
namespace {

constexpr std::array kLifeObjects{&LifeState::clock, &LifeState::held, &LifeState::freed};
using HeldByLife = HeldObjects<LifeState, kLifeObjects>;

LifeState& as_life(PyObject* self) noexcept { return *reinterpret_cast<LifeState*>(self); }

bool is_of(PyObject* object, PyObject* type) noexcept {
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(type)) != 0;
}

bool is_empty(PyObject* queue) {
  const Py_ssize_t size = queue == nullptr ? 0 : PyObject_Size(queue);
  check(size < 0 ? -1 : 0);
  return size == 0;
}

}  // namespace

py::object life_state_type() {
  static PyObject* const kType = [] {
    static std::array<PyMemberDef, 10> members{
        {{"clock", _Py_T_OBJECT, offsetof(LifeState, clock), 0, nullptr},
         {"_held", _Py_T_OBJECT, offsetof(LifeState, held), 0, nullptr},
         {"_freed", _Py_T_OBJECT, offsetof(LifeState, freed), 0, nullptr},
         {"_held_until", Py_T_DOUBLE, offsetof(LifeState, held_until), 0, nullptr},
         {"step_s", Py_T_DOUBLE, offsetof(LifeState, step_s), 0, nullptr},
         {"steps", Py_T_LONGLONG, offsetof(LifeState, steps), 0, nullptr},
         {"next_strike", Py_T_LONGLONG, offsetof(LifeState, next_strike), 0, nullptr},
         {"is_dead", Py_T_BOOL, offsetof(LifeState, is_dead), 0, nullptr},
         {"is_silent", Py_T_BOOL, offsetof(LifeState, is_silent), 0, nullptr},
         {nullptr, 0, 0, 0, nullptr}}};
    std::array<PyType_Slot, 5> slots{{slot(Py_tp_dealloc, HeldByLife::dealloc),
                                      slot(Py_tp_traverse, HeldByLife::traverse),
                                      slot(Py_tp_clear, HeldByLife::clear),
                                      {Py_tp_members, members.data()},
                                      {0, nullptr}}};
    PyType_Spec spec{"ordeal._native.LifeState", sizeof(LifeState), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
    return owned(PyType_FromSpec(&spec)).release().ptr();
  }();
  return borrowed(kType);
}

py::object clock_state_type() {
  static PyObject* const kType = [] {
    static std::array<PyMemberDef, 4> members{{{"rate", Py_T_DOUBLE, offsetof(ClockState, rate), 0, nullptr},
                                               {"_since", Py_T_DOUBLE, offsetof(ClockState, since), 0, nullptr},
                                               {"_base", Py_T_DOUBLE, offsetof(ClockState, base), 0, nullptr},
                                               {nullptr, 0, 0, 0, nullptr}}};
    std::array<PyType_Slot, 2> slots{{{Py_tp_members, members.data()}, {0, nullptr}}};
    PyType_Spec spec{"ordeal._native.ClockState", sizeof(ClockState), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                     slots.data()};
    return owned(PyType_FromSpec(&spec)).release().ptr();
  }();
  return borrowed(kType);
}

LifeState& life_state_of(PyObject* life) {
  static PyObject* const kType = life_state_type().release().ptr();
  if (!is_of(life, kType)) {
    throw py::type_error("a callback does not belong to a life of a node");
  }
  return as_life(life);
}

bool keeps_back(PyObject* life, PyObject* handle, double now) {
  const LifeState& state = life_state_of(life);
  if (state.is_dead == 0 && state.held_until <= now && is_empty(state.held) && is_empty(state.freed)) [[likely]] {
    return false;
  }
  static PyObject* const kName = interned("keeps_back");
  return called(life, kName, handle).is(py::bool_(true));
}

// Return true if the clock was never set wrong: its reading is then exact, not computed.
bool is_right(PyObject* clock) {
  static PyObject* const kType = clock_state_type().release().ptr();
  if (!is_of(clock, kType)) {
    return false;
  }
  const auto& state = *reinterpret_cast<const ClockState*>(clock);
  return state.rate == 1.0 && state.since == 0.0 && state.base == 0.0;
}

}  // namespace ordeal::bindings
