#include "bindings/compiled/plan.h"

#include "bindings/casts/choice_cast.h"
#include "bindings/cpython/guarded.h"
#include "core/base/check.h"

namespace ordeal::bindings {
namespace {

struct PlanHooks {
  py::object compiler;
  py::object auditor;
};

PlanHooks& hooks() {
  static auto* const kHooks = new PlanHooks();  // outlives the interpreter's end
  return *kHooks;
}

}  // namespace

void set_plan_hooks(py::object compiler, py::object auditor) { hooks() = {std::move(compiler), std::move(auditor)}; }

CompiledStrategy compile_strategy(const py::object& strategy) {
  ORDEAL_CHECK(hooks().compiler, "no compiler was set");
  const py::object made = hooks().compiler(strategy);
  if (made.is_none()) {
    return {};
  }
  const auto [node, height, is_auditable] = made.cast<std::tuple<std::shared_ptr<PlanNode>, int, bool>>();
  return {node, height, is_auditable};
}

void Plan::compile() {
  is_settled_ = true;
  CompiledStrategy compiled = compile_strategy(strategy_);
  node_ = std::move(compiled.node);
  is_auditable_ = compiled.is_auditable;
  draws_ = 0;
}

PyObject* Plan::draw(PlanRun& run) {
  if (node_ == nullptr) [[unlikely]] {
    return draw_unplanned(run);
  }
  if (is_plain_) {
    const bool before = run.set_counts(false);
    PyObject* const value = node_->draw(run);
    run.set_counts(before);
    return value;
  }
  if (++draws_ % kDrawsPerAudit == 0 && is_auditable_) [[unlikely]] {
    return draw_audited(run);
  }
  return node_->draw(run);
}

PyObject* Plan::draw_unplanned(PlanRun& run) {
  if (!is_settled_ && ++draws_ > kDrawsBeforeCompiling) {
    compile();
    if (node_ != nullptr) {
      return draw(run);
    }
  }
  return run.draw_through_hypothesis(strategy_.ptr(), run.depth());
}

PyObject* Plan::draw_audited(PlanRun& run) {
  const Tape& tape = run.source().tape();
  const std::size_t begin = tape.choice_count();
  const std::int64_t length = run.length();
  auto value = py::reinterpret_steal<py::object>(length < 0 ? nullptr : node_->draw(run));
  if (!value) {
    return nullptr;
  }
  py::list choices;
  for (const Choice& choice : tape.choices().subspan(begin)) {
    choices.append(choice_to_python(choice));
  }
  if (!hooks().auditor(strategy_, choices, value, run.length() - length).cast<bool>()) {
    node_ = nullptr;
  }
  return value.release().ptr();
}

PyObject* draw_plan(Plan& plan, PlanRun& run) noexcept {
  return guarded([&] { return plan.draw(run); });
}

}  // namespace ordeal::bindings
