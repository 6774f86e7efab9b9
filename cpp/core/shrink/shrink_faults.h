// Passes over the faults of a tape: which faults occur, and for how long they are on.
#pragma once

#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Switches faults on later and off sooner: as far as possible, else by one step and from there by bisection.
class NarrowFaults final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "windows"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
