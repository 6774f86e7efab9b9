// Passes that remove steps.
//
// Thread-compatible, like all passes. They come first, because fewer steps make all other passes cheaper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Removes runs of adjacent steps, the largest power of two within half the tape first, then half of that and so on down
// to two (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002). Sweeps from the end,
// because a failure mostly depends on the last steps, and large pieces before them can be removed.
//
// A run ends with the step that fails, so that step cannot be removed: one candidate excludes it from all pieces. A
// search has at most twice as many candidates as the tape has steps, and none if an earlier search left the same steps.
class RemoveChunks final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "chunks"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

// Removes single steps, from the end.
class RemoveSteps final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "steps"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
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

// Removes runs of three or more steps of one rule from a short tape, wherever they begin and end: those of which only
// all can go. A search has none if an earlier one left the same steps.
class RemoveRuns final : public ShrinkPass {
 public:
  static constexpr std::size_t kStepsMax = 16;

  [[nodiscard]] std::string_view name() const noexcept override { return "runs"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

// Returns the tape without the steps in [begin, end).
Tape without_steps(const Tape& tape, std::size_t begin, std::size_t end);

}  // namespace ordeal
