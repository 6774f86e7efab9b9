// Passes that remove steps.
//
// Thread-compatible, as all passes are. They come first, since a step less makes all other passes cheaper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Removes runs of adjacent steps, the largest power of two within half the tape first, then half of that and so on down
// to two (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002). Sweeps from the end,
// because the steps that a failure depends on are mostly the last ones and what comes before them goes in large pieces.
//
// A run ends with the step that fails, which is then the one step that cannot go: one candidate keeps all pieces off
// it. A search has at most twice as many candidates as the tape has steps, and none when a search before left the same
// steps.
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

// Removes two steps at once: a fault with its end, a thing made with its use. Neighbours first, then steps further
// apart, up to a distance at which a search has kCandidatesMax candidates: all pairs of a tape of up to 32 steps,
// neighbours alone in one of a thousand. A search has none when one before left the same steps.
class RemovePairs final : public ShrinkPass {
 public:
  static constexpr std::size_t kCandidatesMax = 1024;

  [[nodiscard]] std::string_view name() const noexcept override { return "pairs"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

// The tape without the steps in [begin, end).
Tape without_steps(const Tape& tape, std::size_t begin, std::size_t end);

}  // namespace ordeal
