#include "bindings/simulate/world_state.h"

#include <array>
#include <cstddef>
#include <memory>

#include "bindings/cpython/c_api.h"
#include "bindings/simulate/handles.h"
#include "bindings/simulate/held_objects.h"
#include "bindings/simulate/life_state.h"

namespace ordeal::bindings {
namespace {

constexpr std::array kWorldObjects{&WorldState::always, &WorldState::waits};
using HeldByWorld = HeldObjects<WorldState, kWorldObjects>;

// Interned once.
struct WorldNames {
  PyObject* strike = interned("_strike");
  PyObject* linger = interned("_linger");
  PyObject* broken = interned("_broken");
  PyObject* reached = interned("_reached");
};

const WorldNames& world_names() {
  static const WorldNames* const kNames = std::make_unique<WorldNames>().release();
  return *kNames;
}

WorldState& as_world(PyObject* self) noexcept { return *reinterpret_cast<WorldState*>(self); }

WorldState& world_state_of(PyObject* world) {
  static PyObject* const kType = world_state_type().release().ptr();
  if (PyObject_TypeCheck(world, reinterpret_cast<PyTypeObject*>(kType)) == 0) {
    throw py::type_error("the world of a loop is none");
  }
  return as_world(world);
}

Py_ssize_t size_of(const PyObject* pairs) noexcept {
  return pairs != nullptr && PyTuple_CheckExact(pairs) != 0 ? PyTuple_GET_SIZE(pairs) : 0;
}

// Conditions are asked in no node, and what they do to their context is forgotten.
class Asking {
 public:
  explicit Asking(WorldState& state) : state_(state), context_(owned(PyContext_New())) {
    check(PyContext_Enter(context_.ptr()));
    state_.is_asking = 1;
  }
  ~Asking() {
    state_.is_asking = 0;
    if (PyContext_Exit(context_.ptr()) < 0) {
      PyErr_Clear();
    }
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  Asking(Asking&&) = delete;
  Asking& operator=(Asking&&) = delete;

 private:
  WorldState& state_;
  py::object context_;
};

bool holds(PyObject* condition) {
  const int result = PyObject_IsTrue(owned(PyObject_CallNoArgs(condition)).ptr());
  check(result);
  return result != 0;
}

// Calls `look` with the two items of each pair. Those that come in while it goes on are not among them.
void for_each_pair(PyObject* pairs, const auto& look) {
  if (size_of(pairs) == 0) {
    return;
  }
  const py::object kept = borrowed(pairs);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kept.ptr()); ++i) {
    PyObject* const pair = PyTuple_GET_ITEM(kept.ptr(), i);
    if (PyTuple_CheckExact(pair) == 0 || PyTuple_GET_SIZE(pair) != 2) {
      throw py::type_error("a condition is not a pair");
    }
    look(pair, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
  }
}

void ask(PyObject* world, WorldState& state) {
  const Asking asking(state);
  for_each_pair(state.always, [world](PyObject* /*pair*/, PyObject* name, PyObject* condition) {
    if (!holds(condition)) {
      called(world, world_names().broken, name);
    }
  });
  for_each_pair(state.waits, [world](PyObject* pair, PyObject* condition, PyObject* /*future*/) {
    if (holds(condition)) {
      called(world, world_names().reached, pair);
    }
  });
}

}  // namespace

py::object world_state_type() {
  static PyObject* const kType = [] {
    static std::array<PyMemberDef, 3> members{{{"_always", _Py_T_OBJECT, offsetof(WorldState, always), 0, nullptr},
                                               {"_waits", _Py_T_OBJECT, offsetof(WorldState, waits), 0, nullptr},
                                               {nullptr, 0, 0, 0, nullptr}}};
    std::array<PyType_Slot, 5> slots{{slot(Py_tp_dealloc, HeldByWorld::dealloc),
                                      slot(Py_tp_traverse, HeldByWorld::traverse),
                                      slot(Py_tp_clear, HeldByWorld::clear),
                                      {Py_tp_members, members.data()},
                                      {0, nullptr}}};
    PyType_Spec spec{"ordeal._native.WorldState", sizeof(WorldState), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
    return owned(PyType_FromSpec(&spec)).release().ptr();
  }();
  return borrowed(kType);
}

void note_callback(PyObject* world, PyObject* life) {
  WorldState& state = world_state_of(world);
  if (life != Py_None) {
    LifeState& of = life_state_of(life);
    ++of.steps;
    if (of.steps >= of.next_strike) {
      called(world, world_names().strike, life);
    }
    if (of.step_s != 0 && of.is_dead == 0) {
      called(world, world_names().linger, life);
    }
  }
  if (state.is_asking == 0 && (size_of(state.always) > 0 || size_of(state.waits) > 0)) {
    ask(world, state);
  }
}

}  // namespace ordeal::bindings
