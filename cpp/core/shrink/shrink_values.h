// Passes over values: the arguments of the rules.
//
// They propose choices without knowing what strategies allow. A replay repairs what does not fit, so every value stays
// inside its strategy, and what really ran is kept.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"
#include "core/shrink/value_search.h"

namespace ordeal {

// Lowers equal values together, wherever they are, because a failure may need them to be equal.
class LowerTogether final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "equals"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Lowers single values. A value is searched thoroughly once, and lightly after that; so is one of many equal ones,
// which mostly are as low as the others. Where none of very many equal ones went down, the rest is left as it is.
class LowerValues final : public ShrinkPass {
 public:
  static constexpr std::uint32_t kAlikeMax = 8;
  static constexpr std::uint32_t kInVainMax = 256;
  static constexpr std::size_t kAgainMax = 256;  // values in the tape; each that went down is searched again

  [[nodiscard]] std::string_view name() const noexcept override { return "values"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  tsl::robin_set<std::uint64_t> searched_;
  tsl::robin_map<std::uint64_t, std::uint32_t> alike_;
  tsl::robin_map<std::uint64_t, std::uint32_t> in_vain_;  // by value, how many did not go down since one did
};

// Lowers many values of a large tape at once, where one by one would take thousands of replays:
//
// - makes half of them the simplest, then quarters, down to pairs;
// - lowers all integers to a common distance from their simplest values, which bisection finds (without it, a run that
//   needs 3,500 of 4,000 integers takes 7,106 replays instead of 3,211);
// - pours the integers of an argument into the last of them, which take as much as their bounds allow, for failures
//   that need a large sum (56,575 replays instead of 1,778).
class LowerMany final : public ShrinkPass {
 public:
  static constexpr std::size_t kValuesMin = 32;  // that could be simpler

  [[nodiscard]] std::string_view name() const noexcept override { return "blocks"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Lowers an integer and raises or lowers a nearby later one by as much, because a failure may need their sum or
// difference. An integer that would leave its bounds stops there; if that does not fail, it wraps around, as sums in a
// machine word do.
class LowerPairs final : public ShrinkPass {
 public:
  static constexpr std::size_t kReach = 3;  // how many integers that are not simplest may lie between them, plus one
  static constexpr std::size_t kBorrowMax = 128;  // choices of the tape, where the next makes up for a lower one

  [[nodiscard]] std::string_view name() const noexcept override { return "sums"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  tsl::robin_set<std::uint64_t> stuck_;
};

}  // namespace ordeal
