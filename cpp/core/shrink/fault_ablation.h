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

#include "core/tape/tape.h"

namespace ordeal {

// Loop: candidate() until it returns nothing; after each, accept(whether it failed in the same
// bucket).
//
// Faults are removed one by one, then all that are left together, then in pairs; then delta debugging looks for a
// minimal set without which the failure is gone (three faults any one of which suffices are such a set). It ends only
// when the failure was seen with nothing but the necessary faults, so no fault is called unnecessary without evidence.
class FaultAblation {
 public:
  explicit FaultAblation(Tape failing);

  std::optional<Tape> candidate();
  void accept(bool fails);

  // The faults of the tape in the order of their first toggle, each with whether it is necessary. Final once
  // candidate() has returned nothing.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, bool>> verdicts() const;

 private:
  enum class Phase : std::uint8_t { kSingles, kRest, kPairs, kNarrow, kDone };
  // By position in faults_, whether the fault is removed.
  using Removal = std::vector<bool>;

  [[nodiscard]] std::optional<Removal> next_removal() const;
  void conclude(const Removal& removal, bool fails);
  void next_pair() noexcept;
  void narrow(const Removal& removal, bool fails);
  void start_narrowing();
  void require(const Removal& removal);
  [[nodiscard]] Removal unmarked() const;
  [[nodiscard]] Removal suspects_without_chunk() const;
  [[nodiscard]] Tape without(const Removal& removal) const;

  Tape tape_;
  std::vector<std::uint32_t> faults_;
  std::vector<bool> necessary_;
  Phase phase_ = Phase::kSingles;
  std::size_t first_ = 0;
  std::size_t second_ = 0;
  std::vector<std::size_t> open_;  // positions to pair, later those to narrow down
  std::size_t chunk_ = 0;
  bool paired_ = false;
  std::map<Removal, bool> fails_;  // known results
  Removal is_pending_;
};

}  // namespace ordeal
