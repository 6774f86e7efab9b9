#include "core/draw/continuation.h"

#include <numeric>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {
namespace {

// As in a search with default options.
constexpr double kToggleProb = 0.3;

}  // namespace

Continuation::Continuation(ContinuationOptions options)
    : options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "continuation steps")),
      initializers_(options_.shape.initializers),
      rules_(options_.shape.rules),
      rules_left_(rules_.size()),
      steps_left_(options_.steps) {
  for (const std::uint32_t fault : options_.faults) {
    if (fault >= options_.shape.faults) {
      throw ConfigError("fault " + std::to_string(fault) + " of " + std::to_string(options_.shape.faults));
    }
  }
  std::iota(initializers_.begin(), initializers_.end(), 0U);
  std::iota(rules_.begin(), rules_.end(), 0U);
}

// Initialize rules do not count as steps. Those that ran in the recorded part are rejected and gone.
NextStep Continuation::next(const std::vector<bool>& faults_on) {
  if (std::exchange(rejected_rule_, false)) {
    return next_rule();
  }
  rules_left_ = rules_.size();
  is_rule_ = false;
  if (steps_left_ == 0) {
    return {NextKind::kEnd, 0};
  }
  if (const std::optional<NextStep> initializer = next_initializer()) {
    return *initializer;
  }
  --steps_left_;
  if (!options_.faults.empty() && rng_.chance(kToggleProb)) {
    const std::uint32_t fault = options_.faults[rng_.below(options_.faults.size())];
    return {faults_on.at(fault) ? NextKind::kFaultOff : NextKind::kFaultOn, fault};
  }
  return next_rule();
}

// Only a rule is drawn again: a precondition was false, or a bundle empty.
void Continuation::reject() { rejected_rule_ = is_rule_; }

// In any order, each at most once, before the first rule.
std::optional<NextStep> Continuation::next_initializer() {
  if (initializers_.empty()) {
    return std::nullopt;
  }
  const std::size_t at = rng_.below(initializers_.size());
  std::swap(initializers_[at], initializers_.back());
  const std::uint32_t initializer = initializers_.back();
  initializers_.pop_back();
  return NextStep{NextKind::kInitialize, initializer};
}

NextStep Continuation::next_rule() {
  if (rules_left_ == 0) {
    return {NextKind::kStuck, 0};
  }
  is_rule_ = true;
  const std::size_t at = rng_.below(rules_left_);
  std::swap(rules_[at], rules_[--rules_left_]);
  return {NextKind::kRule, rules_[rules_left_]};
}

}  // namespace ordeal
