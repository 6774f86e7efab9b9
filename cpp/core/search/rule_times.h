// How long the steps of each rule take, so that the time of a search is not spent on its dearest rule.
//
// As with StepTimes, a clock decides only where steps are slow and where it may: nothing is noted elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/rng.h"

namespace ordeal {

// Thread-compatible. Not saved: what is slow depends on the machine.
class RuleTimes {
 public:
  // However dear a rule is, every eighth time it is proposed all the same.
  static constexpr double kKeptMin = 1.0 / 8;

  explicit RuleTimes(std::size_t rules) : rules_(rules) {}

  void note(std::uint32_t rule, double seconds) noexcept;

  // Whether so few steps were noted that it is unknown whether they are slow.
  [[nodiscard]] bool are_few() const noexcept;
  // Whether most steps are slow.
  [[nodiscard]] bool are_slow() const noexcept;
  // Whether to propose another rule instead: if steps of the others take less time, and the more often, the less.
  [[nodiscard]] bool avoids(std::uint32_t rule, Rng& rng) const noexcept;

 private:
  struct Tally {
    double seconds = 0;
    double steps = 0;
    double slow = 0;  // of these

    // Most of them: a few that wait for an import say nothing.
    [[nodiscard]] bool are_slow() const noexcept { return 2 * slow > steps; }
  };

  Tally all_;
  std::vector<Tally> rules_;
};

}  // namespace ordeal
