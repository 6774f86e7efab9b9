// The pass over arguments that are values of bundles.
#pragma once

#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Has arguments that are values of bundles be others: those that another argument is, so that the step that made them
// can go, and the newest ones.
class MergeReferences final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "references"; }
  Inquiry<Tape> sweep(const Failing& current) override;
};

}  // namespace ordeal
