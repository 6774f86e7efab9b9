// Passes over the faults of a tape: which faults occur, and for how long they are on.
//
// Thread-compatible, like all passes.
#pragma once

#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Removes all toggles of one fault, then of the next. A search has one candidate for each fault.
class RemoveFaults final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "faults"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Switches faults on later and off sooner: as far as possible, else by one step and from there by bisection.
class NarrowFaults final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "windows"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
