// In which circumstances steps fail in ways that are known already: after which step, and with which values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/tape/tape.h"

namespace ordeal {

// The steps in one circumstance since the first of them that failed, which is one of them.
struct CircumstanceCounts {
  std::uint32_t place = 0;
  std::uint32_t passed = 0;
  std::uint32_t failed = 0;

  friend bool operator==(const CircumstanceCounts&, const CircumstanceCounts&) = default;
};

// A circumstance of a step of a rule is the step before it, and for each of the first choices of its arguments the
// value, and how large it is. All share a table of fixed size: where two have one place, steps are avoided less often.
// Thread-compatible. Takes time in proportion to kChoicesMax, and draws nothing for what never failed.
class StepRisk {
 public:
  static constexpr std::size_t kPlaces = 4096;
  // How many choices of a step count.
  static constexpr std::size_t kChoicesMax = 8;
  // However often steps fail in a circumstance, every tenth time it is left as it is: what comes next may differ.
  static constexpr double kChanceMax = 0.9;

  // Notes how the last step of the tape ended, which is one of a rule.
  void passed(const Tape& tape) noexcept;
  void failed(const Tape& tape) noexcept;

  // Whether to propose another rule than `rule` after the last step of the tape.
  [[nodiscard]] bool avoids_next(const Tape& tape, std::uint32_t rule, Rng& rng) const noexcept;
  // Whether to draw the arguments of the last step of the tape anew.
  [[nodiscard]] bool avoids_values(const Tape& tape, Rng& rng) const noexcept;

  // Of each circumstance in which a step failed, by place.
  [[nodiscard]] std::vector<CircumstanceCounts> counts() const;
  // Continues from the counts of another process. The places are in ascending order, below kPlaces, and each failed.
  void restore(std::span<const CircumstanceCounts> counts);

 private:
  struct Steps {
    std::uint32_t passed = 0;
    std::uint32_t failed = 0;
  };

  [[nodiscard]] static double chance(const Steps& steps) noexcept;

  std::array<Steps, kPlaces> steps_{};
};

}  // namespace ordeal
