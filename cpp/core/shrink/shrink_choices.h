// Passes over the choices of an argument: which choices there are, and in which order.
//
// They propose choices without knowing what strategies allow. A replay repairs what does not fit, so every value stays
// inside its strategy, and what really ran is kept.
//
// Thread-compatible, like all passes. A pass remembers hashes between its turns, so a collision can only skip a
// candidate.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Replaces arguments by the simplest that their strategies have: all, then halves, then single ones.
class SimplifyArguments final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "arguments"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Removes runs of choices within an argument, so that later ones take their place: elements of a list, for example,
// whose choices are a "go on" and a value each. Long runs first. If the choices of an argument had the same kinds
// before, only runs with at most one value that is not the simplest are tried again.
class DeleteChoices final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "elements"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  SearchCoroutine<Tape> candidates_of_argument(const FailingTape& current, std::size_t argument);

  tsl::robin_set<std::uint64_t> swept_;
};

// Like DeleteChoices, but also decrements an integer before the run that counts its elements.
class DeleteCounted final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "lengths"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  SearchCoroutine<Tape> candidates_of_argument(const FailingTape& current, std::size_t argument);

  tsl::robin_set<std::uint64_t> swept_;
};

// Sorts values of one kind: those of an argument, and those of the same argument in steps of the same rule.
class SortValues final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "order"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// For choices that decide what else their argument draws: which branch, how many values, whether a list goes on. After
// a lower one the draws are others, and as the simplest they mostly do not fail: a shorter list needs larger elements,
// and a simpler branch values of its own. So the lower choice is looked at, and what was drawn behind it is raised, all
// at once and then one by one; the other passes then lower it again as far as it goes.
//
// A search looks at an argument once while its choices are the same.
class LowerAndMakeUp final : public ShrinkPass {
 public:
  static constexpr std::size_t kCandidatesMax = 128;
  static constexpr std::size_t kOpenMax = 8;   // that are lowered in an argument
  static constexpr std::size_t kRaiseMax = 8;  // that are raised one by one

  [[nodiscard]] std::string_view name() const noexcept override { return "trades"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
  [[nodiscard]] bool looks() const noexcept override { return looks_; }
  void saw(const FailingTape& ran) override { seen_ = ran; }

 private:
  SearchCoroutine<Tape> candidates_of_argument(const FailingTape& current, std::size_t argument, std::size_t& left);
  // Whether the choice decides what is drawn behind it, as `ran`, where it is lower, shows.
  bool decides(const FailingTape& current, std::size_t argument, std::size_t index, const FailingTape& ran);

  bool looks_ = false;
  std::optional<FailingTape> seen_;
  tsl::robin_set<std::uint64_t> searched_;   // arguments, with their choices
  tsl::robin_set<std::uint64_t> undecided_;  // places of choices that decide nothing
};

}  // namespace ordeal
