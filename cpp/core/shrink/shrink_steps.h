// Passes that remove steps.
// They come first, because fewer steps make all other passes cheaper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Removes runs of adjacent steps, the largest power of two within half the tape first, then half of that and so on down
// to single ones (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002). Sweeps from the
// end, because a failure mostly depends on the last steps, and large pieces before them can be removed. If an earlier
// search left the same steps, only single ones are tried.
class RemoveSteps final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "steps"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

// Removes two steps at once: a fault with its end, a creation with its use. Neighbours first, then steps further apart,
// up to a distance at which a search has kCandidatesMax candidates: all pairs of a tape of up to 32 steps, only
// neighbours in one of a thousand. A search has none if an earlier one left the same steps.
class RemovePairs final : public ShrinkPass {
 public:
  static constexpr std::size_t kCandidatesMax = 1024;

  [[nodiscard]] std::string_view name() const noexcept override { return "pairs"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

// Returns the tape without the steps in [begin, end).
Tape without_steps(const Tape& tape, std::size_t begin, std::size_t end);

}  // namespace ordeal
