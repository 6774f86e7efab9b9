// The pass that removes a step and lets other steps compensate for it.
//
// Thread-compatible, like all passes.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// For failures that depend on a sum or an amount over several steps. The values of the removed step are added
//
// - to the same integers of other steps of its rule,
// - else to any integers of the tape,
// - else, if it is a list, in front of the same list in the next step of its rule.
//
// An integer takes as much as its bounds allow, and the next one the rest. Fewer steps with larger arguments are
// simpler. A search has at most three candidates for each step, and none if an earlier search left the same steps.
class MergeSteps final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "merges"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

}  // namespace ordeal
