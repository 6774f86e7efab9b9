// How often each rule ran and failed, without a fault and under each: what a report shows as a heat map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ordeal {

// The steps of one rule under one fault, or under none. `failed` of the `steps` broke something.
struct RuleUseCounts {
  std::uint64_t steps = 0;
  std::uint64_t failed = 0;

  friend bool operator==(const RuleUseCounts&, const RuleUseCounts&) = default;
};

// Thread-compatible. Decides nothing. Counting takes time linear in the number of faults of the machine.
class RuleUses {
 public:
  RuleUses(std::size_t rules, std::size_t faults) : columns_(faults + 1), counts_(rules * columns_) {}

  // Counts a step of the rule once for each fault that was on in it, or else as one without faults.
  void count(std::uint32_t rule, const std::vector<bool>& faults_on, bool failed) noexcept;

  // By rule: a column for steps without faults, then one for each fault.
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] const std::vector<RuleUseCounts>& counts() const noexcept { return counts_; }

 private:
  std::size_t columns_;
  std::vector<RuleUseCounts> counts_;
};

}  // namespace ordeal
