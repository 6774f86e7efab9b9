// Passes that remove a step and let other steps compensate for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// For failures that depend on a sum or an amount over several steps. The values of the removed step are added
//
// - to the same integers of other steps of its rule,
// - else to any integers of the tape,
// - else, lists and texts, in front of the same in the next step of its rule,
// - else, in a short tape, to one of the next integers behind it.
//
// An integer takes as much as its bounds allow, and the next one the rest. Fewer steps with larger arguments are
// simpler. A search has at most 3 + kBehindMax candidates for each step, and none if an earlier search left the same
// steps.
class MergeSteps final : public ShrinkPass {
 public:
  static constexpr std::size_t kStepsMax = 16;
  static constexpr std::size_t kBehindMax = 8;

  [[nodiscard]] std::string_view name() const noexcept override { return "merges"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

// Removes a step and lowers one value elsewhere: an integer of the next or the last step by one, as it may count what
// the steps before did; one that selects one of a few things, in any later step, to anything simpler; any text to a
// shorter one.
class RemoveAndLower final : public ShrinkPass {
 public:
  static constexpr std::size_t kCandidatesMax = 256;
  static constexpr std::uint64_t kBranchesMax = 16;
  static constexpr std::size_t kTextMax = 8;

  [[nodiscard]] std::string_view name() const noexcept override { return "joins"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
