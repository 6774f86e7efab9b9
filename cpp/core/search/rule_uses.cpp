#include "core/search/rule_uses.h"

namespace ordeal {

// With several faults on, the step counts for each of them: which one mattered is for ablation to say.
void RuleUses::count(std::uint32_t rule, const std::vector<bool>& faults_on, bool failed) noexcept {
  const std::size_t row = rule * columns_;
  const auto add = [&](std::size_t column) {
    RuleUseCounts& counts = counts_[row + column];
    ++counts.steps;
    counts.failed += failed ? 1 : 0;
  };
  bool is_any_on = false;
  for (std::size_t fault = 0; fault + 1 < columns_; ++fault) {
    if (faults_on[fault]) {
      is_any_on = true;
      add(fault + 1);
    }
  }
  if (!is_any_on) {
    add(0);
  }
}

}  // namespace ordeal
