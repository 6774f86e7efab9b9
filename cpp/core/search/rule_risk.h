// How often the steps of each rule fail in ways that are known already, so that such steps become rarer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/rng.h"

namespace ordeal {

// The steps of one rule since its first known failure, which is one of them.
struct RuleRiskCounts {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;

  friend bool operator==(const RuleRiskCounts&, const RuleRiskCounts&) = default;
};

// Thread-compatible. Everything takes constant time, and draws nothing for a rule that never failed.
class RuleRisk {
 public:
  // However often a rule fails, every tenth time it is proposed all the same: what it does next may differ.
  static constexpr double kChanceMax = 0.9;

  explicit RuleRisk(std::size_t rules) : counts_(rules) {}

  // Notes how a step of the rule ended.
  void passed(std::uint32_t rule) noexcept {
    if (counts_[rule].failed > 0) [[unlikely]] {
      ++counts_[rule].passed;
    }
  }
  void failed(std::uint32_t rule) noexcept { ++counts_[rule].failed; }

  [[nodiscard]] bool has_failed(std::uint32_t rule) const noexcept { return counts_[rule].failed > 0; }
  // Whether to propose another rule instead: if most of its steps failed, and the more likely, the more of them.
  [[nodiscard]] bool avoids(std::uint32_t rule, Rng& rng) const noexcept;

  [[nodiscard]] const std::vector<RuleRiskCounts>& counts() const noexcept { return counts_; }
  // Continues from the counts of another process; empty for none.
  void restore(std::vector<RuleRiskCounts> counts);

 private:
  std::vector<RuleRiskCounts> counts_;
};

}  // namespace ordeal
