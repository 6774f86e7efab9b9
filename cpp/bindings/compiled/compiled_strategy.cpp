#include "bindings/compiled/compiled_strategy.h"

#include "bindings/casts/choice_cast.h"
#include "bindings/cpython/guarded.h"
#include "core/base/check.h"

namespace ordeal::bindings {
namespace {

struct CompilerHooks {
  py::object compiler;
  py::object auditor;
  py::object recognizer;
};

CompilerHooks& hooks() {
  static auto* const kHooks = new CompilerHooks();  // outlives the interpreter's end
  return *kHooks;
}

}  // namespace

void set_compiler_hooks(py::object compiler, py::object auditor, py::object recognizer) {
  hooks() = {std::move(compiler), std::move(auditor), std::move(recognizer)};
}

py::object strategy_made_alike(const py::object& strategy) {
  ORDEAL_CHECK(hooks().recognizer, "no recognizer was set");
  return hooks().recognizer(strategy);
}

Compilation compile_strategy(const py::object& strategy) {
  ORDEAL_CHECK(hooks().compiler, "no compiler was set");
  const py::object made = hooks().compiler(strategy);
  if (made.is_none()) {
    return {};
  }
  const auto [node, height, is_auditable] = made.cast<std::tuple<std::shared_ptr<StrategyNode>, int, bool>>();
  return {node, height, is_auditable};
}

void CompiledStrategy::compile() {
  is_settled_ = true;
  Compilation compiled = compile_strategy(strategy_);
  give_up_node();
  node_ = std::move(compiled.node);
  is_auditable_ = compiled.is_auditable;
  draws_ = 0;
}

void CompiledStrategy::give_up_node() {
  if (node_ != nullptr) {
    given_up_.push_back(std::move(node_));
  }
  node_ = nullptr;
}

int CompiledStrategy::traverse(visitproc visit, void* argument) const {
  return Visitor(visit, argument).all(strategy_, fallback_, node_, given_up_);
}

// A finalizer may still draw from it, which is then an error of Hypothesis.
void CompiledStrategy::clear() {
  is_settled_ = true;
  strategy_ = py::none();
  fallback_ = py::none();
  node_ = nullptr;
  given_up_.clear();
}

PyObject* CompiledStrategy::draw(DrawContext& run) {
  if (node_ == nullptr) [[unlikely]] {
    return draw_uncompiled(run);
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

PyObject* CompiledStrategy::draw_uncompiled(DrawContext& run) {
  if (!is_settled_ && ++draws_ > kDrawsBeforeCompiling) {
    compile();
    if (node_ != nullptr) {
      return draw(run);
    }
  }
  return run.draw_through_hypothesis(strategy_.ptr(), run.depth());
}

PyObject* CompiledStrategy::draw_audited(DrawContext& run) {
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
    give_up_node();
  }
  return value.release().ptr();
}

PyObject* draw_compiled(CompiledStrategy& compiled, DrawContext& run) noexcept {
  return guarded([&] { return compiled.draw(run); });
}

}  // namespace ordeal::bindings
