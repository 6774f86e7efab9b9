// How much of its time a search spends on steps that hang, or end their process, in ways that are known already.
//
// Such a step takes as long as thousands of others. Only a share of the time may go to them: once it is used up, their
// rules wait until the search has gone on for long enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ordeal {

// Thread-compatible. Everything takes constant time. Not saved: how long a step hangs depends on the machine.
class FailureTime {
 public:
  // The share of the time of a search that the steps of all such rules may take together.
  static constexpr double kShareMax = 0.25;

  explicit FailureTime(std::size_t rules) : took_long_(rules, false) {}

  // Notes that a step of the rule took so many seconds, and nothing new was learned.
  void spend(std::uint32_t rule, double seconds) noexcept {
    took_long_[rule] = true;
    spent_ += std::max(seconds, 0.0);
  }
  // Notes how many seconds the search has taken until now, what was spent here included.
  void search_took(double seconds) noexcept { took_ = seconds; }

  // Whether the share is used up.
  [[nodiscard]] bool is_used_up() const noexcept { return spent_ > kShareMax * took_; }
  // Whether the rule waits.
  [[nodiscard]] bool waits(std::uint32_t rule) const noexcept { return is_used_up() && took_long_[rule]; }

 private:
  std::vector<bool> took_long_;
  double spent_ = 0;  // seconds
  double took_ = 0;
};

}  // namespace ordeal
