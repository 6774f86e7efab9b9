// Passes over values: the arguments of the rules.
//
// They propose choices without knowing what strategies allow. A replay repairs what does not fit, so every value stays
// inside its strategy, and what really ran is kept.
//
// Thread-compatible, like all passes.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"
#include "core/shrink/value_search.h"

namespace ordeal {

// Lowers equal values together, wherever they are, because a failure may need them to be equal. Lightly, or thoroughly,
// which is for what is left after single values were lowered: a key that is put and removed, say. A group is searched
// thoroughly once.
class LowerTogether final : public ShrinkPass {
 public:
  explicit LowerTogether(Effort effort = Effort::kLight) noexcept : effort_(effort) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "equals"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  Effort effort_;
  tsl::robin_set<std::uint64_t> searched_;  // thoroughly: values, with how many there are
};

// Lowers single values. A value is searched thoroughly once, and lightly after that; so is one of many equal ones,
// which mostly are as low as the others. Where none of very many equal ones went down, the rest is left as it is.
class LowerValues final : public ShrinkPass {
 public:
  static constexpr std::uint32_t kAlikeMax = 8;
  static constexpr std::uint32_t kInVainMax = 256;
  static constexpr std::size_t kAgainMax = 256;  // values in the tape, of which each that went down is searched again

  [[nodiscard]] std::string_view name() const noexcept override { return "values"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  tsl::robin_set<std::uint64_t> searched_;
  tsl::robin_map<std::uint64_t, std::uint32_t> alike_;
  tsl::robin_map<std::uint64_t, std::uint32_t> in_vain_;  // by value, how many did not go down since one did
};

// Lowers all integers of a large tape to a common distance from their simplest values, which bisection finds: as many
// candidates as the largest has bits, where lowering them one by one takes as many for each.
class CapIntegers final : public ShrinkPass {
 public:
  static constexpr std::size_t kValuesMin = 32;  // that could be simpler

  [[nodiscard]] std::string_view name() const noexcept override { return "caps"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Pours many integers of an argument into the last of them: these take as much as their bounds allow, and the others
// are the simplest. For failures that need a large sum, of which two by two would take as many candidates as there are
// pairs.
class PourIntegers final : public ShrinkPass {
 public:
  static constexpr std::size_t kValuesMin = 32;  // that could be simpler

  [[nodiscard]] std::string_view name() const noexcept override { return "pours"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Makes values of a large tape the simplest, half of those that could be simpler at once, then quarters, down to pairs.
class LowerBlocks final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "blocks"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Makes the booleans of an argument with many of them false, all first, then halves, then single ones: decisions that
// code takes in a loop. LowerValues does so one by one.
class LowerFlags final : public ShrinkPass {
 public:
  static constexpr std::size_t kFlagsMin = 64;

  [[nodiscard]] std::string_view name() const noexcept override { return "flags"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  static SearchCoroutine<Tape> candidates_of_argument(const FailingTape& current, std::size_t argument);
};

// Lowers a small integer and makes everything after it in its argument the simplest, for integers that select a branch
// of a strategy: draws of the old branch may not fit a simpler one. Where it is known to select, also the next
// simplest.
class LowerBranches final : public ShrinkPass {
 public:
  static constexpr std::uint64_t kBranchesMax = 8;

  [[nodiscard]] std::string_view name() const noexcept override { return "branches"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Shortens a text and lowers one of the next integers by as much, because a failure may need one to fit the other: a
// position or a count of characters.
class LowerSizes final : public ShrinkPass {
 public:
  static constexpr std::size_t kReach = 3;

  [[nodiscard]] std::string_view name() const noexcept override { return "sizes"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Lowers an integer and raises or lowers a nearby later one by as much, because a failure may need their sum or
// difference. An integer that would leave its bounds stops there; if that does not fail, it wraps around, as sums in a
// machine word do.
class LowerPairs final : public ShrinkPass {
 public:
  static constexpr std::size_t kReach = 3;  // how many integers that are not simplest may lie between them, plus one
  static constexpr std::size_t kBorrowMax = 128;  // choices of the tape, of which one less is made up for by the next

  [[nodiscard]] std::string_view name() const noexcept override { return "sums"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  tsl::robin_set<std::uint64_t> stuck_;
};

}  // namespace ordeal
