// Passes over bundle values: those that steps take, and those that no step takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Replaces arguments that are bundle values: by those of other arguments, so that the step that made them can be
// removed, and by the newest ones. A search has at most kReferencesMax candidates for each value that is referenced.
class MergeReferences final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "references"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
