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

// Lowers a choice that decides what is drawn behind it, and removes a few choices there: what belonged to the element
// or branch that is gone. A list as long as it may be has no choice that ends it, so that removing an element alone
// would take the next draw for another one.
class DeleteDecided final : public ShrinkPass {
 public:
  static constexpr std::size_t kRunMax = 3;
  static constexpr std::size_t kChoicesMax = 64;    // of an argument
  static constexpr std::uint64_t kBranchesMax = 8;  // lower than the present one

  [[nodiscard]] std::string_view name() const noexcept override { return "decisions"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  SearchCoroutine<Tape> candidates_of_argument(const FailingTape& current, std::size_t argument);

  tsl::robin_set<std::uint64_t> swept_;  // arguments, with their choices
};

// Sorts values of one kind: those of an argument, and those of the same argument in steps of the same rule.
class SortValues final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "order"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
