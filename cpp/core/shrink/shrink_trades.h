// A pass that trades: a choice on which others depend goes one way, and those others the other way.
//
// It proposes choices without knowing what strategies allow, like the passes in shrink_spans.h.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// For choices that decide what else their argument draws: which branch, how many values, whether a list goes on. After
// a lower one the draws are others, and as the simplest they mostly do not fail: a shorter list needs larger elements,
// and a simpler branch values of its own. So the lower choice is looked at, and what was drawn behind it is raised, all
// at once and then one by one; the other passes then lower it again as far as it goes. Where the lower choice leaves
// fewer to draw, those before it may be raised for it. The other way round, a higher choice may need fewer behind it.
//
// A search looks at an argument once while its choices are the same.
class LowerAndMakeUp final : public ShrinkPass {
 public:
  static constexpr std::size_t kCandidatesMax = 128;
  static constexpr std::size_t kOpenMax = 8;   // that are lowered in an argument
  static constexpr std::size_t kRaiseMax = 8;  // that are raised one by one

  [[nodiscard]] std::string_view name() const noexcept override { return "trades"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
  [[nodiscard]] bool wants_outcome() const noexcept override { return wants_outcome_; }
  void observe(const FailingTape& ran) override { seen_ = ran; }

 private:
  SearchCoroutine<Tape> lowering_candidates(const FailingTape& current, std::size_t argument, std::size_t& left);
  SearchCoroutine<Tape> raising_candidates(const FailingTape& current, std::size_t argument, std::size_t& left);
  std::optional<FailingTape> seen(const FailingTape& current, std::size_t argument);
  // Whether the choice decides what is drawn behind it, as `ran`, where it is lower, shows.
  bool decides(const FailingTape& current, std::size_t argument, std::size_t index, const FailingTape& ran);

  bool wants_outcome_ = false;
  std::optional<FailingTape> seen_;
  tsl::robin_set<std::uint64_t> searched_;   // arguments, with their choices
  tsl::robin_set<std::uint64_t> undecided_;  // places of choices that decide nothing
};

}  // namespace ordeal
