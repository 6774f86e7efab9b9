// The pass that removes a step and lets other steps make up for it.
//
// Thread-compatible, as all passes are.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// For failures that depend on a sum, or on how much there is, over steps. What a step gave is added
//
//   - to the same integers of other steps of its rule,
//   - else to any integers of the tape,
//   - else, where it is a list, in front of the same list in the next step of its rule.
//
// An integer takes as much as its bounds allow, the next one what is left. Larger arguments with fewer steps are
// simpler. A search has three candidates for a step at most, and none when one before left the same steps.
class MergeSteps final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "merges"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

}  // namespace ordeal
