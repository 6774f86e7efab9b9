// A pass over choices on which other choices depend.
//
// It proposes choices without knowing what strategies allow, like the passes in shrink_spans.h.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// For choices that decide what else their argument draws: which branch, how many values, whether a list goes on. A
// lower one is looked at, which shows whether it decides anything. If so,
//
// - what belonged to the element or branch that is gone is removed: a length counts what follows it, and a list as
//   long as it may be has no choice that ends it;
// - else what is drawn instead is raised, all at once and then one by one, as the simplest values mostly do not fail:
//   a shorter list needs larger elements, and a simpler branch its own values. The other passes then lower them
//   again. Where fewer are drawn, those before the choice may be raised for it.
//
// The other way round, a higher choice may need fewer behind it. A search looks at an argument once while its choices
// are the same.
class ChangeDecisions final : public ShrinkPass {
 public:
  static constexpr std::size_t kCandidatesMax = 256;
  static constexpr std::size_t kChangesMax = 16;  // each way in an argument: a list of thousands is not looked through
  static constexpr std::size_t kBehindMax = 8;    // spans behind the choice that may go with it
  static constexpr std::size_t kRaiseMax = 8;     // that are raised one by one

  [[nodiscard]] std::string_view name() const noexcept override { return "decisions"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
  [[nodiscard]] bool wants_outcome() const noexcept override { return wants_outcome_; }
  void observe(const FailingTape& ran) override { seen_ = ran; }

 private:
  // Ends with the first candidate that is accepted: the argument is then another, for the next round.
  SearchCoroutine<Tape> candidates_of(const FailingTape& current, std::size_t argument, std::size_t& left);
  std::optional<FailingTape> seen(const FailingTape& current, std::size_t argument);

  bool wants_outcome_ = false;
  std::optional<FailingTape> seen_;
  tsl::robin_set<std::uint64_t> searched_;   // arguments, with their choices
  tsl::robin_set<std::uint64_t> undecided_;  // places of choices that decide nothing
};

}  // namespace ordeal
