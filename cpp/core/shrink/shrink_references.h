// The pass over arguments that are bundle values.
//
// Thread-compatible, like all passes. A search has at most kReferencesMax candidates for each value that is referenced.
#pragma once

#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Replaces arguments that are bundle values: by those of other arguments, so that the step that made them can be
// removed, and by the newest ones.
class MergeReferences final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "references"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
