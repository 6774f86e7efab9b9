// Draws an argument: a Hypothesis strategy, compiled to a tree of nodes once it has been drawn a few times.
//
// For the step loop. The `draw` of a rule's argument is mostly a `_native.CompiledStrategy`, for which
// compiled_strategy_of() returns the CompiledStrategy (null for any other object). A run's context has a
// `_native.DrawContext` as `draw_context`, for which draw_context_of() returns the DrawContext (null for None). If both
// exist, the argument is drawn as below; otherwise `draw(context)` is called.
//
//     source.begin_argument(number);
//     PyObject* value = draw_compiled(*compiled, context);  // a new reference, or null with an exception
//
// Exceptions are those of Hypothesis (StopTest, UnsatisfiedAssumption) and of the user's code. Around Python code that
// may draw (the body of a rule whose `draws_in_body` is set) call run.give_length() before and run.take_length() after;
// other bodies need neither. When the length decides (LENGTH_MAX) use run.length(). A compiled strategy writes the same
// choices as Hypothesis would and takes the same numbers from the source, so it does not matter when, or whether, a
// strategy is compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/compiled/draw_context.h"

namespace ordeal::bindings {

class Visitor;

// Immutable, and shared between compiled strategies. For one thread at a time.
class StrategyNode {
 public:
  StrategyNode() = default;
  StrategyNode(const StrategyNode&) = delete;
  StrategyNode& operator=(const StrategyNode&) = delete;
  virtual ~StrategyNode() = default;

  // A new reference, or null with a Python exception set. May throw exceptions of the core.
  PyObject* draw(DrawContext& run) const {
    ChoiceSource& source = run.source();
    if (!source.notes_spans()) {
      return draw_value(run);
    }
    const std::size_t begin = source.tape().choice_count();
    PyObject* const value = draw_value(run);
    source.end_span(begin);
    return value;
  }
  // For the garbage collector: sees the objects that the node holds, and what its parts hold.
  [[nodiscard]] virtual int traverse(const Visitor& /*see*/) const { return 0; }

 private:
  virtual PyObject* draw_value(DrawContext& run) const = 0;
};

using StrategyNodePtr = std::shared_ptr<const StrategyNode>;

// Shows held objects to the garbage collector. A node with other owners is skipped: each reference may be shown only
// once, and one that is not shown keeps alive what it leads to.
class Visitor {
 public:
  Visitor(visitproc visit, void* argument) noexcept : visit_(visit), argument_(argument) {}

  // A result other than 0 ends the walk, and must be returned.
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
  // Visits a part that has its own traverse().
  template <typename Part>
  [[nodiscard]] auto see(const Part& part) const -> decltype(part.traverse(*this)) {
    return part.traverse(*this);
  }

  visitproc visit_;
  void* argument_;
};

// What the compiler makes of a strategy. Without a node, the strategy is drawn through Hypothesis.
struct Compilation {
  StrategyNodePtr node;
  int height = 0;             // how many nested spans Hypothesis would open
  bool is_auditable = false;  // drawing it again changes nothing and calls nothing of the user's
};

// The strategy of one argument and how to draw it. For one thread at a time.
class CompiledStrategy {
 public:
  // Draws through Hypothesis before a strategy is compiled: short runs should not pay for compiling.
  static constexpr std::uint32_t kDrawsBeforeCompiling = 16;
  // One draw in this many is checked by drawing it again through Hypothesis, if it is auditable.
  static constexpr std::uint32_t kDrawsPerAudit = 1000;

  // `fallback(context)` draws in runs without a DrawContext. With a `plain` node the strategy is one plain choice,
  // which takes no room in the buffer; otherwise it is compiled later.
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
  // Earlier nodes. One may be drawing right now: its functions can draw from this strategy again.
  std::vector<StrategyNodePtr> given_up_;
  std::uint32_t draws_ = 0;
  bool is_plain_;
  bool is_settled_;  // compiled, or known not to be compilable
  bool is_auditable_ = false;
};

// Null for anything that is not a `_native.CompiledStrategy`, without an exception.
CompiledStrategy* compiled_strategy_of(PyObject* object) noexcept;
// Null for anything that is not a `_native.DrawContext`, without an exception.
DrawContext* draw_context_of(PyObject* object) noexcept;

// See above.
PyObject* draw_compiled(CompiledStrategy& compiled, DrawContext& run) noexcept;

// Sets the Python part of compiled strategies: `compiler(strategy)` returns the parts of a Compilation or None, and
// `auditor(strategy, choices, value, length)` whether Hypothesis draws the same value from the choices.
void set_compiler_hooks(py::object compiler, py::object auditor, py::object recognizer);
// The first strategy that was made in the same way; None where that is unknown. Throws error_already_set.
py::object strategy_made_alike(const py::object& strategy);
Compilation compile_strategy(const py::object& strategy);

}  // namespace ordeal::bindings
