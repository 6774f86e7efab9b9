// What all passes of the shrinker have in common.
#pragma once

#include <string_view>

#include "core/shrink/failing.h"
#include "core/shrink/inquiry.h"
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
  // Asks about changed tapes. After a yes `current` is what ran of the tape asked about, which may be smaller than
  // that, and simpler than `current` was. The pass must outlive the sweep, and so must `current`, which only a yes
  // changes.
  //
  // A question that was asked before is answered with no at no cost.
  virtual Inquiry<Tape> sweep(const Failing& current) = 0;
};

}  // namespace ordeal
