// The common interface of the shrinker's passes.
#pragma once

#include <string_view>

#include "core/shrink/failing_tape.h"
#include "core/shrink/search_coroutine.h"
#include "core/tape/tape.h"

namespace ordeal {

// One kind of change to a failing tape. Thread-compatible.
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
};

}  // namespace ordeal
