#include "bindings/compiled/draw_function.h"

#include <algorithm>
#include <array>
#include <new>

#include <tsl/robin_map.h>

#include "bindings/compiled/interned_names.h"
#include "bindings/cpython/guarded.h"
#include "bindings/thread_cache.h"
#include "core/base/check.h"

namespace ordeal::bindings {
namespace {

struct Known {
  py::object strategy;  // kept, so that its address is not reused
  Compilation compiled;
};

// Strategies that are drawn again and again. A strategy is counted by its address before it is known; another one that
// reuses an address is only compiled a little early.
class KnownStrategies {
 public:
  const Compilation* find(PyObject* strategy) {
    const auto found = known_.find(strategy);
    if (found != known_.end()) {
      return &found->second.compiled;
    }
    if (known_.size() >= kStrategiesMax || !is_frequent(strategy)) {
      return nullptr;
    }
    const auto kept = py::reinterpret_borrow<py::object>(strategy);
    Known known{kept, compile_strategy(kept)};
    return &known_.emplace(strategy, std::move(known)).first->second.compiled;
  }

 private:
  struct Count {
    PyObject* strategy = nullptr;
    std::uint32_t draws = 0;
  };

  bool is_frequent(PyObject* strategy) noexcept {
    constexpr unsigned kAlignmentBits = 4;
    std::array<Count, 4>& set =
        counts_[(reinterpret_cast<std::uintptr_t>(strategy) >> kAlignmentBits) % counts_.size()];
    Count* count = std::ranges::find(set, strategy, &Count::strategy);
    if (count == set.end()) {
      count = std::ranges::min_element(set, {}, &Count::draws);
      *count = {strategy, 0};
    }
    return ++count->draws > CompiledStrategy::kDrawsBeforeCompiling;
  }

  tsl::robin_map<PyObject*, Known> known_;
  // In sets, as two whose addresses meet in one place would drive each other out.
  std::array<std::array<Count, 4>, 256> counts_{};
};

// A copy, as a body may add strategies, which moves the others.
StrategyNodePtr node_within(const Compilation* compiled, int depth) {
  return compiled == nullptr || depth + compiled->height >= kSpansMax ? nullptr : compiled->node;
}

struct DrawFunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  std::shared_ptr<DrawContext*> run;
  int depth;
};

extern "C" {

PyObject* ordeal_draw_function_call(PyObject* self, PyObject* const* arguments, std::size_t flags,
                                    PyObject* names) noexcept {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  const Py_ssize_t keywords = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  bool is_known = count == 1 || count == 2;
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    PyObject* const name = PyTuple_GET_ITEM(names, i);
    is_known = is_known && (PyUnicode_Compare(name, interned_names().label) == 0 ||
                            PyUnicode_Compare(name, interned_names().observe_as) == 0);
  }
  if (!is_known) {
    PyErr_SetString(PyExc_TypeError, "draw() takes a strategy and, if at all, a label");
    return nullptr;
  }
  const auto& draw = *reinterpret_cast<const DrawFunctionObject*>(self);
  if (*draw.run == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "draw() was called after the run that it belongs to had ended");
    return nullptr;
  }
  return guarded([&] { return draw_strategy(**draw.run, arguments[0], draw.depth); });
}

void ordeal_draw_function_dealloc(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<DrawFunctionObject*>(self)->run.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
}

}  // extern "C"

PyTypeObject* draw_function_type() {
  static PyObject* const kType = [] {
    static std::array<PyMemberDef, 2> members{
        {{"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(DrawFunctionObject, vectorcall), Py_READONLY, nullptr},
         {nullptr, 0, 0, 0, nullptr}}};
    std::array<PyType_Slot, 4> slots{{{Py_tp_dealloc, reinterpret_cast<void*>(ordeal_draw_function_dealloc)},
                                      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                      {Py_tp_members, members.data()},
                                      {0, nullptr}}};
    PyType_Spec spec{"ordeal._native.PlanDraw", sizeof(DrawFunctionObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL, slots.data()};
    return PyType_FromSpec(&spec);
  }();
  return reinterpret_cast<PyTypeObject*>(kType);
}

}  // namespace

PyObject* draw_strategy(DrawContext& run, PyObject* strategy, int depth) {
  const Compilation* compiled = thread_cache<KnownStrategies>().find(strategy);
  py::object alike;
  if (compiled == nullptr) {
    // A strategy that is made again for each draw is recognized by how it was made.
    alike = strategy_made_alike(py::reinterpret_borrow<py::object>(strategy));
    if (!alike.is_none() && !alike.is(py::handle(strategy))) {
      strategy = alike.ptr();
      compiled = thread_cache<KnownStrategies>().find(strategy);
    }
  }
  // If it nests too deeply, Hypothesis raises the error.
  const StrategyNodePtr node = node_within(compiled, depth);
  return node == nullptr ? run.draw_through_hypothesis(strategy, depth) : draw_node(run, *node, depth);
}

StrategyNodePtr node_of_known(PyObject* strategy, int depth) {
  return node_within(thread_cache<KnownStrategies>().find(strategy), depth);
}

PyObject* draw_node(DrawContext& run, const StrategyNode& node, int depth) {
  if (Py_EnterRecursiveCall(" while drawing from a strategy") != 0) {
    return nullptr;
  }
  const int before = run.depth();
  run.set_depth(depth);
  PyObject* const value = node.draw(run);
  run.set_depth(before);
  Py_LeaveRecursiveCall();
  return value;
}

PyObject* new_draw_function(DrawContext& run, int depth) {
  PyTypeObject* const type = draw_function_type();
  auto* const draw = type == nullptr ? nullptr : reinterpret_cast<DrawFunctionObject*>(type->tp_alloc(type, 0));
  if (draw == nullptr) {
    return nullptr;
  }
  draw->vectorcall = ordeal_draw_function_call;
  new (&draw->run) std::shared_ptr<DrawContext*>(run.link());
  draw->depth = depth;
  return reinterpret_cast<PyObject*>(draw);
}

}  // namespace ordeal::bindings
