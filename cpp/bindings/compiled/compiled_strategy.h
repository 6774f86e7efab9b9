// What draws an argument: a strategy of Hypothesis, compiled to a tree of nodes once it has been drawn a few times.
//
// For the step loop. The `draw` of a rule's argument is mostly a `_native.CompiledStrategy`, for which
// compiled_strategy_of() gives the CompiledStrategy (null for any other object). A run's context has a
// `_native.DrawContext` as `draw_context`, for which draw_context_of() gives the DrawContext (null for None). Where
// both exist, the argument is drawn as below; elsewhere `draw(context)` is called.
//
//     source.begin_argument(number);
//     PyObject* value = draw_compiled(*compiled, context);  // a new reference, or null with an exception
//
// Exceptions are what Hypothesis raises (StopTest, UnsatisfiedAssumption) and what the user's own code raises. Around
// Python code that may draw by itself (the body of a rule whose `draws_in_body` is set) call run.give_length() before
// and run.take_length() after; other bodies need neither. Where the length decides (LENGTH_MAX) ask run.length(). A
// compiled strategy writes the same choices as Hypothesis would and takes the same numbers from the source, so it does
// not matter when, or whether, a strategy is compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/compiled/draw_context.h"

namespace ordeal::bindings {

class Visitor;

// Immutable, and shared between compiled strategies. Guarded by the GIL.
class StrategyNode {
 public:
  StrategyNode() = default;
  StrategyNode(const StrategyNode&) = delete;
  StrategyNode& operator=(const StrategyNode&) = delete;
  virtual ~StrategyNode() = default;

  // A new reference, or null with a Python exception set. May throw what the core throws.
  virtual PyObject* draw(DrawContext& run) const = 0;
  // For the garbage collector: sees the objects that the node holds, and what its parts hold.
  [[nodiscard]] virtual int traverse(const Visitor& /*see*/) const { return 0; }
};

using StrategyNodePtr = std::shared_ptr<const StrategyNode>;

// Shows the garbage collector what is held. A node that others have as well is passed over: each reference may be shown
// once only, and one that is not shown keeps alive what it leads to.
class Visitor {
 public:
  Visitor(visitproc visit, void* argument) noexcept : visit_(visit), argument_(argument) {}

  // Other than 0 ends the walk, and is what to return.
  template <typename... Held>
  [[nodiscard]] int all(const Held&... held) const {
    int stop = 0;
    static_cast<void>(((stop = see(held), stop == 0) && ...));
    return stop;
  }

 private:
  [[nodiscard]] int see(const py::object& object) const { return object ? visit_(object.ptr(), argument_) : 0; }
  [[nodiscard]] int see(const StrategyNodePtr& node) const {
    return node != nullptr && node.use_count() == 1 ? node->traverse(*this) : 0;
  }
  template <typename First, typename Second>
  [[nodiscard]] int see(const std::pair<First, Second>& pair) const {
    return all(pair.first, pair.second);
  }
  template <typename Item>
  [[nodiscard]] int see(const std::vector<Item>& items) const {
    for (const Item& item : items) {
      if (const int stop = see(item); stop != 0) {
        return stop;
      }
    }
    return 0;
  }
  // Of what says by itself what it holds.
  template <typename Part>
  auto see(const Part& part) const -> decltype(part.traverse(*this)) {
    return part.traverse(*this);
  }

  visitproc visit_;
  void* argument_;
};

// What the compiler makes of a strategy. Without a node it must be drawn through Hypothesis.
struct Compilation {
  StrategyNodePtr node;
  int height = 0;             // how many spans Hypothesis would open, one in the other
  bool is_auditable = false;  // drawing it again changes nothing and calls nothing of the user's
};

// One argument's strategy and what is known of how to draw it. Guarded by the GIL.
class CompiledStrategy {
 public:
  // Draws through Hypothesis before a strategy is compiled: a short run should not pay for it.
  static constexpr std::uint32_t kDrawsBeforeCompiling = 16;
  // One draw in this many is checked by drawing it again through Hypothesis, where it is auditable.
  static constexpr std::uint32_t kDrawsPerAudit = 1000;

  // `fallback(context)` draws in runs that no DrawContext belongs to. With a `plain` node the strategy is one plain
  // choice, which takes no room in the buffer; else it is compiled in time.
  CompiledStrategy(py::object strategy, py::object fallback, StrategyNodePtr plain) noexcept
      : strategy_(std::move(strategy)),
        fallback_(std::move(fallback)),
        node_(std::move(plain)),
        is_plain_(node_ != nullptr),
        is_settled_(is_plain_) {}

  PyObject* draw(DrawContext& run);
  // Compiles at once, without waiting for more draws.
  void compile();
  // For the garbage collector. What nodes hold is seen where this alone has them.
  [[nodiscard]] int traverse(visitproc visit, void* argument) const;
  void clear();
  [[nodiscard]] bool is_compiled() const noexcept { return node_ != nullptr; }
  [[nodiscard]] const py::object& strategy() const noexcept { return strategy_; }
  [[nodiscard]] const py::object& fallback() const noexcept { return fallback_; }

 private:
  void give_up_node();
  PyObject* draw_uncompiled(DrawContext& run);
  PyObject* draw_audited(DrawContext& run);

  py::object strategy_;
  py::object fallback_;
  StrategyNodePtr node_;
  // What was the node before. A draw of it may be under way: its functions can draw from this strategy again.
  std::vector<StrategyNodePtr> given_up_;
  std::uint32_t draws_ = 0;
  bool is_plain_;
  bool is_settled_;  // compiled, or known not to be
  bool is_auditable_ = false;
};

// Null for anything that is not a `_native.CompiledStrategy`, without an exception.
CompiledStrategy* compiled_strategy_of(PyObject* object) noexcept;
// Null for anything that is not a `_native.DrawContext`, without an exception.
DrawContext* draw_context_of(PyObject* object) noexcept;

// See above.
PyObject* draw_compiled(CompiledStrategy& compiled, DrawContext& run) noexcept;

// What Python does for compiled strategies: `compiler(strategy)` gives a Compilation's parts or None, and
// `auditor(strategy, choices, value, length)` whether Hypothesis makes the same of the choices.
void set_compiler_hooks(py::object compiler, py::object auditor);
Compilation compile_strategy(const py::object& strategy);

}  // namespace ordeal::bindings
