// Finds which faults the failure of a tape needs, by asking whether it still fails without some of them.
//
// This is not shrinking: the tape stays unchanged except for its faults, and the result is a verdict on each of them. A
// candidate that passes because a later step can no longer run counts as passing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/search_coroutine.h"
#include "core/tape/tape.h"

namespace ordeal {

// Loop: candidate() until it returns nothing; after each, accept(whether it failed in the same
// bucket).
//
// Faults are removed one by one, then all that are left together, then in pairs; then delta debugging looks for a
// minimal set without which the failure is gone (such as three faults, when any one of them suffices). It ends only
// when the failure was seen with nothing but the necessary faults, so no fault is called unnecessary without evidence.
class FaultAblation {
 public:
  explicit FaultAblation(Tape failing);
  FaultAblation(const FaultAblation&) = delete;  // the search refers to it
  FaultAblation& operator=(const FaultAblation&) = delete;

  std::optional<Tape> candidate();
  void accept(bool fails);

  // The faults of the tape in the order of their first toggle, each with whether it is necessary. Final once
  // candidate() has returned nothing.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, bool>> verdicts() const;

 private:
  using Removal = std::vector<std::size_t>;  // positions in faults_, in order

  SearchCoroutine<Removal> removals();
  SearchCoroutine<Removal> narrowing(Removal open);
  void require(const Removal& removal);
  [[nodiscard]] Removal unmarked() const;
  [[nodiscard]] Tape without(const Removal& removal) const;

  Tape tape_;
  std::vector<std::uint32_t> faults_;
  std::vector<bool> necessary_;
  std::map<Removal, bool> fails_;  // known results
  Removal pending_;                // of the candidate that waits for its verdict
  SearchCoroutine<Removal> search_;
};

}  // namespace ordeal
