// Passes over the choices of an argument: which there are, and in which order.
//
// They propose choices without knowing what strategies allow. A replay repairs what does not fit, so that every value
// stays inside its strategy, and what really ran is what is kept.
//
// Thread-compatible, as all passes are. What a pass remembers between its turns are hashes, so that a collision can
// only leave out a candidate.
#pragma once

#include <tsl/robin_set.h>

#include <cstdint>
#include <string_view>

#include "core/shrink/shrink_pass.h"

namespace ordeal {

// Makes arguments the simplest that their strategies have: all, then halves, then single ones.
class SimplifyArguments final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "arguments"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

// Removes runs of choices within an argument, so that what follows takes their place: elements of a list, whose choices
// are a "go on" and a value each. Long runs first. Of an argument whose choices were of the same kinds before, only
// runs with at most one value that is not the simplest are tried again.
class DeleteChoices final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "elements"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  SearchCoroutine<Tape> candidates_of_argument(const FailingTape& current, std::size_t argument);

  tsl::robin_set<std::uint64_t> swept_;
};

// As DeleteChoices, where an integer before the run says how much there is and goes down by one with it.
class DeleteCounted final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "lengths"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;

 private:
  SearchCoroutine<Tape> candidates_of_argument(const FailingTape& current, std::size_t argument);

  tsl::robin_set<std::uint64_t> swept_;
};

// Puts values of one kind in order: those of an argument, and those of one argument in steps of the same rule.
class SortValues final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "order"; }
  SearchCoroutine<Tape> candidates(const FailingTape& current) override;
};

}  // namespace ordeal
