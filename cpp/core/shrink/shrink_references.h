// Passes over bundle values: those that steps take, and those that no step takes.
//
// Thread-compatible, like all passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Removes the steps that only make bundle values which nobody takes: those whose rule makes a value that is taken
// elsewhere in the tape. One candidate.
class RemoveUnused final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "unused"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Replaces arguments that are bundle values: by those of other arguments, so that the step that made them can be
// removed, and by the newest ones. A search has at most kReferencesMax candidates for each value that is referenced.
class MergeReferences final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "references"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Ends the use of a bundle value earlier: removes the steps that take it from some step on, and moves the last one left
// to the place of one of those. So an order that was paid, sent and returned only to be one more refund becomes one
// that is paid where the refund was. Steps that only move would never be simpler, and single steps cannot go: what
// follows takes what they did. A search has none if an earlier one left the same steps.
class ShortenUses final : public ShrinkPass {
 public:
  static constexpr std::size_t kCandidatesMax = 256;

  [[nodiscard]] std::string_view name() const noexcept override { return "uses"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  std::uint64_t swept_ = 0;
};

}  // namespace ordeal
