// Passes over spans: elements, branches and arguments.
//
// They propose choices without knowing what strategies allow. A replay repairs what does not fit, so every value stays
// inside its strategy, and what really ran is kept.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Removes parts of a span, so that what follows takes their place: elements of a list, for example. Outer spans first,
// and of each all of its parts, then half of them, down to single ones. An argument without choices is the simplest
// that its strategy has.
class DeleteSpans final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "elements"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  tsl::robin_set<std::uint64_t> swept_;  // spans with the kinds of their choices: again, only parts that say little
};

// Replaces a span by one of those inside it that begins with the same kind of choice: a tree by one of its branches.
class ReplaceByInner final : public ShrinkPass {
 public:
  static constexpr std::size_t kInnerMax = 16;  // for each span, the largest first

  [[nodiscard]] std::string_view name() const noexcept override { return "inner"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Sorts the parts of a span, and arguments of the same name.
class SortSpans final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "order"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
