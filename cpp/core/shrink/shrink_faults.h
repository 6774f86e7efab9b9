// Passes over the faults of a tape: which are on at all, and for how long.
//
// Thread-compatible, as all passes are.
#pragma once

#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Removes every toggle of one fault, then of the next. A search has a candidate for each fault.
class RemoveFaults final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "faults"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Switches faults on later and off sooner: as far as can be, else by one step and from there by bisection.
class NarrowFaults final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "windows"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
