// The common interface of the shrinker's passes.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/search_coroutine.h"
#include "core/shrink/failing_tape.h"
#include "core/tape/tape.h"

namespace ordeal {

// One kind of change to a failing tape.
class ShrinkPass {
 public:
  ShrinkPass() = default;
  ShrinkPass(const ShrinkPass&) = delete;
  ShrinkPass& operator=(const ShrinkPass&) = delete;
  virtual ~ShrinkPass() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  // Proposes changed tapes. After one was accepted, `current` is what really ran, which may be smaller than the
  // candidate and is simpler than `current` was. The pass and `current` must outlive the search; only an accepted
  // candidate changes `current`.
  //
  // A candidate that was proposed before is refused without a run.
  virtual SearchCoroutine<Tape> candidates(const FailingTape& current) = 0;

  // Return true if the latest candidate should run even if it was proposed before, for what it draws: if it does not
  // fail, observe() gets what ran.
  [[nodiscard]] virtual bool wants_outcome() const noexcept { return false; }
  virtual void observe(const FailingTape& /*ran*/) {}
};

// The number of refused candidates in a row that ends a search. For searches with a candidate for each choice
// or each pair of them, which in a run of thousands would try hopeless candidates for minutes, before other passes have
// their turn.
class Patience {
 public:
  static constexpr std::size_t kRefusalsMax = 256;

  // The verdict on a candidate. Returns whether to go on.
  bool goes_on(bool accepted) noexcept {
    refused_ = accepted ? 0 : refused_ + 1;
    return refused_ < kRefusalsMax;
  }

 private:
  std::size_t refused_ = 0;
};

}  // namespace ordeal
