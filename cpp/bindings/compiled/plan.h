// What draws an argument: a strategy of Hypothesis, compiled to a tree of nodes once it has been drawn a few times.
//
// For the step loop. An Argument's `draw` is mostly a `_native.Plan`, for which plan_of() gives the Plan (null for any
// other object). A run's context has a `_native.PlanRun` as `plans`, for which plan_run_of() gives the PlanRun (null
// for None). Where both are there, draw each argument so, and else call `draw(context)`:
//
//     source.begin_argument(number);
//     PyObject* value = draw_plan(*plan, run);   // a new reference, or null with a Python exception set
//
// Exceptions are what Hypothesis raises (StopTest, UnsatisfiedAssumption) and what the user's own code raises. Around
// Python code that may draw by itself (the body of a rule whose `draws_in_body` is set) call run.give_length() before
// and run.take_length() after; other bodies need neither. Where the length decides (LENGTH_MAX) ask run.length(). A
// plan writes the same choices as Hypothesis would and takes the same numbers from the source, so it does not matter
// when, or whether, a strategy is compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/compiled/plan_run.h"

namespace ordeal::bindings {

// Immutable, and shared between plans. Guarded by the GIL.
class PlanNode {
 public:
  PlanNode() = default;
  PlanNode(const PlanNode&) = delete;
  PlanNode& operator=(const PlanNode&) = delete;
  virtual ~PlanNode() = default;

  // A new reference, or null with a Python exception set. May throw what the core throws.
  virtual PyObject* draw(PlanRun& run) const = 0;
};

using PlanNodePtr = std::shared_ptr<const PlanNode>;

// What the compiler makes of a strategy. No node: it is to be drawn through Hypothesis.
struct CompiledStrategy {
  PlanNodePtr node;
  int height = 0;             // how many spans Hypothesis would open, one in the other
  bool is_auditable = false;  // drawing it again changes nothing and calls nothing of the user's
};

// One argument's strategy and what is known of how to draw it. Guarded by the GIL.
class Plan {
 public:
  // Draws through Hypothesis before a strategy is compiled: a short run should not pay for it.
  static constexpr std::uint32_t kDrawsBeforeCompiling = 16;
  // One draw in so many is drawn again through Hypothesis where it is auditable.
  static constexpr std::uint32_t kDrawsPerAudit = 1000;

  // `fallback(context)` draws in runs that no PlanRun belongs to. With a `plain` node the strategy is one plain choice,
  // which takes no room in the buffer; else it is compiled in time.
  Plan(py::object strategy, py::object fallback, PlanNodePtr plain) noexcept
      : strategy_(std::move(strategy)),
        fallback_(std::move(fallback)),
        node_(std::move(plain)),
        is_plain_(node_ != nullptr),
        is_settled_(is_plain_) {}

  PyObject* draw(PlanRun& run);
  // Now rather than in time.
  void compile();
  [[nodiscard]] bool is_planned() const noexcept { return node_ != nullptr; }
  [[nodiscard]] const py::object& strategy() const noexcept { return strategy_; }
  [[nodiscard]] const py::object& fallback() const noexcept { return fallback_; }

 private:
  PyObject* draw_unplanned(PlanRun& run);
  PyObject* draw_audited(PlanRun& run);

  py::object strategy_;
  py::object fallback_;
  PlanNodePtr node_;
  std::uint32_t draws_ = 0;
  bool is_plain_;
  bool is_settled_;  // compiled, or known not to be
  bool is_auditable_ = false;
};

// Null for anything that is not a `_native.Plan`, without an exception.
Plan* plan_of(PyObject* object) noexcept;
// Null for anything that is not a `_native.PlanRun`, without an exception.
PlanRun* plan_run_of(PyObject* object) noexcept;

// See above.
PyObject* draw_plan(Plan& plan, PlanRun& run) noexcept;

// What Python does for plans: `compiler(strategy)` gives a CompiledStrategy's parts or None, and
// `auditor(strategy, choices, value, length)` whether Hypothesis makes the same of the choices.
void set_plan_hooks(py::object compiler, py::object auditor);
CompiledStrategy compile_strategy(const py::object& strategy);

}  // namespace ordeal::bindings
