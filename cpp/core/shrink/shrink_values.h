// Passes over values: what the rules are called with.
//
// They propose choices without knowing what strategies allow. A replay repairs what does not fit, so that every value
// stays inside its strategy, and what really ran is what is kept.
//
// Thread-compatible, as all passes are.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Lowers equal values together, wherever they are: a failure may need them to be equal.
class LowerTogether final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "equals"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Lowers single values. A value is searched thoroughly once, and lightly from then on.
class LowerValues final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "values"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  tsl::robin_set<std::uint64_t> searched_;
};

// Makes booleans of one argument false where there are many, all first, then halves, then single ones: decisions that
// code takes in a loop. LowerValues does so one by one.
class LowerFlags final : public ShrinkPass {
 public:
  static constexpr std::size_t kFlagsMin = 64;

  [[nodiscard]] std::string_view name() const noexcept override { return "flags"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  static SearchCoroutine<Tape> candidates_of_argument(const FailingTape& current, std::size_t argument);
};

// Lowers a small integer and makes all that follows it in its argument the simplest, for one that says which branch of
// a strategy is taken: what was drawn in the branch taken before may be no good in a simpler one.
class LowerBranches final : public ShrinkPass {
 public:
  static constexpr std::uint64_t kBranchesMax = 8;

  [[nodiscard]] std::string_view name() const noexcept override { return "branches"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Lowers an integer and raises or lowers one soon after it by as much: a failure may need their sum or their
// difference. One that would leave its bounds stops there; where that does not do, it comes in again at the other end,
// as sums in a machine word do.
class LowerPairs final : public ShrinkPass {
 public:
  static constexpr std::size_t kReach = 3;  // how many integers that are not simplest lie between them, and one

  [[nodiscard]] std::string_view name() const noexcept override { return "sums"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  tsl::robin_set<std::uint64_t> stuck_;
};

}  // namespace ordeal
