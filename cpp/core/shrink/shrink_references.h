// The pass over arguments that are values of bundles.
//
// Thread-compatible, as all passes are. A search has at most kReferencesMax candidates for each value that is referred
// to.
#pragma once

#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Has arguments that are values of bundles be others: those that another argument is, so that the step that made them
// can go, and the newest ones.
class MergeReferences final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "references"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
