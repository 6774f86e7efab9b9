// A tape that was seen to fail, with what its draws allowed, and the order in which such tapes are simpler.
//
// Candidates are plain tapes; only what ran and failed becomes a FailingTape, because only a run knows what its draws
// allowed.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/tape/choice_rank.h"
#include "core/tape/constraint.h"
#include "core/tape/tape.h"

namespace ordeal {

// A value type. Domains are those of the choices, by index; where they are missing nothing is known.
class FailingTape {
 public:
  explicit FailingTape(Tape failing, std::vector<Constraint> known = {})
      : tape(std::move(failing)), constraints(std::move(known)) {
    constraints.resize(tape.choice_count());
  }

  Tape tape;
  std::vector<Constraint> constraints;

  [[nodiscard]] const Choice& choice(std::size_t index) const {
    ORDEAL_DCHECK(index < tape.choice_count(), "index=" << index << " choices=" << tape.choice_count());
    return tape.choices()[index];
  }
  [[nodiscard]] bool is_simplest(std::size_t index) const {
    return ordeal::is_simplest(choice(index), constraints[index]);
  }
  [[nodiscard]] ChoiceRank rank(std::size_t index) const {
    ORDEAL_DCHECK(index < constraints.size(), "index=" << index << " constraints=" << constraints.size());
    return rank_of(choice(index), constraints[index]);
  }
};

// How simple a tape is; less is simpler. Fewer steps come before all else, then smaller fault windows (for each step
// the number of faults that are on during it, added up), then fewer choices, then each choice from the first on.
//
// It is well-founded, so that going down in it always ends.
struct TapeRank {
  explicit TapeRank(const FailingTape& failing);

  std::size_t steps;
  std::uint64_t fault_windows;
  std::size_t choice_count;
  std::vector<ChoiceRank> choices;

  friend auto operator<=>(const TapeRank&, const TapeRank&) = default;
};

// The steps of two tapes do the same, whatever they draw, and draw as often.
bool has_same_shape(const Tape& left, const Tape& right);
// A hash of what the steps are, whatever they draw.
std::uint64_t hash_of_steps(const Tape& tape) noexcept;

}  // namespace ordeal
